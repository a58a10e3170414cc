"""Reading a venue into the record: for `arena run --sync`, and before a bundle is written with --fresh."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import typer

from arena.cli.options import Options, given_instant
from arena.cli.output import Data, attributes, left_out_words, prints_aside, progress, run_async, typed
from arena.clock import now
from arena.cohorts.freeze import plan_of, stamp_of
from arena.config import Config
from arena.errors import ArenaError, count_text
from arena.operations.incidents import note_rejected, note_venue
from arena.record.record import Record
from arena.record.write.sync import VenueSource, last_synced_at
from arena.rounds.adapters import open_venue
from arena.rounds.season import season_time
from arena.rounds.settlement import VenueSync, sync_venue
from markets.universe import filter_for
from markets.venue import QuarantinedRecord

MINUTE_FORMAT = "%Y-%m-%d %H:%M"


def sync_markets(chosen: Options, ends: bool = True, at: str | None = None) -> None:
    """Read every open market of the config's venue into its record, and answer with what has changed.

    With `ends` also how markets ended. `at` is a time of a venue that is not live, by default the season's.
    Exits with status 2 where a record was rejected, or where nothing could be learned of the ends.
    """
    config = chosen.load_if_trusted()
    with prints_aside():
        synced = read_venue(config, ends, at)

    chosen.answer(sync_data(config, synced), sync_page)
    if not synced.complete:
        raise typer.Exit(2)


def read_venue(config: Config, ends: bool = True, at: str | None = None) -> VenueSync:
    """Read a venue into the config's record: as of now if it is live, else as of its season's time."""
    quarantined: list[QuarantinedRecord] = []
    source = VenueSource(config.markets.venue, stamp_of(config))
    if at is not None and source.stamp == "live":
        raise ArenaError("live_venue", f"{source.venue} is live and has no past", "leave --at out")

    within = timedelta(seconds=config.cohorts.corrected_within) if ends else None

    async def read() -> VenueSync:
        venue = open_venue(config, report=quarantined.append)
        try:
            with progress(f"Reading {source.venue}", None) as stored:
                return await sync_venue(venue, source, record, when, quarantined, stored, within, wanted)
        finally:
            await venue.close()

    with closing(Record.open(config.database)) as record:
        when = now()
        if source.stamp != "live":
            when = _time_to_read(config, record, source, given_instant(at))
        wanted = filter_for([config.markets.universe], when)

        synced = run_async(read())
        note_venue(record, source.venue, when, None)
        note_rejected(record, source.venue, when)
        return synced


def _time_to_read(config: Config, record: Record, source: VenueSource, wanted: datetime | None) -> datetime:
    """Return when a venue that isn't live is read; raise where a round would see its own future."""
    begun = record.begun()
    within = timedelta(seconds=config.cohorts.corrected_within)
    season_at = season_time(plan_of(config, now(), begun), record, now(), within)
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


def sync_data(config: Config, synced: VenueSync) -> dict[str, Any]:
    """Return what a reading of the config's venue brought, for JSON."""
    codes = Counter(rejected.code for rejected in synced.quarantined)
    names = ("number", "at", "markets", "new", "changed", "quotes", "unchanged", "gone")
    return attributes(synced.synced, *names) | {
        "venue": config.markets.venue,
        "database": config.database,
        "left_out": dict(synced.left_out),
        "limit": synced.limit,
        "note": synced.note,
        "resolutions": synced.resolutions,
        "set_aside": dict(sorted(codes.items())),
        "trouble": synced.trouble and attributes(synced.trouble, "code", "message"),
        "whole": synced.complete,
    }


def sync_page(data: Data) -> Iterator[str]:
    """Yield what was read, what is new, and what could not be used."""
    yield f"{data['venue']} at {data['at']:%Y-%m-%d %H:%M:%S} UTC: {count_text(data['markets'], 'market')}"
    yield (
        f"  {data['new']:,} new, {data['changed']:,} changed, {data['quotes']:,} with a new price, "
        f"{data['unchanged']:,} unchanged, {len(data['gone']):,} gone"
    )

    left_out = left_out_words(data["left_out"])
    if left_out:
        yield f"  {left_out}"
    if data["note"]:
        yield f"  {data['note']}"
    if data["limit"] is not None:
        yield f"  only its newest {data['limit']:,} records were read: raise `newest` in the config for more"

    if data["resolutions"]:
        yield f"  {count_text(data['resolutions'], 'resolution')} new or corrected"
    if data["trouble"]:
        yield f"  could not read resolutions: {data['trouble']['message']}"

    rejected = sum(data["set_aside"].values())
    if rejected:
        yield f"  {count_text(rejected, 'rejected record')}: see {typed('show markets --rejected')}"
    yield f"Next: {typed('show markets')}"
