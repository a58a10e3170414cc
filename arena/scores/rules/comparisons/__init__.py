"""Comparing fairly: agents against the market and each other, and what chance alone can do.

`gain` holds each agent against the market, `duel` two agents on the rows that both have, `indirect_duel`
two that had different markets. All three rest on `events` (markets of one event count as one),
`wild_bootstrap` (p-values) and `interval`; a plain mean score has its own, `mean_interval`. `evidence`,
`entries` and `weeks` are what it takes to be proven, by `lead`; `duel_evidence` is that of pairs. `holm`
and `ranks` say what many duels mean together, `power` how many events it still takes, `copies` who repeats
another, `twins` how far chance alone parts two equal agents.
"""
