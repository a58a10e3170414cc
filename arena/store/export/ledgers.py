"""The money: every line of every ledger, and what holdings were worth."""

from arena.store.export.paths import (
    AGENT,
    COHORT_NUMBER,
    ITS_ENTRANT,
    ITS_SNAPSHOT,
    in_cohorts,
    of_entrant,
)
from arena.store.export.sheet import COUNT, DOLLARS, SECONDS, SHARES, facts, field
from arena.store.export.worlds import HASH
from arena.store.tables import COHORT, ENTRANT, ENTRY, MARK

ENTRIES = facts(
    "entries",
    "The ledger of each agent in each cohort, line by line: what an agent has is their sum.",
    ENTRY,
    (
        COHORT_NUMBER,
        AGENT,
        field(ENTRY.c.number, "counts the lines of a ledger, from 1 and without a gap", name="entry"),
        field(ENTRY.c.at, "the time that it counts from"),
        field(ENTRY.c.kind, "deposit, buy, sell, settle, refund, or reverse (a settlement is taken back)"),
        field(ENTRY.c.market_id, "the market, or nothing for a deposit"),
        field(ENTRY.c.side, "YES, NO, or nothing for a deposit"),
        field(ENTRY.c.cash, "cash that came (+) or went (−)", DOLLARS),
        field(ENTRY.c.shares, "shares that came (+) or went (−)", SHARES),
        field(ENTRY.c.cost, "cost that the lot took on (+) or gave up (−)", DOLLARS),
        field(ENTRY.c.realised, "profit (+) or loss (−) that was realised", DOLLARS),
        field(ENTRY.c.balance, "the cash after it", DOLLARS),
        field(ENTRY.c.held, "the shares of its lot after it", SHARES),
        field(
            ENTRY.c.ref, "the fact behind it: `bankroll`, `fill:ROUND:FILL`, `resolution:VERSION`", name="ref"
        ),
        field(ENTRY.c.previous, "the hash of the line before, or nothing for the first"),
        field(ENTRY.c.hash, HASH.format("all other columns, so also all lines before")),
    ),
    ["cohort", "agent", "entry"],
    path=of_entrant(ENTRY),
    order=(COHORT.c.number, ENTRANT.c.position, ENTRY.c.number),
    parents=(ITS_ENTRANT,),
    some=in_cohorts,
)
MARKS = facts(
    "marks",
    "What each agent had at each snapshot of its cohort, valued at its prices.",
    MARK,
    (
        COHORT_NUMBER,
        AGENT,
        field(MARK.c.at, "the time of the snapshot"),
        field(MARK.c.cash, "cash", DOLLARS),
        field(MARK.c.value, "open lots at mid", DOLLARS),
        field(MARK.c.liquidation, "open lots at what somebody bids for them", DOLLARS),
        field(MARK.c.cost, "what the open lots cost", DOLLARS),
        field(MARK.c.realised, "profit and loss realised until then", DOLLARS),
        field(MARK.c.stale, "open lots whose price is old or missing", COUNT),
        field(MARK.c.age, "how old the oldest price was", SECONDS),
    ),
    ["cohort", "agent", "at"],
    path=of_entrant(MARK),
    order=(COHORT.c.number, ENTRANT.c.position, MARK.c.at),
    parents=(ITS_ENTRANT, ITS_SNAPSHOT),
    some=in_cohorts,
)
