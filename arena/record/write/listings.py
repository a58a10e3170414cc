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


def last_sightings(
    connection: Connection, quote_rows: Mapping[str, Row[Any]], at: datetime
) -> dict[str, datetime]:
    """Return the last sync until an instant at which each market had a price, which was that in its row."""
    newest_syncs = select(SyncRow.venue, func.max(SyncRow.at)).where(SyncRow.at <= at).group_by(SyncRow.venue)
    last_syncs = dict(connection.execute(newest_syncs).all())
    if not last_syncs:
        return {}

    query = _last_sighting_query(connection.dialect.name)
    unpruned = _unpruned_markets(connection, quote_rows, at)
    sightings = connection.execute(query, markets_parameter(connection, unpruned) | {"until": at})

    last_seen = {}
    for market, is_quoted, venue, previous_sync in sightings:
        # A market without a price had its last one at the sync before that which found it gone.
        seen_at = last_syncs[venue] if is_quoted else previous_sync
        if seen_at is not None and seen_at >= quote_rows[market].at:
            last_seen[market] = seen_at
    return last_seen


def _unpruned_markets(connection: Connection, quote_rows: Mapping[str, Row[Any]], at: datetime) -> list[str]:
    """Return the markets of which no quote can have been pruned between the one in a row and an instant.

    Pruning leaves each market the newest quote from before its edge, so none went after that.
    """
    pruned_before = connection.scalar(select(func.max(PruneRow.older_than)))
    if pruned_before is None or at >= pruned_before:
        return list(quote_rows)

    just_before = pruned_before - timedelta(microseconds=1)
    newest_before = newest_rows(connection, QuoteRow, list(quote_rows), "at", until=just_before)
    unpruned = []
    for market, row in quote_rows.items():
        if market in newest_before and newest_before[market].id == row.id:
            unpruned.append(market)
    return unpruned


NEWEST_SYNC = select(func.max(SyncRow.at))


def echoed_quotes(connection: Connection, quotes: Sequence[Quote]) -> list[Quote]:
    """Return the earlier quotes to store again after these, because a later sync found them unchanged.

    Quotes older than the last sync are news from the past. The price before them is found again by the
    first sync after them that saw the market, unless another came in between.
    """
    last_sync = connection.scalar(NEWEST_SYNC) if quotes else None
    if last_sync is None:
        return []

    echoes = []
    for quote in quotes:
        earlier_quote = _quote_to_repeat(connection, quote) if quote.at < last_sync else None
        if earlier_quote is not None:
            echoes.append(earlier_quote)
    return echoes


def _quote_to_repeat(connection: Connection, quote: Quote) -> Quote | None:
    """Return the price before this one, as the first sync afterwards found it."""
    market = quote.market_id
    sighted_at = _next_sighting(connection, market, quote.at)
    if sighted_at is None:
        return None

    rows = newest_rows(connection, QuoteRow, [market], "at", *QUOTE_FIELDS, until=sighted_at)
    # If the newest price at that sync came after this one, the sync was no witness for the one before.
    is_followed = market in rows and rows[market].at > quote.at
    if is_followed or not _unpruned_markets(connection, rows, sighted_at):
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
    # Between a sighting with a price and the next sighting, every sync of the venue saw the market.
    for index, sighting in enumerate(sightings):
        following = sightings[index + 1 : index + 2]
        next_change = following[0].at if following else None
        if not sighting.quoted or (next_change is not None and next_change <= after):
            continue

        is_later_sync = (SyncRow.venue == sighting.venue, SyncRow.at > after, SyncRow.at >= sighting.at)
        sighted_at: datetime | None = connection.scalar(select(func.min(SyncRow.at)).where(*is_later_sync))
        if sighted_at is not None and (next_change is None or sighted_at < next_change):
            return sighted_at
    return None


@cache
def _last_sighting_query(dialect: str) -> AnySelect:
    """Return the query for the last sighting of each market until an instant, and the sync before it."""
    other_sighting = aliased(SightingRow, name="seen")
    other_sync = aliased(SyncRow, name="latest")
    previous_sync = aliased(SyncRow, name="before")

    until = bindparam("until", type_=column_of(SyncRow.at).type)
    last_sync_id = (
        select(other_sync.id)
        .join_from(other_sighting, other_sync)
        .where(other_sighting.market_id == MarketRow.id, other_sync.at <= until)
        .order_by(col(other_sync.at).desc(), col(other_sync.id).desc())
        .limit(1)
        .correlate(MarketRow.__table__)
    )

    is_previous_sync = (previous_sync.venue == SyncRow.venue) & (previous_sync.number == SyncRow.number - 1)
    query = select(MarketRow.id, SightingRow.quoted, SyncRow.venue, previous_sync.at)
    query = query.select_from(
        joined(MarketRow, SightingRow, SyncRow).outerjoin(previous_sync, clause(is_previous_sync))
    )
    return query.where(is_in_markets(dialect), SyncRow.id == last_sync_id.scalar_subquery())


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
    return _hash_and_id({**written.known, **fresh})


def _hash_and_id(rows: Mapping[str, Row[Any]]) -> StoredRows:
    return {market: (row.hash, row.id) for market, row in rows.items()}


def add_pages(
    connection: Connection, listings: Sequence[Listing], at: datetime, only_listed: bool = False
) -> WrittenListings:
    """Write new markets, and changed pages of these markets as their next versions.

    A page that is `only_listed` among others may lack the rules, and one that was asked for by itself the
    tags: those that are known stay.
    """
    pages = {listing.market.id: listing.market for listing in listings}
    known_rows = newest_rows(connection, MarketVersionRow, list(pages), "version", "hash", "version")
    known_pages = [page for page in pages.values() if page.id in known_rows]
    if only_listed:
        pages |= _with_known_rules(connection, known_pages)
    else:
        pages |= _with_known_tags(connection, known_pages)

    hashes = {}
    new = []
    changed = []
    rows = []
    for market, page in pages.items():
        page_hash = market_hash(page)
        hashes[market] = page_hash
        version = 1
        if market in known_rows:
            version = known_rows[market].version + 1
        else:
            new.append(market)
        if market not in known_rows or known_rows[market].hash != page_hash:
            changed.append(market)
            rows.append(((market, version, at, page_hash), page))

    insert_lines(connection, MarketRow.__table__, ("id", "first_seen_at"), [(market, at) for market in new])
    insert_facts(connection, MarketVersionRow, ("market_id", "version", "at", "hash"), rows, PAGE_FIELDS)
    return WrittenListings(hashes, known_rows, changed, new)


def _with_known_rules(connection: Connection, pages: Sequence[Market]) -> dict[MarketId, Market]:
    """Return those of these pages that lack rules, with the rules of the newest page of the same question."""
    without_rules = {page.id: page for page in pages if page.rules == page.question}
    known_rows = newest_rows(
        connection, MarketVersionRow, list(without_rules), "version", "question", "rules"
    )

    complete = {}
    for market, page in without_rules.items():
        if known_rows[market].question == page.question:
            complete[market] = replace(page, rules=known_rows[market].rules)
    return complete


def _with_known_tags(connection: Connection, pages: Sequence[Market]) -> dict[MarketId, Market]:
    """Return those of these pages that are without tags, with the tags of the newest page."""
    without_tags = {page.id: page for page in pages if not page.tags}
    known_rows = newest_rows(connection, MarketVersionRow, list(without_tags), "version", "tags")
    return {market: replace(page, tags=known_rows[market].tags) for market, page in without_tags.items()}


def add_quote_rows(connection: Connection, listings: Sequence[Listing]) -> StoredRows:
    """Return the rows of these markets' prices, writing those that are new."""
    written = add_quotes(connection, listings)
    quotes = _quotes_by_market(listings)
    fresh = [quotes[MarketId(market)] for market in written.fresh]
    return _hash_and_id({**written.known, **_stored_quotes(connection, fresh, written.hashes)})


def _quotes_by_market(listings: Sequence[Listing]) -> dict[MarketId, Quote]:
    return {listing.quote.market_id: listing.quote for listing in listings if listing.quote}


def add_quotes(
    connection: Connection, listings: Sequence[Listing], also_unchanged: bool = False
) -> WrittenListings:
    """Write the prices of these markets that have changed, or all that are not stored yet."""
    quotes = _quotes_by_market(listings)
    hashes = {market: quote_hash(quote) for market, quote in quotes.items()}
    known_rows = _quotes_known_before(connection, quotes)

    to_write = []
    known_before = []
    for market, price_hash in hashes.items():
        if also_unchanged or market not in known_rows or known_rows[market].hash != price_hash:
            to_write.append(market)
            if market in known_rows:
                known_before.append(quotes[market])

    # Of a known market the very same price may be stored already, with newer ones after it.
    stored_rows = _stored_quotes(connection, known_before, hashes)
    fresh = [market for market in to_write if market not in stored_rows]
    rows = [((book_text(quotes[market]), hashes[market]), quotes[market]) for market in fresh]
    echoes = echoed_quotes(connection, [quotes[market] for market in fresh])
    rows += [((book_text(echo), quote_hash(echo)), echo) for echo in echoes]
    insert_facts(connection, QuoteRow, ("book", "hash"), rows, PRICE_FIELDS)
    return WrittenListings(hashes, known_rows | stored_rows, fresh)


def _quotes_known_before(connection: Connection, quotes: Mapping[MarketId, Quote]) -> dict[str, Row[Any]]:
    """Return the price of each market as it was known until the instant of the one that is given."""
    times = {quote.at for quote in quotes.values()}
    if len(times) == 1:
        return newest_rows(connection, QuoteRow, list(quotes), "at", "hash", until=times.pop())

    # Of few markets something newer is known already: only these are looked up one by one.
    known_rows = newest_rows(connection, QuoteRow, list(quotes), "at", "hash", "at")
    for market, quote in quotes.items():
        if market in known_rows and known_rows[market].at > quote.at:
            del known_rows[market]
            known_rows |= newest_rows(connection, QuoteRow, [market], "at", "hash", until=quote.at)
    return known_rows


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
    is_used = _is_used()
    is_followed = _is_followed(older_than)
    conditions: dict[str, Condition] = {
        "goes": and_(is_old, ~is_used, is_followed),
        "used": and_(is_old, is_used),
        "last": and_(is_old, ~is_used, ~is_followed),
        "later": not_(is_old),
    }
    counts = {}
    for name, condition in conditions.items():
        query = select(func.count()).select_from(QuoteRow).where(condition)
        counts[name] = connection.execute(query).scalar_one()
    return PruneResult(older_than, **counts)


def prune_quotes(connection: Connection, older_than: datetime, at: datetime) -> PruneResult:
    """Delete quotes from before an instant that nothing depends on and that a newer one followed.

    The record keeps how many went: what a sync from before the instant has seen may be among them.
    """
    allow_long_change(connection)
    result = plan_pruning(connection, older_than)
    if not result.goes:
        return result

    last_number = select(func.coalesce(func.max(PruneRow.number), 0))
    number = connection.execute(last_number).scalar_one() + 1
    fact = {"number": number, "at": at, "older_than": older_than, "quotes": result.goes}
    fact_hash = digest(fact)
    insert_one(connection, PruneRow.__table__, **fact, hash=fact_hash)
    add_head(connection, at, {"prune": [[number, fact_hash]]})

    is_pruned = (QuoteRow.at < older_than, ~_is_used(), _is_followed(older_than))
    connection.execute(delete(QuoteRow).where(*is_pruned))
    return result


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
