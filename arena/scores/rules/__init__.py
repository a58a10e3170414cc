"""Rules on columns: one number for many forecasts, bets or accounts, one rule a file.

`brier` says how far off forecasts were, `skill` how much less so than a reference on the same rows,
`skill_ratio` the same as a share, `log` judges in logarithms, `calibration` in bins; `win_rate` and
`returns` count bets and money. `comparisons` says what is luck and what is not; then come `reliability`,
`statements` and `money`, and others' rules in `metaculus`, `autocast` and `forecastbench`.

A file in this folder is a rule, named by its file name. Its docstring gives the formula, direction, range,
edge cases, limits and source, from which `make docs` writes docs/scoring.md. It defines `TITLE`, `DIRECTION`,
`RANGE` and a function `score`, which returns one number for all rows, or NaN if nothing can be said. The
names of its parameters say which columns it takes: `forecast` and `reference` (probabilities of YES, 0 to 1),
`outcome` (1 for YES, 0 for NO; rows with any other value are not scored), `yes` (whether a bet is on YES),
`pnl` and `bankroll` (of an account), and `market` (any label: rows are then averaged within each market
first). The order of the rows must change no result, so sums are exact and rounded once.

    TITLE, DIRECTION, RANGE = "Mean forecast", "neither", (0.0, 1.0)
    def score(forecast: ArrayLike) -> float:
        return mean(check_probabilities(forecast))
"""
