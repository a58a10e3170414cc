"""Looking at a venue between rounds: its catalogue and how markets ended, into the record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.record.queries.cohorts import read_unresolved_markets
from arena.record.record import Record
from arena.record.write.sync import SyncResult, VenueSource, add_catalogue, markets_gone_since
from arena.rounds.settlement import learn_resolutions, venue_error
from markets.venue import (
    EVERY_MARKET,
    Catalogue,
    CatalogueFilter,
    QuarantinedRecord,
    Venue,
    VenueError,
)

ASKED_WITHIN = timedelta(days=60)
"""How long a market that lost its price is asked about, if nobody says how it ended."""


@dataclass(frozen=True, slots=True)
class VenueSync:
    """What a look at a venue brought: its catalogue, how many ends were new, and what was quarantined.

    Of the catalogue also how many open markets were `left_out`, by reason, and the `limit` it stopped at.
    `trouble` is why nothing is known of how markets ended.
    """

    synced: SyncResult
    left_out: Mapping[str, int]
    limit: int | None
    resolutions: int
    quarantined: tuple[QuarantinedRecord, ...]
    trouble: VenueError | None

    @property
    def complete(self) -> bool:
        """Whether all was good that the venue said."""
        return not self.quarantined and self.trouble is None


async def sync_venue(
    venue: Venue,
    source: VenueSource,
    record: Record,
    at: datetime,
    quarantined: list[QuarantinedRecord],
    stored: Callable[[int, int], None] = lambda _done, _of: None,
    within: timedelta | None = None,
    wanted: CatalogueFilter = EVERY_MARKET,
) -> VenueSync:
    """Read what is wanted of a venue's catalogue; unless it is None `within` what time, how markets ended.

    `quarantined` is where the venue reports to. A catalogue that can't be read is an error, and what was
    quarantined until then is kept; ends that can't be read are told of.
    """
    catalogue = await _catalogue(venue, record, at, quarantined, wanted)
    synced = record.write(
        add_catalogue, source, catalogue.listings, at, quarantined, stored, wanted, catalogue.left_out
    )
    before, new, trouble = len(quarantined), 0, None
    if within is not None:
        try:
            new = await sync_resolutions(venue, source, record, at, within)
        except VenueError as error:
            trouble = error
        record.quarantine(quarantined[before:], at)
    return VenueSync(synced, catalogue.left_out, catalogue.limit, new, tuple(quarantined), trouble)


async def _catalogue(
    venue: Venue,
    record: Record,
    at: datetime,
    quarantined: list[QuarantinedRecord],
    wanted: CatalogueFilter,
) -> Catalogue:
    try:
        return await venue.catalogue(at, wanted)
    except VenueError as error:
        record.quarantine(quarantined, at)
        raise venue_error(error) from error


async def sync_resolutions(
    venue: Venue, source: VenueSource, record: Record, at: datetime, within: timedelta
) -> int:
    """Ask how markets ended that were played or have lost their price; how many ends were new.

    Of those that have ended it is asked until so long after the last thing that was learnt of them.
    """
    played = record.read(read_unresolved_markets, at - within)
    gone = record.read(markets_gone_since, at - ASKED_WITHIN)
    asked = {*played, *gone}
    answered = await venue.resolutions(at, sorted(asked)) if asked else []
    new = [resolution for resolution in answered if resolution.market_id in asked]
    return record.write(learn_resolutions, new, at, live=source.stamp == "live")
