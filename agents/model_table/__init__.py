"""What is known of a language model before it is asked: its provider, prices, abilities and limits."""
