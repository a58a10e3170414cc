"""The money: every line of every ledger, and what holdings were worth."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, UniqueConstraint

from arena.record.schema.fields import (
    COUNT,
    DOLLARS,
    SECONDS,
    SHARES,
    STRICT,
    TableRow,
    hash_field,
    id_field,
    parent_field,
    text_field,
    time_field,
    whole_field,
)


class EntryRow(TableRow, table=True):
    """The ledger of each agent in each cohort: what an agent has is the sum.

    Each line is chained by hash to the one before it.
    """

    __table_args__ = (
        UniqueConstraint("entrant_id", "number"),
        CheckConstraint("balance >= 0 OR kind IN ('reverse', 'settle', 'refund', 'sell')"),
        CheckConstraint("held >= 0"),
        Index("ix_entry_market_id", "market_id", "entrant_id", "side", "kind", "shares"),
        STRICT,
    )

    id: int = id_field()
    entrant_id: int = parent_field("entrant.id")
    number: int = whole_field("counts a ledger's lines, from 1 without a gap")
    at: datetime = time_field("when it takes effect")
    kind: str = text_field("deposit, buy, sell, settle, refund or reverse (undoes a settlement)")
    market_id: str = text_field("the market; nothing for a deposit")
    side: str = text_field("YES or NO; nothing for a deposit")
    cash: int = whole_field("cash in (+) or out (−)", DOLLARS)
    shares: int = whole_field("shares in (+) or out (−)", SHARES)
    cost: int = whole_field("cost added to the lot (+) or released from it (−)", DOLLARS)
    realised: int = whole_field("realised profit (+) or loss (−)", DOLLARS)
    balance: int = whole_field("the cash after it", DOLLARS)
    held: int = whole_field("the shares of its lot after it", SHARES)
    ref: str = text_field("the fact behind it: `bankroll`, `fill:ROUND:FILL`, `resolution:VERSION`")
    previous: str = text_field("the hash of the line before; nothing for the first", hashed=False)
    hash: str = hash_field("all other columns, so all lines before")


class MarkRow(TableRow, table=True):
    """What each agent had at each snapshot of its cohort, valued at its prices.

    Kept for the curves, and computed again by `arena admin verify`.
    """

    __table_args__ = (Index("ix_mark_at", "at"), STRICT)

    entrant_id: int = parent_field("entrant.id", primary_key=True)
    at: datetime = time_field("the time of the snapshot", primary_key=True)
    snapshot_id: int = parent_field("snapshot.id")
    cash: int = whole_field("cash", DOLLARS)
    value: int = whole_field("open lots at mid", DOLLARS)
    liquidation: int = whole_field("open lots at bid", DOLLARS)
    cost: int = whole_field("what the open lots cost", DOLLARS)
    realised: int = whole_field("profit realised so far", DOLLARS)
    stale: int = whole_field("open lots whose price is old or missing", COUNT)
    age: int = whole_field("how old the oldest price was", SECONDS)
