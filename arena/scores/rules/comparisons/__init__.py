"""Comparing fairly: agents against the market and against each other, with what chance alone can do.

`season_rows.season` takes the columns of a season and checks them; everything else starts from that. `gain`
holds each agent against the market, `duel` two agents on the rows that both have, `indirect_duel` two that
had different markets. All three rest on `events` (markets of one event count as one), `wild_bootstrap`
(p-values) and `interval`. `holm` and `ranks` say what many duels mean together, `power` how many events it
still takes, `twins` how far chance alone parts two equal agents, `lead` who leads, in one sentence, and
`standings` puts all of it together.
"""
