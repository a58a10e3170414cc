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
    """Return the quote in a row with a market and prices, as of a later instant at which it still held."""
    prices = (row.bid, row.ask, row.mid, row.last, row.volume)
    figures = (row.volume_24h, row.liquidity, row.open_interest)
    return Quote(MarketId(row.market_id), at or row.at, *prices, *book_of(row.book), *figures)


def last_sightings(connection: Connection, rows: Mapping[str, Row[Any]], at: datetime) -> dict[str, datetime]:
    """Return the last sync until an instant at which each market had a price, which was that in its row."""
    newest_syncs = select(SyncRow.venue, func.max(SyncRow.at)).where(SyncRow.at <= at).group_by(SyncRow.venue)
    last_syncs = dict(connection.execute(newest_syncs).all())
    if not last_syncs:
        return {}

    query = _last_sighting_query(connection.dialect.name)
    ids = _unpruned_markets(connection, rows, at)
    sightings = connection.execute(query, markets_parameter(connection, ids) | {"until": at})

    looks = {}
    for market, is_quoted, venue, sync_before in sightings:
        looked_at = last_syncs[venue] if is_quoted else sync_before
        if looked_at is not None and looked_at >= rows[market].at:
            looks[market] = looked_at
    return looks


def _unpruned_markets(connection: Connection, rows: Mapping[str, Row[Any]], at: datetime) -> list[str]:
    """Return the markets of which no quote can have been pruned between the one in a row and an instant.

    Pruning leaves each market the newest quote from before its edge, so none went after that.
    """
    edge = connection.scalar(select(func.max(PruneRow.older_than)))
    if edge is None or at >= edge:
        return list(rows)

    before_edge = edge - timedelta(microseconds=1)
    left = newest_rows(connection, QuoteRow, list(rows), "at", until=before_edge)
    return [market for market, row in rows.items() if market in left and left[market].id == row.id]


NEWEST_SYNC = select(func.max(SyncRow.at))


def echoed_quotes(connection: Connection, quotes: Sequence[Quote]) -> list[Quote]:
    """Return the earlier quotes to store again after these, because a later sync found them unchanged.

    Quotes older than the last sync are news from the past. The price before them is found again by the
    first sync after them that saw the market, unless another came in between.
    """
    last = connection.scalar(NEWEST_SYNC) if quotes else None
    if last is None:
        return []

    echoes = []
    for quote in quotes:
        echo = _echo(connection, quote) if quote.at < last else None
        if echo is not None:
            echoes.append(echo)
    return echoes


def _echo(connection: Connection, quote: Quote) -> Quote | None:
    """Return the price before this one, as the first sync afterwards found it."""
    market = quote.market_id
    sighted_at = _next_sighting(connection, market, quote.at)
    if sighted_at is None:
        return None

    rows = newest_rows(connection, QuoteRow, [market], "at", *QUOTE_FIELDS, until=sighted_at)
    is_later = market in rows and rows[market].at > quote.at
    if is_later or not _unpruned_markets(connection, rows, sighted_at):
        return None
    return replace(quote_of(rows[market]), at=sighted_at)


def _next_sighting(connection: Connection, market: MarketId, after: datetime) -> datetime | None:
    """Return the first sync after an instant at which a market had a price."""
    sightings = connection.execute(
        select(SyncRow.venue, SyncRow.at, SightingRow.quoted)
        .from_joined(SightingRow, SyncRow)
        .where(SightingRow.market_id == market)
        .order_by(SyncRow.at)
    ).all()
    for place, sighting in enumerate(sightings):
        following = sightings[place + 1 : place + 2]
        end = following[0].at if following else None
        if not sighting.quoted or (end is not None and end <= after):
            continue

        later = (SyncRow.venue == sighting.venue, SyncRow.at > after, SyncRow.at >= sighting.at)
        sighted_at: datetime | None = connection.scalar(select(func.min(SyncRow.at)).where(*later))
        if sighted_at is not None and (end is None or sighted_at < end):
            return sighted_at
    return None


@cache
def _last_sighting_query(dialect: str) -> AnySelect:
    """Return the query for the last sighting of each market until an instant, and the sync before it."""
    seen = aliased(SightingRow, name="seen")
    sync = aliased(SyncRow, name="latest")
    before = aliased(SyncRow, name="before")

    until = bindparam("until", type_=column_of(SyncRow.at).type)
    last = select(sync.id).join_from(seen, sync).where(seen.market_id == MarketRow.id, sync.at <= until)
    last = last.order_by(col(sync.at).desc(), col(sync.id).desc()).limit(1).correlate(MarketRow.__table__)

    is_before = (before.venue == SyncRow.venue) & (before.number == SyncRow.number - 1)
    query = select(MarketRow.id, SightingRow.quoted, SyncRow.venue, before.at)
    query = query.select_from(joined(MarketRow, SightingRow, SyncRow).outerjoin(before, clause(is_before)))
    return query.where(is_in_markets(dialect), SyncRow.id == last.scalar_subquery())


StoredRows = Mapping[str, tuple[str, int]]
"""Hash and id of the row that holds what was given, by market."""

PAGE_FIELDS = tuple(name for name in Market.__dataclass_fields__ if name != "id")
PRICE_FIELDS = ("market_id", "at", "bid", "ask", "mid", "last", "volume", *FIGURES)


@dataclass(frozen=True, slots=True)
class WrittenListings:
    """The hashes of the given rows, those known before, and the markets with something new."""

    hashes: Mapping[MarketId, str]
    known: Mapping[str, Row[Any]]
    fresh: Sequence[str]
    new: Sequence[str] = ()


def add_page_rows(connection: Connection, listings: Sequence[Listing], at: datetime) -> StoredRows:
    """Return the rows of these markets' pages, writing those that are new."""
    written = add_pages(connection, listings, at)
    fresh = newest_rows(connection, MarketVersionRow, written.fresh, "version", "hash")
    return _stored({**written.known, **fresh})


def _stored(rows: Mapping[str, Row[Any]]) -> StoredRows:
    return {market: (row.hash, row.id) for market, row in rows.items()}


def add_pages(
    connection: Connection, listings: Sequence[Listing], at: datetime, listed: bool = False
) -> WrittenListings:
    """Write new markets, and changed pages of these markets as their next versions.

    A page that is only `listed` among others may lack the rules, and one that was asked for by itself the
    tags: those that are known stay.
    """
    pages = {listing.market.id: listing.market for listing in listings}
    known = newest_rows(connection, MarketVersionRow, list(pages), "version", "hash", "version")
    known_pages = [page for page in pages.values() if page.id in known]
    pages |= (_with_known_rules if listed else _with_known_tags)(connection, known_pages)

    hashes = {}
    new = []
    changed = []
    rows = []
    for market, page in pages.items():
        page_hash = market_hash(page)
        hashes[market] = page_hash
        version = 1
        if market in known:
            version = known[market].version + 1
        else:
            new.append(market)
        if market not in known or known[market].hash != page_hash:
            changed.append(market)
            rows.append(((market, version, at, page_hash), page))

    insert_lines(connection, MarketRow.__table__, ("id", "first_seen_at"), [(market, at) for market in new])
    insert_facts(connection, MarketVersionRow, ("market_id", "version", "at", "hash"), rows, PAGE_FIELDS)
    return WrittenListings(hashes, known, changed, new)


def _with_known_rules(connection: Connection, pages: Sequence[Market]) -> dict[MarketId, Market]:
    """Return those of these pages that lack rules, with the rules of the newest page of the same question."""
    bare = {page.id: page for page in pages if page.rules == page.question}
    known = newest_rows(connection, MarketVersionRow, list(bare), "version", "question", "rules")

    complete = {}
    for market, page in bare.items():
        if known[market].question == page.question:
            complete[market] = replace(page, rules=known[market].rules)
    return complete


def _with_known_tags(connection: Connection, pages: Sequence[Market]) -> dict[MarketId, Market]:
    """Return those of these pages that are without tags, with the tags of the newest page."""
    bare = {page.id: page for page in pages if not page.tags}
    known = newest_rows(connection, MarketVersionRow, list(bare), "version", "tags")
    return {market: replace(page, tags=known[market].tags) for market, page in bare.items()}


def add_quote_rows(connection: Connection, listings: Sequence[Listing]) -> StoredRows:
    """Return the rows of these markets' prices, writing those that are new."""
    written = add_quotes(connection, listings)
    quotes = _quotes_by_market(listings)
    fresh = [quotes[MarketId(market)] for market in written.fresh]
    return _stored({**written.known, **_stored_quotes(connection, fresh, written.hashes)})


def _quotes_by_market(listings: Sequence[Listing]) -> dict[MarketId, Quote]:
    return {listing.quote.market_id: listing.quote for listing in listings if listing.quote}


def add_quotes(connection: Connection, listings: Sequence[Listing], each: bool = False) -> WrittenListings:
    """Write the prices of these markets that have changed, or all of them."""
    quotes = _quotes_by_market(listings)
    hashes = {market: quote_hash(quote) for market, quote in quotes.items()}
    known = _quotes_known_before(connection, quotes)

    changed = []
    changed_again = []
    for market, price_hash in hashes.items():
        if each or market not in known or known[market].hash != price_hash:
            changed.append(market)
            if market in known:
                changed_again.append(quotes[market])

    stored = _stored_quotes(connection, changed_again, hashes)
    fresh = [market for market in changed if market not in stored]
    rows = [((book_text(quotes[market]), hashes[market]), quotes[market]) for market in fresh]
    echoes = echoed_quotes(connection, [quotes[market] for market in fresh])
    rows += [((book_text(echo), quote_hash(echo)), echo) for echo in echoes]
    insert_facts(connection, QuoteRow, ("book", "hash"), rows, PRICE_FIELDS)
    return WrittenListings(hashes, known | stored, fresh)


def _quotes_known_before(connection: Connection, quotes: Mapping[MarketId, Quote]) -> dict[str, Row[Any]]:
    """Return the price of each market as it was known until the instant of the one that is given."""
    times = {quote.at for quote in quotes.values()}
    if len(times) == 1:
        return newest_rows(connection, QuoteRow, list(quotes), "at", "hash", until=times.pop())

    known = newest_rows(connection, QuoteRow, list(quotes), "at", "hash", "at")
    for market, quote in quotes.items():
        if market in known and known[market].at > quote.at:
            del known[market]
            known |= newest_rows(connection, QuoteRow, [market], "at", "hash", until=quote.at)
    return known


STORED_QUOTES = select(*columns_of(QuoteRow, ("market_id", "hash", "id"))).where(
    tuple_(QuoteRow.market_id, QuoteRow.at, QuoteRow.hash).in_(bindparam("keys", expanding=True))
)


def _stored_quotes(
    connection: Connection, quotes: Sequence[Quote], hashes: Mapping[MarketId, str]
) -> dict[str, Row[Any]]:
    """Return the quotes of these that are stored already, even if newer ones follow."""
    if not quotes:
        return {}

    keys = [(quote.market_id, quote.at, hashes[quote.market_id]) for quote in quotes]
    return {row.market_id: row for row in connection.execute(STORED_QUOTES, {"keys": keys})}


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
    """Return what pruning would delete and keep."""
    is_old = QuoteRow.at < older_than
    used = _is_used()
    followed = _is_followed(older_than)
    parts: dict[str, Condition] = {
        "goes": and_(is_old, ~used, followed),
        "used": and_(is_old, used),
        "last": and_(is_old, ~used, ~followed),
        "later": not_(is_old),
    }
    counts = {}
    for name, part in parts.items():
        query = select(func.count()).select_from(QuoteRow).where(part)
        counts[name] = connection.execute(query).scalar_one()
    return PruneResult(older_than, **counts)


def prune_quotes(connection: Connection, older_than: datetime, at: datetime) -> PruneResult:
    """Delete quotes from before an instant that nothing depends on and that a newer one followed.

    The record keeps how many went: what a sync from before the instant has seen may be among them.
    """
    allow_long_change(connection)
    pruning = plan_pruning(connection, older_than)
    if not pruning.goes:
        return pruning

    last = select(func.coalesce(func.max(PruneRow.number), 0))
    number = connection.execute(last).scalar_one() + 1
    fact = {"number": number, "at": at, "older_than": older_than, "quotes": pruning.goes}
    insert_one(connection, PruneRow.__table__, **fact, hash=digest(fact))
    add_head(connection, at, {"prune": [[number, digest(fact)]]})

    goes = (QuoteRow.at < older_than, ~_is_used(), _is_followed(older_than))
    connection.execute(delete(QuoteRow).where(*goes))
    return pruning


def _is_used() -> ColumnElement[bool]:
    """Return the condition that a snapshot or a turn depends on a quote."""
    in_snapshot = select(SnapshotItemRow.quote_id).where(SnapshotItemRow.quote_id == QuoteRow.id)
    in_turn = select(SecondQuoteRow.quote_id).where(SecondQuoteRow.quote_id == QuoteRow.id)
    return or_(exists(in_snapshot), exists(in_turn))


def _is_followed(older_than: datetime) -> ColumnElement[bool]:
    """Return the condition that another quote of the market came later, and before the instant too."""
    later = aliased(QuoteRow, name="later")
    is_after = or_(later.at > QuoteRow.at, and_(later.at == QuoteRow.at, later.id > QuoteRow.id))
    is_of_market = later.market_id == QuoteRow.market_id
    return exists(select(later.id).where(is_of_market, later.at < older_than, is_after))
