"""What a venue shows, written as it changes: a market once, its page and its price when they are new.

A page or a price is new if its hash differs from that of the newest one of the same market until then. A
sync that finds a price unchanged writes nothing: it is a witness that the newest price stored until then
still held, and that must stay true whatever is written later. Old quotes are pruned only on request, and
none on which anything stands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, exists, func, tuple_
from sqlalchemy.orm import aliased
from sqlmodel import and_, not_, or_

from arena.record.schema.codec import book_of, book_text
from arena.record.schema.cohort import SnapshotItemRow
from arena.record.schema.database import allow_long_change
from arena.record.schema.newest import is_in_markets, markets_parameter, newest_rows
from arena.record.schema.statements import insert_facts, insert_lines, insert_one
from arena.record.schema.turn import SecondQuoteRow
from arena.record.schema.typed import (
    AnySelect,
    Condition,
    clause,
    col,
    column_of,
    columns_of,
    delete,
    joined,
    select,
)
from arena.record.schema.world import MarketRow, MarketVersionRow, PruneRow, QuoteRow, SightingRow, SyncRow
from arena.record.write.heads import add_head
from markets.hashes import FIGURES, digest, market_hash, quote_hash
from markets.model import Listing, Market, MarketId, Quote

QUOTE_FIELDS = ("at", "bid", "ask", "mid", "last", "volume", "book", *FIGURES)


def quote_of(row: Row[Any], at: datetime | None = None) -> Quote:
    """The quote in a row that has a market and PRICES; as of an instant at which it was found again."""
    prices = (row.bid, row.ask, row.mid, row.last, row.volume)
    figures = (row.volume_24h, row.liquidity, row.open_interest)
    return Quote(MarketId(row.market_id), at or row.at, *prices, *book_of(row.book), *figures)


def last_sightings(connection: Connection, rows: Mapping[str, Row[Any]], at: datetime) -> dict[str, datetime]:
    """The last sync until an instant at which each market had a price, which was that in its row."""
    newest_sync = select(SyncRow.venue, func.max(SyncRow.at)).where(SyncRow.at <= at).group_by(SyncRow.venue)
    ends = dict(connection.execute(newest_sync).all())
    ids = _unpruned_markets(connection, rows, at) if ends else []
    seen = connection.execute(
        _last_sighting_query(connection.dialect.name), markets_parameter(connection, ids) | {"until": at}
    )
    found = {market: ends[venue] if quoted else earlier for market, quoted, venue, earlier in seen}
    return {market: look for market, look in found.items() if look is not None and look >= rows[market].at}


def _unpruned_markets(connection: Connection, rows: Mapping[str, Row[Any]], at: datetime) -> list[str]:
    """The markets of which no quote can have been pruned between the one in a row and an instant.

    Pruning leaves each market the newest quote from before its edge, so none went after that.
    """
    edge = connection.scalar(select(func.max(PruneRow.older_than)))
    if edge is None or at >= edge:
        return list(rows)
    left = newest_rows(connection, QuoteRow, list(rows), "at", until=edge - timedelta(microseconds=1))
    return [market for market, row in rows.items() if market in left and left[market].id == row.id]


def echoed_quotes(connection: Connection, quotes: Sequence[Quote]) -> list[Quote]:
    """What has to be stored again when these quotes are, since a later sync has found it.

    Quotes older than the last sync are news from the past. The price before them is found again by the
    first sync after them that saw the market, unless another came in between.
    """
    last = connection.scalar(select(func.max(SyncRow.at))) if quotes else None
    late = [quote for quote in quotes if last is not None and quote.at < last]
    echoes = (_echo(connection, quote) for quote in late)
    return [echo for echo in echoes if echo is not None]


def _echo(connection: Connection, quote: Quote) -> Quote | None:
    """The price until this one comes, as the first sync afterwards found it."""
    sighted_at, market = _next_sighting(connection, quote.market_id, quote.at), quote.market_id
    if sighted_at is None:
        return None
    rows = newest_rows(connection, QuoteRow, [market], "at", *QUOTE_FIELDS, until=sighted_at)
    if (
        market not in rows
        or rows[market].at > quote.at
        or not _unpruned_markets(connection, rows, sighted_at)
    ):
        return None
    return replace(quote_of(rows[market]), at=sighted_at)


def _next_sighting(connection: Connection, market: MarketId, after: datetime) -> datetime | None:
    """The first sync after an instant at which a market had a price."""
    query = select(SyncRow.venue, SyncRow.at, SightingRow.quoted).select_from(joined(SightingRow, SyncRow))
    sightings = connection.execute(query.where(SightingRow.market_id == market).order_by(SyncRow.at)).all()
    for sighting, following in pairwise([*sightings, None]):
        end = None if following is None else following.at
        if sighting is not None and sighting.quoted and (end is None or end > after):
            mine = (SyncRow.venue == sighting.venue, SyncRow.at > after, SyncRow.at >= sighting.at)
            sighted_at: datetime | None = connection.scalar(select(func.min(SyncRow.at)).where(*mine))
            if sighted_at is not None and (end is None or sighted_at < end):
                return sighted_at
    return None


@cache
def _last_sighting_query(dialect: str) -> AnySelect:
    """Of each market the last sighting until an instant, and when the sync before that one was."""
    seen, sync = aliased(SightingRow, name="seen"), aliased(SyncRow, name="latest")
    before = aliased(SyncRow, name="before")
    until = sync.at <= bindparam("until", type_=column_of(SyncRow.at).type)
    last = select(sync.id).join_from(seen, sync).where(seen.market_id == MarketRow.id, until)
    last = last.order_by(col(sync.at).desc(), col(sync.id).desc()).limit(1).correlate(MarketRow.__table__)
    follows = (before.venue == SyncRow.venue) & (before.number == SyncRow.number - 1)
    found = select(MarketRow.id, SightingRow.quoted, SyncRow.venue, before.at)
    found = found.select_from(joined(MarketRow, SightingRow, SyncRow).outerjoin(before, clause(follows)))
    return found.where(is_in_markets(dialect), SyncRow.id == last.scalar_subquery())


StoredRows = Mapping[str, tuple[str, int]]
"""Hash and id of the row that holds what was given, by market."""

PAGE_FIELDS = tuple(name for name in Market.__dataclass_fields__ if name != "id")
PRICE_FIELDS = ("market_id", "at", "bid", "ask", "mid", "last", "volume", *FIGURES)


@dataclass(frozen=True, slots=True)
class WrittenListings:
    """What was given, as hashes; what was there before; and of which markets something new was written."""

    hashes: Mapping[MarketId, str]
    known: Mapping[str, Row[Any]]
    fresh: Sequence[str]
    new: Sequence[str] = ()


def add_page_rows(connection: Connection, listings: Sequence[Listing], at: datetime) -> StoredRows:
    """The rows that hold the pages of these markets, written where they were not there."""
    written = add_pages(connection, listings, at)
    rows = {**written.known, **newest_rows(connection, MarketVersionRow, written.fresh, "version", "hash")}
    return {market: (row.hash, row.id) for market, row in rows.items()}


def add_pages(
    connection: Connection, listings: Sequence[Listing], at: datetime, listed: bool = False
) -> WrittenListings:
    """The pages of these markets, those that say something new as their next versions; and new markets.

    A page that is only `listed` among others may lack the rules, and one that was asked for by itself the
    tags: those that are known stay.
    """
    markets = {listing.market.id: listing.market for listing in listings}
    known = newest_rows(connection, MarketVersionRow, list(markets), "version", "hash", "version")
    complete = _with_known_rules if listed else _with_known_tags
    markets |= complete(connection, [x for x in markets.values() if x.id in known])
    hashes = {market: market_hash(page) for market, page in markets.items()}
    changed = [
        market
        for market, page_hash in hashes.items()
        if market not in known or known[market].hash != page_hash
    ]
    new = [market for market in changed if market not in known]
    insert_lines(connection, MarketRow.__table__, ("id", "first_seen_at"), [(market, at) for market in new])
    versions = {market: known[market].version + 1 if market in known else 1 for market in changed}
    keys = ("market_id", "version", "at", "hash")
    pages = [((market, versions[market], at, hashes[market]), markets[market]) for market in changed]
    insert_facts(connection, MarketVersionRow, keys, pages, PAGE_FIELDS)
    return WrittenListings(hashes, known, changed, new)


def _with_known_rules(connection: Connection, pages: Sequence[Market]) -> dict[MarketId, Market]:
    """Those of these pages that are without rules, with the rules of the newest page of the same question."""
    bare = {page.id: page for page in pages if page.rules == page.question}
    known = newest_rows(connection, MarketVersionRow, list(bare), "version", "question", "rules")
    return {
        market: replace(page, rules=known[market].rules)
        for market, page in bare.items()
        if known[market].question == page.question
    }


def _with_known_tags(connection: Connection, pages: Sequence[Market]) -> dict[MarketId, Market]:
    """Those of these pages that are without tags, with the tags of the newest page."""
    bare = {page.id: page for page in pages if not page.tags}
    known = newest_rows(connection, MarketVersionRow, list(bare), "version", "tags")
    return {market: replace(page, tags=known[market].tags) for market, page in bare.items()}


def add_quote_rows(connection: Connection, listings: Sequence[Listing]) -> StoredRows:
    """The rows that hold the prices of these markets, written where they were not there."""
    written = add_quotes(connection, listings)
    quotes = {listing.quote.market_id: listing.quote for listing in listings if listing.quote}
    fresh = _stored_quotes(connection, [quotes[MarketId(market)] for market in written.fresh], written.hashes)
    return {market: (row.hash, row.id) for market, row in {**written.known, **fresh}.items()}


def add_quotes(connection: Connection, listings: Sequence[Listing], each: bool = False) -> WrittenListings:
    """The prices of those of these markets that have one, as far as they were others until then; or each."""
    quotes = {listing.quote.market_id: listing.quote for listing in listings if listing.quote}
    hashes = {market: quote_hash(quote) for market, quote in quotes.items()}
    known = _quotes_known_before(connection, quotes)
    changed = [m for m, price_hash in hashes.items() if each or m not in known or known[m].hash != price_hash]
    stored = _stored_quotes(connection, [quotes[market] for market in changed if market in known], hashes)
    fresh = [market for market in changed if market not in stored]
    echoes = echoed_quotes(connection, [quotes[market] for market in fresh])
    hashed = [(quotes[market], hashes[market]) for market in fresh]
    hashed += [(echo, quote_hash(echo)) for echo in echoes]
    prices = [((book_text(quote), price_hash), quote) for quote, price_hash in hashed]
    insert_facts(connection, QuoteRow, ("book", "hash"), prices, PRICE_FIELDS)
    return WrittenListings(hashes, known | stored, fresh)


def _quotes_known_before(connection: Connection, quotes: Mapping[MarketId, Quote]) -> dict[str, Row[Any]]:
    """The price of each market as it was known until the instant of the one that is given."""
    times = {quote.at for quote in quotes.values()}
    if len(times) == 1:
        return newest_rows(connection, QuoteRow, list(quotes), "at", "hash", until=times.pop())
    last_before = newest_rows(connection, QuoteRow, list(quotes), "at", "hash", "at")
    for market, quote in quotes.items():
        if market in last_before and last_before[market].at > quote.at:
            del last_before[market]
            last_before |= newest_rows(connection, QuoteRow, [market], "at", "hash", until=quote.at)
    return last_before


def _stored_quotes(
    connection: Connection, quotes: Sequence[Quote], hashes: Mapping[MarketId, str]
) -> dict[str, Row[Any]]:
    """Those of these quotes that are there, though others may have followed them."""
    keys = [(quote.market_id, quote.at, hashes[quote.market_id]) for quote in quotes]
    if not keys:
        return {}
    same = tuple_(QuoteRow.market_id, QuoteRow.at, QuoteRow.hash).in_(keys)
    rows = connection.execute(select(*columns_of(QuoteRow, ("market_id", "hash", "id"))).where(same))
    return {row.market_id: row for row in rows}


@dataclass(frozen=True, slots=True)
class PruneResult:
    """What is, or would be, let go of the quotes from before an instant, and why the others stay.

    `used` are in snapshots or second quotes, and with them under turns, fills and marks; `last` are the
    newest of their markets before the instant; `later` are not from before it.
    """

    older_than: datetime
    goes: int
    used: int
    last: int
    later: int


def plan_pruning(connection: Connection, older_than: datetime) -> PruneResult:
    """What pruning would do."""
    old, used, followed = QuoteRow.at < older_than, _is_used(), _is_followed(older_than)
    parts: dict[str, Condition] = {
        "goes": and_(old, ~used, followed),
        "used": and_(old, used),
        "last": and_(old, ~used, ~followed),
        "later": not_(old),
    }
    counts = {
        name: connection.scalar(select(func.count()).select_from(QuoteRow).where(part)) or 0
        for name, part in parts.items()
    }
    return PruneResult(older_than, **counts)


def prune_quotes(connection: Connection, older_than: datetime, at: datetime) -> PruneResult:
    """Let quotes from before an instant go: those that nothing stands on and that another one followed.

    The record keeps how many went: what a sync from before the instant has seen may be among them.
    """
    allow_long_change(connection)
    pruning = plan_pruning(connection, older_than)
    if pruning.goes:
        numbers = select(func.coalesce(func.max(PruneRow.number), 0) + 1)
        number = connection.execute(numbers).scalar_one()
        fact = {"number": number, "at": at, "older_than": older_than, "quotes": pruning.goes}
        insert_one(connection, PruneRow.__table__, **fact, hash=digest(fact))
        add_head(connection, at, {"prune": [[number, digest(fact)]]})
        connection.execute(
            delete(QuoteRow).where(QuoteRow.at < older_than, ~_is_used(), _is_followed(older_than))
        )
    return pruning


def _is_used() -> ColumnElement[bool]:
    return or_(
        exists(select(SnapshotItemRow.quote_id).where(SnapshotItemRow.quote_id == QuoteRow.id)),
        exists(select(SecondQuoteRow.quote_id).where(SecondQuoteRow.quote_id == QuoteRow.id)),
    )


def _is_followed(older_than: datetime) -> ColumnElement[bool]:
    """Whether another quote of the same market came later, and before the instant too."""
    later = aliased(QuoteRow, name="later")
    after = or_(later.at > QuoteRow.at, and_(later.at == QuoteRow.at, later.id > QuoteRow.id))
    return exists(select(later.id).where(later.market_id == QuoteRow.market_id, later.at < older_than, after))
