"""Where a profit came from, how much of it luck could have made, and what is at stake."""
