"""Who forecasts well: the leaderboard, comparisons, agents in depth, files of forecasts; one cache."""
