"""What statements show by themselves: whether they can all be right at once, and whose they are."""
