"""Draws repeated: the markets of each live round, from the catalogue that the record has of that time.

A catalogue is a sync: every market that had a price then, with the page and the price known at that time.
Among those that had not ended, the cohort's frozen rule and the round's seed must draw the markets shown.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, func

from arena.cohorts.cohort import seed_for
from arena.record.queries.cohorts import COHORT_ID, StoredCohort, read_cohorts, read_learnt_resolutions
from arena.record.queries.markets import read_listings_as_of
from arena.record.schema.cohort import RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.statements import batches
from arena.record.schema.typed import joined, select
from arena.record.schema.world import PruneRow, SyncRow
from arena.record.write.sync import quoted_markets
from arena.verify.differences import Difference, Differences
from markets.model import Listing, MarketId
from markets.universe import draw

PRUNED = "draws from prices that were let go"
EARLIER = "draws from catalogues that were not kept yet"
UNLISTED = "markets drawn that the venue no longer listed"
ROUNDS = (
    select(RoundRow.number, SnapshotRow.id, SnapshotRow.at, SnapshotRow.taken_at)
    .add_columns(SnapshotRow.catalogue)
    .select_from(joined(RoundRow, SnapshotRow))
    .where(RoundRow.cohort_id == COHORT_ID)
)
Catalogue = tuple[datetime, list[Listing]]
"""The time at which a catalogue was read, and its content."""


def check_draws(
    connection: Connection,
    differences: Differences,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> int:
    """Repeat the draw of every live round and add the differences; return how many came out the same."""
    pruned_before = connection.scalar(select(func.max(PruneRow.older_than)))
    # All cohorts that decide at the same time draw from the same catalogue.
    read_catalogue = lru_cache(maxsize=1)(partial(_read_catalogue, connection))
    rounds = sorted(_live_rounds(connection), key=itemgetter(0))
    same_count = 0
    for done, (at, stored, row) in enumerate(rounds, 1):
        progress(done, len(rounds))
        key = f"cohort {stored.cohort.number}, round {row.number}"
        if not row.catalogue:
            differences.unproved[EARLIER] += 1
            continue

        catalogue = read_catalogue(row.catalogue)
        if catalogue is None:
            why = "a live round is drawn from a sync"
            differences.add(
                Difference("snapshot", key, "catalogue", row.catalogue, "the hash of a sync", why)
            )
            continue
        read_at, listings = catalogue
        if pruned_before is not None and read_at < pruned_before:
            differences.unproved[PRUNED] += 1
            continue

        listings = _still_open(connection, listings, at, row.taken_at)
        seed = seed_for(stored.cohort.seed, "draw", row.number)
        drawn = {listing.market.id for listing in draw(listings, stored.cohort.universe, seed, at)}
        conditions = (SnapshotItemRow.snapshot_id == row.id, SnapshotItemRow.shown == 1)
        shown = set(connection.scalars(select(SnapshotItemRow.market_id).where(*conditions)))
        not_drawn = ", ".join(sorted(shown - drawn))
        if not_drawn:
            why = "the round's seed draws none of these from its catalogue"
            differences.add(Difference("snapshot", key, "shown", not_drawn, "others", why))
        else:
            same_count += 1

        # A market that was drawn may have gone by the time its price was asked for: that proves nothing.
        unlisted_count = len(drawn - shown)
        if unlisted_count:
            differences.unproved[UNLISTED] += unlisted_count
    return same_count


def _live_rounds(connection: Connection) -> list[tuple[datetime, StoredCohort, Any]]:
    """Return the rounds of live cohorts, each with its time and its cohort."""
    rounds = []
    for stored in read_cohorts(connection):
        if stored.cohort.stamp == "live":
            rows = connection.execute(ROUNDS, {"cohort_id": stored.id}).all()
            rounds += [(row.at, stored, row) for row in rows]
    return rounds


def _read_catalogue(connection: Connection, sync_hash: str) -> Catalogue | None:
    """Return the content of the catalogue with this hash; None if there is none."""
    query = select(SyncRow.venue, SyncRow.number, SyncRow.at).where(SyncRow.hash == sync_hash)
    sync = connection.execute(query).first()
    if sync is None:
        return None
    markets = sorted(quoted_markets(connection, sync.venue, sync.number))
    listings: list[Listing] = []
    for batch in batches(markets):
        listings += read_listings_as_of(connection, batch, sync.at)
    return sync.at, listings


def _still_open(
    connection: Connection, listings: Sequence[Listing], at: datetime, drawn_at: datetime
) -> list[Listing]:
    """Return the listings not known, when the round was drawn, to have ended by its time."""
    ids = [listing.market.id for listing in listings]
    ended = set[MarketId]()
    for batch in batches(ids):
        for resolution, learnt_at in read_learnt_resolutions(connection, batch, at):
            if learnt_at <= drawn_at:
                ended.add(resolution.market_id)
    return [listing for listing in listings if listing.market.id not in ended]
