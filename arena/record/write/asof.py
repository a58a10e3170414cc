"""What markets said and cost at an instant, as far as anyone had looked by then."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select

from arena.record.queries.lookup import is_one_of_these, newest, these
from arena.record.schema.tables import ITEM, MARKET, QUOTE, VERSION
from arena.record.write.listings import PAGE
from arena.record.write.looks import PRICES, last_looks, quote_of
from markets.model import Listing, Market, MarketId, Quote


def quotes_as_of(connection: Connection, ids: Sequence[str], at: datetime) -> dict[MarketId, Quote]:
    """The newest price of each market that was known at an instant, if there was one.

    Its time is the last at which someone found it so: when it was stored, or a sync or a snapshot later.
    """
    rows = newest(connection, QUOTE, ids, "at", *PRICES, until=at)
    looks, items = last_looks(connection, rows, at), _in_snapshots(connection, ids, at)
    found = dict[MarketId, Quote]()
    for market in ids:
        row, item = rows.get(market), items.get(market)
        stored = row and quote_of(row, max(row.at, looks.get(market, row.at)))
        newer = item if item and (stored is None or item.at > stored.at) else stored
        if newer is not None:
            found[MarketId(market)] = newer
    return found


def _in_snapshots(connection: Connection, ids: Sequence[str], at: datetime) -> dict[str, Quote]:
    """The newest price of each market that was in a snapshot, and true by then."""
    wanted = _last_items(connection.dialect.name)
    rows = connection.execute(wanted, these(connection, ids) | {"until": at})
    return {row.market_id: quote_of(row, row.quoted_at) for row in rows}


@cache
def _last_items(dialect: str) -> Select[Any]:
    one = ITEM.alias("one")
    until = one.c.quoted_at <= bindparam("until", type_=ITEM.c.quoted_at.type)
    last = select(func.max(one.c.quoted_at)).where(one.c.market_id == MARKET.c.id, until)
    joined = MARKET.join(ITEM, ITEM.c.market_id == MARKET.c.id).join(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    prices = (QUOTE.c.market_id, ITEM.c.quoted_at, *(QUOTE.c[name] for name in PRICES))
    newest_one = ITEM.c.quoted_at == last.correlate(MARKET).scalar_subquery()
    mine = is_one_of_these(dialect)
    return select(*prices).select_from(joined).where(newest_one, mine).order_by(ITEM.c.quote_id)


def changes(connection: Connection, market: MarketId, until: datetime) -> list[Quote]:
    """Every stored price of a market until an instant, oldest first: one for each change."""
    columns = (QUOTE.c.market_id, *(QUOTE.c[name] for name in PRICES))
    rows = select(*columns).where(QUOTE.c.market_id == market, QUOTE.c.at <= until)
    return [quote_of(row) for row in connection.execute(rows.order_by(QUOTE.c.at, QUOTE.c.id))]


def pages_as_of(connection: Connection, ids: Sequence[str], at: datetime) -> dict[MarketId, Market]:
    """What each market's page said at an instant, if anyone had read it by then."""
    rows = newest(connection, VERSION, ids, "version", *PAGE, until=at)
    return {
        MarketId(m): Market(MarketId(m), *(getattr(row, name) for name in PAGE)) for m, row in rows.items()
    }


def listings_as_of(connection: Connection, ids: Sequence[str], at: datetime) -> list[Listing]:
    """These markets as they were known at an instant, in the order given; without those nobody knew."""
    pages, quotes = pages_as_of(connection, ids, at), quotes_as_of(connection, ids, at)
    known = [MarketId(market) for market in ids if market in pages]
    return [Listing(pages[market], quotes.get(market)) for market in known]


def known_markets(connection: Connection, at: datetime) -> list[MarketId]:
    """Every market that anyone had seen by an instant, in the order of their ids."""
    rows = connection.scalars(select(MARKET.c.id).where(MARKET.c.first_seen_at <= at))
    return sorted(MarketId(row) for row in rows)
