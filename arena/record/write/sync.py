"""A venue's whole catalogue into the record, without a snapshot: what has changed since it was last read."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Row, func

from arena.errors import ArenaError
from arena.record.schema.newest import newest_rows
from arena.record.schema.statements import BATCH, attributes_of, batches, insert_lines, insert_one
from arena.record.schema.typed import clause, col, joined, select
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow, SightingRow, SyncRow
from arena.record.write.heads import add_head
from arena.record.write.listings import PAGE_FIELDS, QUOTE_FIELDS, add_pages, add_quotes, quote_of
from arena.record.write.quarantine import quarantine_records
from markets.garbage_collection import gc_paused
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


@gc_paused()
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
    """The catalogue of all that was wanted as it was read at an instant, and what of it was quarantined.

    The sync is a witness for the prices of that instant. Those of any other are stored each by itself.
    `left_out` are open markets that are no question, by reason; `rejected` is how many of its records were
    quarantined, where that was written by itself.
    `progress` is called with how many of how many markets are stored.
    """
    quarantine_records(connection, quarantined, at)
    mine = SyncRow.venue == source.venue
    syncs = select(SyncRow.__table__).where(mine).order_by(col(SyncRow.number).desc())
    last = connection.execute(syncs.limit(1)).first()
    if last is not None and last.at >= at:
        message = f"{source.venue} was read at {last.at:%Y-%m-%d %H:%M:%S} UTC, not before {at:%H:%M:%S}"
        raise ArenaError("not_newer", message, "check this machine's clock, then read it again")
    listings = list({listing.market.id: listing for listing in listings}.values())
    counts, seen = Counter[str](), dict[MarketId, str]()
    for number, batch in enumerate(batches(listings), 1):
        now = [listing for listing in batch if listing.quote and listing.quote.at == at]
        others = [listing for listing in batch if listing.quote and listing.quote.at != at]
        read = add_pages(connection, batch, at, listed=True)
        written = add_quotes(connection, now)
        prices = {*written.fresh, *add_quotes(connection, others, each=True).fresh}
        changed, unchanged = len(read.fresh) - len(read.new), len(batch) - len(prices.union(read.fresh))
        counts.update(new=len(read.new), changed=changed, quotes=len(prices), unchanged=unchanged)
        seen |= written.hashes
        progress(min(number * BATCH, len(listings)), len(listings))
    before = quoted_markets(connection, source.venue)
    count = len(quarantined) if rejected is None else rejected
    told = {"left_out": canonical(dict(left_out)), "rejected": count}
    number, sync_hash = _add_sync(connection, source, at, seen, before, last, told)
    return SyncResult(
        number=number,
        at=at,
        markets=len(listings),
        **counts,
        gone=tuple(page.id for page in _wanted_ones(connection, sorted(before - seen.keys()), wanted)),
        hash=sync_hash,
    )


def _wanted_ones(
    connection: Connection, markets: Sequence[str], wanted: CatalogueFilter
) -> tuple[Market, ...]:
    """Return the last known pages of those of these markets that a venue was asked for."""
    found: list[Market] = []
    for some in batches(markets):
        pages = newest_rows(connection, MarketVersionRow, list(some), "version", *PAGE_FIELDS)
        prices = newest_rows(connection, QuoteRow, list(some), "at", *QUOTE_FIELDS)
        for market_id in (MarketId(market) for market in some if market in pages):
            page = Market(market_id, **attributes_of(pages[market_id], *PAGE_FIELDS))
            if wanted.admits(page, quote_of(prices[market_id]) if market_id in prices else None):
                found.append(page)
    return tuple(found)


def count_known_open(
    connection: Connection, venue: str, listed: Set[str], at: datetime, wanted: CatalogueFilter
) -> tuple[int, int]:
    """Count the markets known to be open that a catalogue holds, and all that are known to be open.

    Known to be open is what had a price when the venue was last read, is still wanted, closes after `at`, and
    has no known end. Markets are only looked up one by one where the catalogue lacks more than it holds.
    """
    before = quoted_markets(connection, venue)
    held = len(before & listed)
    missing = sorted(before - listed)
    if len(missing) <= held:
        return held, len(before)

    ended: set[str] = set()
    for some in batches(missing):
        resolved = select(ResolutionRow.market_id).where(col(ResolutionRow.market_id).in_(some))
        ended.update(connection.scalars(resolved))
    pages = _wanted_ones(connection, [market for market in missing if market not in ended], wanted)
    still_open = [page for page in pages if page.closes_at > at]
    return held, held + len(still_open)


def last_synced_at(connection: Connection, source: VenueSource) -> datetime | None:
    """When a venue was last read."""
    last = select(func.max(SyncRow.at)).where(SyncRow.venue == source.venue)
    return connection.execute(last).scalar_one_or_none()


def markets_gone_since(connection: Connection, since: datetime) -> list[MarketId]:
    """Markets that lost their price since then, have none again, and of which no end is known."""
    last = select(SightingRow.market_id, func.max(SyncRow.at).label("at")).select_from(SIGHTINGS)
    newest = last.group_by(SightingRow.market_id).subquery()
    same = (SightingRow.market_id == newest.c.market_id) & (SyncRow.at == newest.c.at)
    rows = select(SightingRow.market_id).select_from(SIGHTINGS.join(newest, clause(same)))
    ended = select(ResolutionRow.market_id)
    gone = (SightingRow.quoted == 0, SyncRow.at >= since, col(SightingRow.market_id).not_in(ended))
    return sorted(MarketId(market) for market in connection.scalars(rows.where(*gone)))


def _add_sync(
    connection: Connection,
    source: VenueSource,
    at: datetime,
    seen: Mapping[MarketId, str],
    before: Set[str],
    last: Row[Any] | None,
    told: Mapping[str, object],
) -> tuple[int, str]:
    """The sync, and where its markets with a price differ from those before; its number and hash."""
    turned = {market: int(market in seen) for market in sorted(seen.keys() ^ before)}
    number, previous = (1, "") if last is None else (last.number + 1, last.hash)
    fact = {"venue": source.venue, "stamp": source.stamp, "number": number, "at": at, "markets": len(seen)}
    fact |= {"seen": plain_digest(seen)}
    sealed = digest(fact | {"previous": previous, "sightings": turned})
    sync_id = insert_one(connection, SyncRow.__table__, **fact, **told, hash=sealed)
    lines = [(sync_id, market, quoted) for market, quoted in turned.items()]
    insert_lines(connection, SightingRow.__table__, ("sync_id", "market_id", "quoted"), lines)
    add_head(connection, at, {"sync": [[source.venue, number, sealed]]})
    return number, sealed


def quoted_markets(connection: Connection, venue: str, number: int | None = None) -> set[str]:
    """The markets that had a price at a venue's sync of this number, or when it was last read."""
    last = select(SightingRow.market_id, func.max(SyncRow.number).label("number")).select_from(SIGHTINGS)
    until = (SyncRow.venue == venue, number is None or SyncRow.number <= number)
    newest = last.where(*until).group_by(SightingRow.market_id).subquery()
    same = (SightingRow.market_id == newest.c.market_id) & (SyncRow.number == newest.c.number)
    rows = select(SightingRow.market_id).select_from(SIGHTINGS.join(newest, clause(same)))
    return set(connection.scalars(rows.where(SyncRow.venue == venue, SightingRow.quoted == 1)))
