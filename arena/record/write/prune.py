"""Thinning quotes: nothing goes by itself, and nothing that anything stands on ever goes."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, or_, select

from arena.record.schema.rows import insert_one
from arena.record.schema.tables import ITEM, PRUNE, QUOTE
from markets.hashes import digest


@dataclass(frozen=True, slots=True)
class Thinned:
    """What is, or would be, let go of the quotes from before an instant, and why the others stay.

    `used` are in snapshots, and with them under turns, fills and marks; `last` are the newest of their
    markets before the instant; `later` are not from before it.
    """

    older_than: datetime
    goes: int
    used: int
    last: int
    later: int


def planned(connection: Connection, older_than: datetime) -> Thinned:
    """What pruning would do."""
    old, used, followed = QUOTE.c.at < older_than, _used(), _followed(older_than)
    parts = {
        "goes": and_(old, ~used, followed),
        "used": and_(old, used),
        "last": and_(old, ~used, ~followed),
        "later": ~old,
    }
    counts = {
        name: connection.scalar(select(func.count()).select_from(QUOTE).where(part)) or 0
        for name, part in parts.items()
    }
    return Thinned(older_than, **counts)


def prune(connection: Connection, older_than: datetime, at: datetime) -> Thinned:
    """Let quotes from before an instant go: those that no snapshot holds and that another one followed.

    The record keeps how many went: what a sync from before the instant has seen may be among them.
    """
    found = planned(connection, older_than)
    if found.goes:
        numbers = select(func.coalesce(func.max(PRUNE.c.number), 0) + 1)
        number = connection.execute(numbers).scalar_one()
        fact = {"number": number, "at": at, "older_than": older_than, "quotes": found.goes}
        insert_one(connection, PRUNE, **fact, hash=digest(fact))
        connection.execute(delete(QUOTE).where(QUOTE.c.at < older_than, ~_used(), _followed(older_than)))
    return found


def _used() -> ColumnElement[bool]:
    return exists(select(ITEM.c.quote_id).where(ITEM.c.quote_id == QUOTE.c.id))


def _followed(older_than: datetime) -> ColumnElement[bool]:
    """Whether another quote of the same market came later, and before the instant too."""
    later = QUOTE.alias("later")
    after = or_(later.c.at > QUOTE.c.at, and_(later.c.at == QUOTE.c.at, later.c.id > QUOTE.c.id))
    return exists(
        select(later.c.id).where(later.c.market_id == QUOTE.c.market_id, later.c.at < older_than, after)
    )
