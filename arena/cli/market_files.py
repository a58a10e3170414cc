"""`arena run --sync`, `record` and `check`: a venue read into the record, and the record as files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from arena.cli.options import DAY, Options, argument, command, flag, instant, option
from arena.cli.output import attributes, prints_aside, program, progress, run_async, typed
from arena.cli.page import print_table
from arena.cli.table import TableColumn
from arena.clock import now
from arena.errors import ArenaError, count_text
from markets.bundle import BundleReport, WriteCounts, check, write
from markets.universe import filter_for
from markets.venue import QuarantinedRecord, VenueError

if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.record import Record
    from arena.record.write.sync import VenueSource
    from arena.rounds.settlement import VenueSync

MISTAKES = (
    TableColumn("file", narrow="wrap"),
    TableColumn("line", value=lambda mistake: mistake.line or None),
    TableColumn("wrong", "found", narrow="wrap"),
    TableColumn("meant", "expected", narrow="wrap"),
)
BEGINNING = datetime.min.replace(tzinfo=UTC)
MINUTE_FORMAT = "%Y-%m-%d %H:%M"


@command()
def sync(
    chosen: Options,
    ends: bool = option("Also ask how markets ended.", "", "--ends/--no-ends", default=True),
    at: str | None = option("As of this time; not for live venues.", "TIME"),
) -> None:
    """Read every open market of the config's venue, and record what has changed.

    A simulated or recorded venue is read as of the season's own time, never later.

    Records that can't be used are rejected with a reason; the exit status is then 2. If the venue can't
    be read, or sends fewer than half of the markets known to be open, nothing is kept.

    Example: arena run --sync --config my-arena/config.yaml

    Next: arena show markets
    """
    settings = chosen.load_if_trusted()
    with prints_aside():
        found = read_venue(settings, ends, at)
    chosen.answer(_as_dict(settings, found), _say, settings.markets.venue, found)
    if not found.complete:
        raise typer.Exit(2)


def read_venue(config: "Config", ends: bool = True, at: str | None = None) -> "VenueSync":
    """The venue of a config, read into the config's record: now, or as its season stands if it isn't live."""
    from arena.cohorts.freeze import stamp_of
    from arena.operations.incidents import note_rejected, note_venue
    from arena.record.record import Record
    from arena.record.write.sync import VenueSource
    from arena.rounds.adapters import open_venue
    from arena.rounds.settlement import sync_venue

    quarantined: list[QuarantinedRecord] = []
    source = VenueSource(config.markets.venue, stamp_of(config))
    if at is not None and source.stamp == "live":
        message = f"{source.venue} is live and has no past"
        raise ArenaError("live_venue", message, "leave --at out")
    within = timedelta(seconds=config.cohorts.corrected_within) if ends else None

    async def read() -> "VenueSync":
        venue = open_venue(config, report=quarantined.append)
        try:
            with progress(f"Reading {source.venue}", None) as stored:
                return await sync_venue(venue, source, record, when, quarantined, stored, within, wanted)
        finally:
            await venue.close()

    with closing(Record.open(config.database)) as record:
        wanted_at = None if at is None else instant(at)
        when = now() if source.stamp == "live" else _time_to_read(config, record, source, wanted_at)
        wanted = filter_for([config.markets.universe], when)
        found = run_async(read())
        note_venue(record, source.venue, when, None)
        note_rejected(record, source.venue, when)
        return found


def _time_to_read(
    config: "Config", record: "Record", source: "VenueSource", wanted: datetime | None
) -> datetime:
    """Return when a venue that isn't live is read; raise where a round would see its own future."""
    from arena.cohorts.freeze import plan_of
    from arena.record.write.sync import last_synced_at
    from arena.rounds.season import season_time

    begun = record.begun()
    within = timedelta(seconds=config.cohorts.corrected_within)
    season_at = season_time(plan_of(config, now(), begun), record, now(), within)
    if wanted is not None and begun and wanted > season_at:
        message = (
            f"{wanted:{MINUTE_FORMAT}} is later than the season, which stands at {season_at:{MINUTE_FORMAT}}"
        )
        raise ArenaError("too_late", message, "leave --at out, or play on first: arena run --round")
    when = season_at if wanted is None else wanted
    last = record.read(last_synced_at, source)
    if last is not None and last >= when:
        message = f"{source.venue} was already read as of {last:{MINUTE_FORMAT}} UTC"
        hint = f"the season stands at {season_at:{MINUTE_FORMAT}}; arena run --round plays on"
        raise ArenaError("not_newer", message, hint)
    return when


def _as_dict(config: "Config", found: "VenueSync") -> dict[str, Any]:
    codes = Counter(aside.code for aside in found.quarantined)
    names = ("number", "at", "markets", "new", "changed", "quotes", "unchanged", "gone")
    return attributes(found.synced, *names) | {
        "venue": config.markets.venue,
        "database": config.database,
        "left_out": dict(found.left_out),
        "limit": found.limit,
        "resolutions": found.resolutions,
        "set_aside": dict(sorted(codes.items())),
        "trouble": found.trouble and attributes(found.trouble, "code", "message"),
        "whole": found.complete,
    }


def _say(venue: str, found: "VenueSync") -> None:
    synced = found.synced
    print(f"{venue} at {synced.at:%Y-%m-%d %H:%M:%S} UTC: {count_text(synced.markets, 'market')}")
    print(f"  {synced.new:,} new, {synced.changed:,} changed, {synced.quotes:,} with a new price, "
          f"{synced.unchanged:,} unchanged, {len(synced.gone):,} gone")  # fmt: skip
    if words := left_out_words(found.left_out):
        print(f"  {words}")
    if found.note:
        print(f"  {found.note}")
    if found.limit is not None:
        print(f"  only its newest {found.limit:,} records were read: raise `newest` in the config for more")
    if found.resolutions:
        print(f"  {count_text(found.resolutions, 'resolution')} new or corrected")
    if found.trouble is not None:
        print(f"  could not read resolutions: {found.trouble.message}")
    if found.quarantined:
        rejected = count_text(len(found.quarantined), "rejected record")
        print(f"  {rejected}: see {typed('show markets --rejected')}")
    print(f"Next: {typed('show markets')}")


def left_out_words(left_out: Mapping[str, int]) -> str:
    """How many open markets are no question for agents, and why; nothing where there are none."""
    reasons = ", ".join(f"{count:,} {why}" for why, count in left_out.items())
    return f"{count_text(sum(left_out.values()), 'open market')} left out: {reasons}" if left_out else ""


@command()
def record_markets(
    chosen: Options,
    folder: Path = argument("DIR", "The bundle's folder; a new one is made."),
    since: datetime | None = option("Only from this day on.", formats=DAY),
    until: datetime | None = option("Only before this day.", formats=DAY),
    fresh: bool = flag("Read the venue first, as markets sync does."),
) -> None:
    """Write the record's market data to a bundle: pages, prices, books, resolutions.

    A bundle is a folder of plain files that anyone can replay. Running it again adds what is new.
    What a bundle can't hold is listed (exit status 2).

    Example: arena study bundle recordings/spring --since 2026-03-01

    Next: arena check recordings/spring, then arena study replay recordings/spring
    """
    from arena.record.files.recording import read_sightings
    from arena.rounds.settlement import venue_error

    quarantined: list[QuarantinedRecord] = []
    if fresh:
        quarantined += read_venue(chosen.load_if_trusted()).quarantined
    first = BEGINNING if since is None else since.replace(tzinfo=UTC)
    last = now() if until is None else until.replace(tzinfo=UTC)
    try:
        with chosen.reading() as connection, progress("Reading the record") as moved:
            written = write(folder, read_sightings(connection, first, last, moved), quarantined.append)
    except VenueError as error:
        raise venue_error(error) from error
    left_out = [attributes(x, "venue", "record", "kind", "code", "reason") for x in quarantined]
    data = {"bundle": folder} | asdict(written) | {"left_out": left_out}
    chosen.answer(data, _say_record, folder, written, quarantined)
    if quarantined:
        raise typer.Exit(2)


def _say_record(folder: Path, written: WriteCounts, quarantined: list[QuarantinedRecord]) -> None:
    parts = (f"{written.pages:,} pages", f"{written.prices:,} prices", f"{written.resolutions:,} resolutions")
    print(f"{folder}: {', '.join(parts)} added")
    say_rejected(quarantined)
    print(f"Next: {program()} markets check {folder}")


def say_rejected(quarantined: Sequence[QuarantinedRecord]) -> None:
    """The first records that were left out, and why."""
    for aside in quarantined[:10]:
        print(f"  left out: {aside.venue}:{aside.record}: {aside.reason}")
    if len(quarantined) > 10:
        print(f"  and {len(quarantined) - 10:,} more; --json lists them all")


@command(record=False)
def check_bundle(chosen: Options, folder: Path = argument("DIR", "A recording: a bundle's folder.")) -> None:
    """Check a bundle line by line; nothing is changed or imported.

    Mistakes are listed with file, line, what was found and expected. With any, the exit status is 1 and
    no command uses the bundle. An impossible time, such as an end before its market opened, is only a
    warning.

    Example: arena check recordings/spring

    Next: arena study replay recordings/spring
    """
    report = check(folder)
    chosen.answer({"bundle": folder, "ok": report.ok} | asdict(report), _say_check, folder, report)
    if not report.ok:
        raise typer.Exit(1)


def _say_check(folder: Path, report: BundleReport) -> None:
    if report.ok:
        if report.warnings:
            print_table(MISTAKES, report.warnings, "Times that can't be right")
        counted = (f"{report.markets:,} markets in {report.events:,} events", f"{report.prices:,} prices",
                   f"{report.books:,} books", f"{report.resolutions:,} resolutions")  # fmt: skip
        days = f", from {report.first:%Y-%m-%d} to {report.last:%Y-%m-%d}" if report.last else ""
        print(f"{folder} is valid: {', '.join(counted)}{days}.\nNext: {program()} replay {folder}")
        return
    print_table(MISTAKES, report.mistakes)
    some = len(report.mistakes)
    shown = f", the first {some} of them above" if report.wrong > some else ""
    print(f"{count_text(report.wrong, 'mistake')} in {folder}{shown}. Fix all of them before using it.")
