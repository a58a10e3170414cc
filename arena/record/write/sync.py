"""Storing a venue's whole catalogue without a snapshot: what has changed since the last reading."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Row, func

from arena.errors import ArenaError
from arena.record.schema.newest import newest_rows
from arena.record.schema.statements import attributes_of, batches, insert_lines, insert_one
from arena.record.schema.typed import clause, col, joined, select
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow, SightingRow, SyncRow
from arena.record.write.heads import add_head
from arena.record.write.listings import PAGE_FIELDS, QUOTE_FIELDS, add_pages, add_quotes, quote_of
from arena.record.write.quarantine import quarantine_records
from markets.hashes import canonical, digest, plain_digest
from markets.model import Listing, Market, MarketId
from markets.venue import EVERY_MARKET, CatalogueFilter, QuarantinedRecord

NOTHING: Mapping[str, int] = MappingProxyType({})
SIGHTINGS = joined(SightingRow, SyncRow)


@dataclass(frozen=True, slots=True)
class VenueSource:
    """A venue by its name in the config, and where its markets come from: live, simulated or replay."""

    venue: str
    stamp: str


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync has found: so many markets, of which so many were new, or had a new page or price.

    `unchanged` had neither; `gone` had a price at the sync before, and have none now, though they were
    wanted. `hash` is that of the sync.
    """

    number: int
    at: datetime
    markets: int
    new: int = 0
    changed: int = 0
    quotes: int = 0
    unchanged: int = 0
    gone: tuple[MarketId, ...] = ()
    hash: str = ""


def add_catalogue(
    connection: Connection,
    source: VenueSource,
    listings: Sequence[Listing],
    at: datetime,
    quarantined: Sequence[QuarantinedRecord] = (),
    progress: Callable[[int, int], None] = lambda _done, _of: None,
    wanted: CatalogueFilter = EVERY_MARKET,
    left_out: Mapping[str, int] = NOTHING,
    rejected: int | None = None,
) -> SyncResult:
    """Add the catalogue of all that was wanted as it was read at an instant, and what was quarantined.

    The sync is a witness for the prices of that instant. Those of any other are stored each by itself.
    `left_out` are open markets that are no question, by reason; `rejected` is how many of its records were
    quarantined, where that was written by itself.
    `progress` is called with how many of how many markets are stored.
    """
    quarantine_records(connection, quarantined, at)
    syncs = select(SyncRow.__table__).where(SyncRow.venue == source.venue)
    last_sync = connection.execute(syncs.order_by(col(SyncRow.number).desc()).limit(1)).first()
    if last_sync is not None and last_sync.at >= at:
        message = f"{source.venue} was read at {last_sync.at:%Y-%m-%d %H:%M:%S} UTC, not before {at:%H:%M:%S}"
        raise ArenaError("not_newer", message, "check this machine's clock, then read it again")

    listings = list({listing.market.id: listing for listing in listings}.values())
    counts = Counter[str]()
    seen_prices = dict[MarketId, str]()
    done = 0
    for batch in batches(listings):
        seen_prices |= _add_batch(connection, batch, at, counts)
        done += len(batch)
        progress(done, len(listings))

    quoted_before = quoted_markets(connection, source.venue)
    rejected_count = len(quarantined) if rejected is None else rejected
    reported = {"left_out": canonical(dict(left_out)), "rejected": rejected_count}
    number, sync_hash = _add_sync(connection, source, at, seen_prices, quoted_before, last_sync, reported)

    gone_pages = _wanted_pages(connection, sorted(quoted_before - seen_prices.keys()), wanted)
    gone_ids = tuple(page.id for page in gone_pages)
    return SyncResult(number, at, markets=len(listings), **counts, gone=gone_ids, hash=sync_hash)


def _add_batch(
    connection: Connection, batch: Sequence[Listing], at: datetime, counts: Counter[str]
) -> Mapping[MarketId, str]:
    """Write what is new of some markets, count it, and return the hashes of the prices of that instant."""
    quoted_now = list[Listing]()
    quoted_earlier = list[Listing]()
    for listing in batch:
        if listing.quote:
            listings = quoted_now if listing.quote.at == at else quoted_earlier
            listings.append(listing)

    pages = add_pages(connection, batch, at, only_listed=True)
    prices = add_quotes(connection, quoted_now)
    earlier_prices = add_quotes(connection, quoted_earlier, also_unchanged=True)

    with_new_price = {*prices.fresh, *earlier_prices.fresh}
    counts["new"] += len(pages.new)
    counts["changed"] += len(pages.fresh) - len(pages.new)
    counts["quotes"] += len(with_new_price)
    counts["unchanged"] += len(batch) - len(with_new_price.union(pages.fresh))
    return prices.hashes


def _wanted_pages(connection: Connection, markets: Sequence[str], wanted: CatalogueFilter) -> list[Market]:
    """Return the last known pages of the wanted markets among these."""
    pages: list[Market] = []
    for batch in batches(markets):
        rows = newest_rows(connection, MarketVersionRow, list(batch), "version", *PAGE_FIELDS)
        prices = newest_rows(connection, QuoteRow, list(batch), "at", *QUOTE_FIELDS)
        for market in batch:
            if market in rows:
                page = Market(MarketId(market), **attributes_of(rows[market], *PAGE_FIELDS))
                quote = quote_of(prices[market]) if market in prices else None
                if wanted.admits(page, quote):
                    pages.append(page)
    return pages


def count_known_open(
    connection: Connection, venue: str, listed_markets: Set[str], at: datetime, wanted: CatalogueFilter
) -> tuple[int, int]:
    """Count the markets known to be open that a catalogue holds, and all that are known to be open.

    Known to be open is what had a price when the venue was last read, is still wanted, closes after `at`, and
    has no known end. Markets are only looked up one by one where the catalogue lacks more than it holds.
    """
    quoted_before = quoted_markets(connection, venue)
    held_count = len(quoted_before & listed_markets)
    missing = sorted(quoted_before - listed_markets)
    if len(missing) <= held_count:  # most are there: the others need not be looked up
        return held_count, len(quoted_before)

    ended: set[str] = set()
    for batch in batches(missing):
        resolved = select(ResolutionRow.market_id).where(col(ResolutionRow.market_id).in_(batch))
        ended.update(connection.scalars(resolved))
    pages = _wanted_pages(connection, [market for market in missing if market not in ended], wanted)
    still_open = [page for page in pages if page.closes_at > at]
    return held_count, held_count + len(still_open)


def last_synced_at(connection: Connection, source: VenueSource) -> datetime | None:
    """Return when a venue was last read."""
    last = select(func.max(SyncRow.at)).where(SyncRow.venue == source.venue)
    return connection.execute(last).scalar_one_or_none()


def markets_gone_since(connection: Connection, since: datetime) -> list[MarketId]:
    """Return the markets that lost their price since then, have none again, and have no known end."""
    last_sightings = (
        select(SightingRow.market_id, func.max(SyncRow.at).label("at"))
        .select_from(SIGHTINGS)
        .group_by(SightingRow.market_id)
        .subquery()
    )
    is_last_sighting = (SightingRow.market_id == last_sightings.c.market_id) & (
        SyncRow.at == last_sightings.c.at
    )
    query = (
        select(SightingRow.market_id)
        .select_from(SIGHTINGS.join(last_sightings, clause(is_last_sighting)))
        .where(SightingRow.quoted == 0, SyncRow.at >= since)
        .where(col(SightingRow.market_id).not_in(select(ResolutionRow.market_id)))
    )
    return sorted(MarketId(market) for market in connection.scalars(query))


def _add_sync(
    connection: Connection,
    source: VenueSource,
    at: datetime,
    seen_prices: Mapping[MarketId, str],
    quoted_before: Set[str],
    last_sync: Row[Any] | None,
    reported: Mapping[str, object],
) -> tuple[int, str]:
    """Add a sync, and where its markets with a price differ from those before; return its number and hash."""
    number = 1
    previous = ""
    if last_sync is not None:
        number = last_sync.number + 1
        previous = last_sync.hash

    changes = {market: int(market in seen_prices) for market in sorted(seen_prices.keys() ^ quoted_before)}
    fact = {
        "venue": source.venue,
        "stamp": source.stamp,
        "number": number,
        "at": at,
        "markets": len(seen_prices),
        "seen": plain_digest(seen_prices),
    }
    sync_hash = digest(fact | {"previous": previous, "sightings": changes})
    sync_id = insert_one(connection, SyncRow.__table__, **fact, **reported, hash=sync_hash)

    lines = [(sync_id, market, quoted) for market, quoted in changes.items()]
    insert_lines(connection, SightingRow.__table__, ("sync_id", "market_id", "quoted"), lines)
    add_head(connection, at, {"sync": [[source.venue, number, sync_hash]]})
    return number, sync_hash


def quoted_markets(connection: Connection, venue: str, number: int | None = None) -> set[str]:
    """Return the markets that had a price at a venue's sync of this number, or when it was last read."""
    last_numbers = select(SightingRow.market_id, func.max(SyncRow.number).label("number")).select_from(
        SIGHTINGS
    )
    last_numbers = last_numbers.where(SyncRow.venue == venue).group_by(SightingRow.market_id)
    if number is not None:
        last_numbers = last_numbers.where(SyncRow.number <= number)

    last_sightings = last_numbers.subquery()
    is_last_sighting = (SightingRow.market_id == last_sightings.c.market_id) & (
        SyncRow.number == last_sightings.c.number
    )
    query = (
        select(SightingRow.market_id)
        .select_from(SIGHTINGS.join(last_sightings, clause(is_last_sighting)))
        .where(SyncRow.venue == venue, SightingRow.quoted == 1)
    )
    return set(connection.scalars(query))
