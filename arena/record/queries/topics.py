"""What the markets that agents were shown are about: their categories and their events."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, and_, bindparam, exists, func, select

from arena.record.schema.tables import ITEM, ROUND, VERSION

EVENTS: BindParameter[Sequence[Any]] = bindparam("events", expanding=True)

newer = VERSION.alias("newer")
NEWEST = select(func.max(newer.c.version)).where(newer.c.market_id == VERSION.c.market_id).scalar_subquery()

# From each market to the next by the index: a record knows a hundred thousand, of which agents saw a few.
first = select(func.min(ITEM.c.market_id).label("id")).cte("met", recursive=True)
following = ITEM.alias("following")
NEXT = select(func.min(following.c.market_id)).where(following.c.market_id > first.c.id).scalar_subquery()
MET = first.union_all(select(NEXT).where(first.c.id.is_not(None)))
PAGE = and_(VERSION.c.market_id == MET.c.id, VERSION.c.version == NEWEST)
CATEGORIES = (
    select(VERSION.c.category, func.count())
    .select_from(MET.join(VERSION, PAGE))
    .where(VERSION.c.category != "")
    .group_by(VERSION.c.category)
)


def read_categories(connection: Connection) -> list[str]:
    """The categories of these markets, those with most of them first."""
    counted = connection.execute(CATEGORIES).all()
    return [name for name, _ in sorted(counted, key=lambda row: (-row[1], row[0]))]


def count_rounds(connection: Connection) -> int:
    """How many rounds have put markets before agents: it changes with what they were shown."""
    return connection.execute(select(func.count(ROUND.c.id))).scalar_one()


SIBLINGS = (
    select(VERSION.c.event_id, func.count())
    .where(VERSION.c.event_id.in_(EVENTS), VERSION.c.version == NEWEST)
    .where(exists().where(ITEM.c.market_id == VERSION.c.market_id))
    .group_by(VERSION.c.event_id)
)


def count_by_event(connection: Connection, events: Collection[str]) -> dict[str, int]:
    """How many of these markets are about each of some events."""
    return dict(connection.execute(SIBLINGS, {"events": sorted(set(events))}).all())
