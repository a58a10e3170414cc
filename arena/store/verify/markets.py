"""Markets, their pages and quotes against the times at which somebody looked.

The database looks for odd ones.
"""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import bindparam, exists, func, select

from arena.store.tables import ITEM, MARKET, QUOTE, SNAPSHOT, SYNC, VERSION
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.naming import differs, numbered
from arena.store.verify.parts import Part, whole
from arena.store.verify.query import Query, rows_of

SAW = "a snapshot or a sync saw it then"
PAGE = Part(VERSION, "id", "market_id", "version")
PAGES = Query(select().order_by(VERSION.c.market_id, VERSION.c.version), PAGE, again=True)
PAGELESS = rows_of(MARKET, ~exists(select(1).where(VERSION.c.market_id == MARKET.c.id)))


def _from_then(column: Any, in_it: Any) -> tuple[Any, Query, Query]:
    """Rows first seen at a time of no snapshot with them and of no sync; and when they may have been."""
    source, own = ITEM.join(SNAPSHOT, SNAPSHOT.c.id == ITEM.c.snapshot_id), column.table
    there = exists(select(1).select_from(source).where(in_it, SNAPSHOT.c.taken_at == column).correlate(own))
    snapshots = select().select_from(source.join(own, in_it)).where(own.c.id == bindparam("id"))
    first = Query(snapshots.order_by(SNAPSHOT.c.taken_at).limit(1), Part(SNAPSHOT, "taken_at"), again=True)
    unsynced = select().select_from(own.outerjoin(SYNC, SYNC.c.at == column)).where(SYNC.c.id.is_(None))
    return column, Query(unsynced.where(~there).order_by(own.c.id), whole(own)), first


FROM_THEN = (
    _from_then(MARKET.c.first_seen_at, ITEM.c.market_id == MARKET.c.id),
    _from_then(VERSION.c.at, (ITEM.c.market_id == VERSION.c.market_id) & (ITEM.c.version_id == VERSION.c.id)),
)
FIRST = Query(select().order_by(SYNC.c.at).limit(1), Part(SYNC, "at"), again=True)
LAST = select(func.max(SYNC.c.at)).scalar_subquery()
THERE = exists(select(1).where(ITEM.c.quote_id == QUOTE.c.id, ITEM.c.quoted_at == QUOTE.c.at))
EARLIER = exists(select(1).where(ITEM.c.quote_id == QUOTE.c.id, ITEM.c.quoted_at < QUOTE.c.at))
FOLLOWED = exists(
    select(1)
    .select_from(ITEM.join(MARKET, MARKET.c.id == ITEM.c.market_id))
    .where(ITEM.c.market_id == QUOTE.c.market_id, MARKET.c.first_seen_at <= QUOTE.c.at)
)
"""Of markets in snapshots prices are read in between too, once they were first seen."""
UNSEEN = rows_of(QUOTE, LAST.is_(None) | (QUOTE.c.at > LAST), ~THERE, EARLIER | ~FOLLOWED)
"""Quotes newer than the last sync that were in no snapshot when they were true, nor read in between."""
TRUE = Query(
    select()
    .where(ITEM.c.quote_id == bindparam("id"), ITEM.c.quoted_at.is_not(None))
    .order_by(ITEM.c.quoted_at)
    .limit(1),
    Part(ITEM, "quoted_at"),
    again=True,
)


def check_markets(facts: Facts) -> Iterator[Difference]:
    """Markets, pages and quotes from times at which nobody saw them, and pages that were lost."""
    for column, odd, first in FROM_THEN:
        for row in facts.rows(odd):
            seen = [*facts.rows(first, id=row["id"]), *facts.rows(FIRST)]
            if seen:
                at = min(at for times in seen for at in times.values())
                yield differs(facts, column.table, row, column.name, at, SAW)
    for row in facts.rows(UNSEEN):
        then = next((item["quoted_at"] for item in facts.rows(TRUE, id=row["id"])), None)
        why = "a snapshot saw it then" if then else "neither a snapshot nor a sync saw it"
        yield differs(facts, QUOTE, row, "at", then, why)
    for _, rows in groupby(facts.rows(PAGES), key=itemgetter("market_id")):
        yield from numbered(facts, VERSION, rows, "version", 1)
    for row in facts.rows(PAGELESS):
        yield differs(facts, MARKET, row, "id", "that of a page", "a market was seen because it had one")
