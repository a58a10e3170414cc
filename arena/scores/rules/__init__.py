"""Rules on columns: one number for many forecasts, bets or accounts, one rule a file.

`brier` says how far off forecasts were, `skill` how much less so than a reference on the same rows,
`skill_ratio` the same as a share, `log` judges in logarithms, `calibration` in bins; `win_rate` and
`returns` count bets and money. `comparisons` says what is luck and what is not; then come `reliability`,
`statements` and `money`, and others' rules in `metaculus`, `autocast` and `forecastbench`.
"""

# The folder is the registry: a rule's name is its file name. Each file says in its docstring the formula,
# direction, range, edge cases, limits and source, from which docs/scoring.md is made, and holds `TITLE`,
# `DIRECTION`, `RANGE` and `score(...)`, one number for all rows, NaN where nothing can be said. The
# parameters of `score` are named for the columns that they take: `forecast` and `reference` (the
# probability of YES, 0 to 1), `outcome` (1 for YES, 0 for NO, anything else is not scored), `yes` (the side
# of a bet), `pnl` and `bankroll` (of an account), and optionally `market` (any label: rows are then
# averaged within each market first). The order of rows changes no result, not even its last digit: sums are
# exact before they are rounded.
