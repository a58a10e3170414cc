"""What statements show by themselves: whether they can all be right at once, and whose they are.

`coherence` asks the one, `blind_forecasts` the other; neither has to wait for outcomes.
"""
