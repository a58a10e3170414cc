"""What a venue shows, written as it changes: a market once, its page and its price when they are news.

What is new is found by hash: that of the newest page of the same market, or of its price at that time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, tuple_

from arena.record.queries.lookup import newest
from arena.record.schema.codec import book_text
from arena.record.schema.rows import insert_lines, line_of
from arena.record.schema.tables import MARKET, QUOTE, VERSION
from arena.record.write.looks import late_news
from markets.hashes import market_hash, quote_hash
from markets.model import Listing, MarketId, Quote

Held = Mapping[str, tuple[str, int]]
"""Hash and id of the row that holds what was given, by market."""

PAGE = (
    "event_id",
    "question",
    "rules",
    "category",
    "opens_at",
    "closes_at",
    "tick",
    "fee_rate",
    "min_shares",
)
PRICE = ("market_id", "at", "bid", "ask", "mid", "last", "volume")
_page, _price = line_of(*PAGE), line_of(*PRICE)


@dataclass(frozen=True, slots=True)
class Written:
    """What was given, as hashes; what was there before; and of which markets something new was written."""

    hashes: Mapping[MarketId, str]
    known: Mapping[str, Row[Any]]
    fresh: Sequence[str]
    new: Sequence[str] = ()


def page_rows(connection: Connection, listings: Sequence[Listing], at: datetime) -> Held:
    """The rows that hold the pages of these markets, written where they were not there."""
    written = add_pages(connection, listings, at)
    rows = {**written.known, **newest(connection, VERSION, written.fresh, "version", "hash")}
    return {market: (row.hash, row.id) for market, row in rows.items()}


def add_pages(connection: Connection, listings: Sequence[Listing], at: datetime) -> Written:
    """The pages of these markets, those that say something new as their next versions; and new markets."""
    markets = {listing.market.id: listing.market for listing in listings}
    known = newest(connection, VERSION, list(markets), "version", "hash", "version")
    hashes = {market: market_hash(page) for market, page in markets.items()}
    changed = [market for market, hash in hashes.items() if market not in known or known[market].hash != hash]
    new = [market for market in changed if market not in known]
    insert_lines(connection, MARKET, ("id", "first_seen_at"), [(market, at) for market in new])
    versions = {market: known[market].version + 1 if market in known else 1 for market in changed}
    lines = [(market, versions[market], at, hashes[market], *_page(markets[market])) for market in changed]
    insert_lines(connection, VERSION, ("market_id", "version", "at", "hash", *PAGE), lines)
    return Written(hashes, known, changed, new)


def quote_rows(connection: Connection, listings: Sequence[Listing]) -> Held:
    """The rows that hold the prices of these markets, written where they were not there."""
    written = add_quotes(connection, listings)
    quotes = {listing.quote.market_id: listing.quote for listing in listings if listing.quote}
    fresh = _stored(connection, [quotes[MarketId(market)] for market in written.fresh], written.hashes)
    return {market: (row.hash, row.id) for market, row in {**written.known, **fresh}.items()}


def add_quotes(connection: Connection, listings: Sequence[Listing], each: bool = False) -> Written:
    """The prices of those of these markets that have one, as far as they were others until then; or each."""
    quotes = {listing.quote.market_id: listing.quote for listing in listings if listing.quote}
    hashes = {market: quote_hash(quote) for market, quote in quotes.items()}
    known = _until_then(connection, quotes)
    changed = [m for m, hash in hashes.items() if each or m not in known or known[m].hash != hash]
    stored = _stored(connection, [quotes[market] for market in changed if market in known], hashes)
    fresh = [market for market in changed if market not in stored]
    echoes = late_news(connection, [quotes[market] for market in fresh])
    lines = [(*_price(quotes[market]), book_text(quotes[market]), hashes[market]) for market in fresh]
    lines += [(*_price(echo), book_text(echo), quote_hash(echo)) for echo in echoes]
    insert_lines(connection, QUOTE, (*PRICE, "book", "hash"), lines)
    return Written(hashes, known | stored, fresh)


def _until_then(connection: Connection, quotes: Mapping[MarketId, Quote]) -> dict[str, Row[Any]]:
    """The price of each market as it was known until the instant of the one that is given."""
    times = {quote.at for quote in quotes.values()}
    if len(times) == 1:
        return newest(connection, QUOTE, list(quotes), "at", "hash", until=times.pop())
    found = newest(connection, QUOTE, list(quotes), "at", "hash", "at")
    for market, quote in quotes.items():
        if market in found and found[market].at > quote.at:
            del found[market]
            found |= newest(connection, QUOTE, [market], "at", "hash", until=quote.at)
    return found


def _stored(
    connection: Connection, quotes: Sequence[Quote], hashes: Mapping[MarketId, str]
) -> dict[str, Row[Any]]:
    """Those of these quotes that are there, though others may have followed them."""
    keys = [(quote.market_id, quote.at, hashes[quote.market_id]) for quote in quotes]
    if not keys:
        return {}
    same = tuple_(QUOTE.c.market_id, QUOTE.c.at, QUOTE.c.hash).in_(keys)
    rows = connection.execute(select(*(QUOTE.c[name] for name in ("market_id", "hash", "id"))).where(same))
    return {row.market_id: row for row in rows}
