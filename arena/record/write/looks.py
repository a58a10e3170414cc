"""Syncs as witnesses: at which of them a market still had the price that it had before.

A price is stored when it changes. A sync that finds it again writes nothing down, so what it has found is
the newest price stored until then: that must stay true whatever comes to the record later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, func, select

from arena.record.queries.lookup import is_one_of_these, newest, these
from arena.record.schema.codec import book_of
from arena.record.schema.tables import MARKET, PRUNE, QUOTE, SIGHTING, SYNC
from markets.model import MarketId, Quote

PRICES = ("at", "bid", "ask", "mid", "last", "volume", "book")


def quote_of(row: Row[Any], at: datetime | None = None) -> Quote:
    """The quote in a row that has a market and PRICES; as of an instant at which it was found again."""
    prices = (row.bid, row.ask, row.mid, row.last, row.volume)
    return Quote(MarketId(row.market_id), at or row.at, *prices, *book_of(row.book))


def last_looks(connection: Connection, rows: Mapping[str, Row[Any]], at: datetime) -> dict[str, datetime]:
    """The last sync until an instant at which each market had a price, which was that in its row."""
    newest_sync = select(SYNC.c.venue, func.max(SYNC.c.at)).where(SYNC.c.at <= at).group_by(SYNC.c.venue)
    ends = dict(connection.execute(newest_sync).all())
    ids = _unpruned(connection, rows, at) if ends else []
    seen = connection.execute(_last_seen(connection.dialect.name), these(connection, ids) | {"until": at})
    found = {market: ends[venue] if quoted else earlier for market, quoted, venue, earlier in seen}
    return {market: look for market, look in found.items() if look is not None and look >= rows[market].at}


def _unpruned(connection: Connection, rows: Mapping[str, Row[Any]], at: datetime) -> list[str]:
    """The markets of which no quote can have been pruned between the one in a row and an instant.

    Pruning leaves each market the newest quote from before its edge, so none went after that.
    """
    edge = connection.scalar(select(func.max(PRUNE.c.older_than)))
    if edge is None or at >= edge:
        return list(rows)
    left = newest(connection, QUOTE, list(rows), "at", until=edge - timedelta(microseconds=1))
    return [market for market, row in rows.items() if market in left and left[market].id == row.id]


def late_news(connection: Connection, quotes: Sequence[Quote]) -> list[Quote]:
    """What has to be stored again when these quotes are, since a later sync has found it.

    Quotes older than the last sync are news from the past. The price before them is found again by the
    first sync after them that saw the market, unless another came in between.
    """
    last = connection.scalar(select(func.max(SYNC.c.at))) if quotes else None
    late = [quote for quote in quotes if last is not None and quote.at < last]
    echoes = (_echo(connection, quote) for quote in late)
    return [echo for echo in echoes if echo is not None]


def _echo(connection: Connection, quote: Quote) -> Quote | None:
    """The price until this one comes, as the first sync afterwards found it."""
    look, market = _next_look(connection, quote.market_id, quote.at), quote.market_id
    rows = {} if look is None else newest(connection, QUOTE, [market], "at", *PRICES, until=look)
    if look is None or market not in rows or rows[market].at > quote.at:
        return None
    return replace(quote_of(rows[market]), at=look) if _unpruned(connection, rows, look) else None


def _next_look(connection: Connection, market: MarketId, after: datetime) -> datetime | None:
    """The first sync after an instant at which a market had a price."""
    joined = select(SYNC.c.venue, SYNC.c.at, SIGHTING.c.quoted).select_from(SIGHTING.join(SYNC))
    seen = connection.execute(joined.where(SIGHTING.c.market_id == market).order_by(SYNC.c.at)).all()
    for sighting, following in pairwise([*seen, None]):
        end = None if following is None else following.at
        if sighting is not None and sighting.quoted and (end is None or end > after):
            mine = (SYNC.c.venue == sighting.venue, SYNC.c.at > after, SYNC.c.at >= sighting.at)
            found: datetime | None = connection.scalar(select(func.min(SYNC.c.at)).where(*mine))
            if found is not None and (end is None or found < end):
                return found
    return None


@cache
def _last_seen(dialect: str) -> Select[Any]:
    """Of each market the last sighting until an instant, and when the sync before that one was."""
    seen, sync, before = SIGHTING.alias("seen"), SYNC.alias("latest"), SYNC.alias("before")
    until = sync.c.at <= bindparam("until", type_=SYNC.c.at.type)
    last = select(sync.c.id).select_from(seen.join(sync)).where(seen.c.market_id == MARKET.c.id, until)
    last = last.order_by(sync.c.at.desc(), sync.c.id.desc()).limit(1)
    joined = MARKET.join(SIGHTING, SIGHTING.c.market_id == MARKET.c.id).join(SYNC)
    follows = (before.c.venue == SYNC.c.venue) & (before.c.number == SYNC.c.number - 1)
    found = select(MARKET.c.id, SIGHTING.c.quoted, SYNC.c.venue, before.c.at)
    found = found.select_from(joined.outerjoin(before, follows))
    return found.where(is_one_of_these(dialect), SYNC.c.id == last.correlate(MARKET).scalar_subquery())
