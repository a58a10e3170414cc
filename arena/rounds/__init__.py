"""A round and its turns; seasons, replays and trials made of rounds; and the workers that share them."""
