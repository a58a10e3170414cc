"""Whether probabilities mean what they say: curves, decompositions, and what chance alone would show."""
