"""ForecastBench's scores: difficulty-adjusted Brier, Brier Index, and all that its board says around them.

Questions come in two types, from datasets and from markets, which are scored apart and count half each;
dataset questions are counted once for each horizon.

In order: `leaderboard`, `adjusted_brier`, `brier_index`, `peer`, `skill`, `difficulty_sample`,
`imputation`, `bootstrap`, `intervals`, `paper_leaderboard`.
"""
