"""Reading a venue into the record by hand, outside `arena run`."""

from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta

from arena.cohorts.freeze import plan_of, stamp_of
from arena.config import Config
from arena.errors import ArenaError
from arena.operations.incidents import note_rejected, note_venue
from arena.record.record import Record
from arena.record.write.sync import VenueSource, last_synced_at
from arena.rounds.adapters import open_venue
from arena.rounds.season import season_time
from arena.rounds.settlement import VenueSync, sync_venue
from markets.universe import filter_for
from markets.venue import QuarantinedRecord

MINUTE_FORMAT = "%Y-%m-%d %H:%M"


async def read_venue(
    config: Config,
    clock: datetime,
    at: datetime | None,
    with_ends: bool,
    progress: Callable[[int, int], None],
) -> VenueSync:
    """Read the config's venue into its record: as of now if it is live, else as of its season's time.

    Raise `ArenaError` for a past of a live venue, or a time at which a round would see its own future.
    """
    source = VenueSource(config.markets.venue, stamp_of(config))
    if at is not None and source.stamp == "live":
        raise ArenaError("live_venue", f"{source.venue} is live and has no past", "leave --at out")

    corrected_within = timedelta(seconds=config.cohorts.corrected_within)
    with closing(Record.open(config.database)) as record:
        when = clock
        if source.stamp != "live":
            when = _time_to_read(config, record, source, clock, at, corrected_within)
        wanted = filter_for([config.universe], when)

        quarantined: list[QuarantinedRecord] = []
        venue = open_venue(config, report=quarantined.append)
        try:
            ends_within = corrected_within if with_ends else None
            synced = await sync_venue(venue, source, record, when, quarantined, progress, ends_within, wanted)
        finally:
            await venue.close()

        note_venue(record, source.venue, when, None)
        note_rejected(record, source.venue, when)
        return synced


def _time_to_read(
    config: Config,
    record: Record,
    source: VenueSource,
    clock: datetime,
    wanted: datetime | None,
    corrected_within: timedelta,
) -> datetime:
    """Return the time to read a venue that isn't live; raise `ArenaError` if a round would see its future."""
    begun = record.begun()
    season_at = season_time(plan_of(config, clock, begun), record, clock, corrected_within)
    stands = f"stands at {season_at:{MINUTE_FORMAT}}"
    if wanted is not None and begun and wanted > season_at:
        message = f"{wanted:{MINUTE_FORMAT}} is later than the season, which {stands}"
        raise ArenaError("too_late", message, "leave --at out, or play on first: arena run --round")

    when = wanted or season_at
    last = record.read(last_synced_at, source)
    if last is not None and last >= when:
        message = f"{source.venue} was already read as of {last:{MINUTE_FORMAT}} UTC"
        raise ArenaError("not_newer", message, f"the season {stands}; arena run --round plays on")
    return when
