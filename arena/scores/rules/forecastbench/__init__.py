"""ForecastBench's scores: difficulty-adjusted Brier, Brier Index, and all that its board says around them.

Questions come in two types, from datasets and from markets, which are scored apart and count half each;
dataset questions are counted once for each horizon. `leaderboard` is the whole board, of `adjusted_brier`
scores, the `brier_index` made of them, `peer` and `skill`; `difficulty_sample` says who helps to tell how
hard a question was, `imputation` what silence counts as, `bootstrap` and `intervals` what chance can do.
`paper_leaderboard` is the board of the first paper, with plain means.
"""
