"""ForecastBench's scores: difficulty-adjusted Brier, Brier Index, and all that its board says around them.

Forecasters are models, and questions come in two types: from datasets, and from markets. The types are
scored apart and count half each. `panel` makes the table of one type from columns; `board` is the whole
leaderboard of both; `paper` is the board of the first paper, with plain means. The other files are one
rule each. Dataset questions are counted once for each horizon.
"""
