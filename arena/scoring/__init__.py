"""The rules of scoring: pure functions on columns, one rule a file, and the folder is the registry.

A rule's name is its file name. Each file says in its docstring the formula, direction, range, edge
cases and source, and holds:

- `TITLE`, what people call it;
- `DIRECTION`, "lower" or "higher", which is better;
- `RANGE`, the least and the greatest value it can take;
- `score(...)`, one number for all rows, NaN where nothing can be said.

The parameters of `score` are named for the columns that they take: `forecast` and `reference` (the
probability of YES, 0 to 1), `outcome` (1 for YES, 0 for NO, anything else is not scored), `yes`
(the side of a bet), `pnl` and `bankroll` (of an account), and optionally `market` (any label: rows
are then averaged within each market first). The order of rows changes no result, not even its last
digit: sums are exact before they are rounded.
"""
