"""Comparing fairly: agents against the market and each other, and what chance alone can do.

`gain` holds each agent against the market, `duel` two agents on the rows that both have, `indirect_duel`
two that had different markets. All three rest on `events` (markets of one event count as one),
`wild_bootstrap` (p-values) and `interval`; a plain mean score has its own, `mean_interval`. `evidence` is
the capital of a bet on an agent against the price, `duel_evidence` that of pairs; `entries` says who has a
share of their error, and `power` when a pair will be told. `copies` says who repeats another, `twins` how
far chance alone parts two equal agents.
"""
