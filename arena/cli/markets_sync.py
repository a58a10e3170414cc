"""`arena markets sync`: read the venue's whole catalogue into the record."""

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program, progress

if TYPE_CHECKING:
    from arena.config import Config
    from arena.rounds.sync import VenueSync


def sync(
    context: typer.Context,
    ends: Annotated[
        bool,
        typer.Option("--ends/--no-ends", help="Also ask how markets ended that were played or are gone."),
    ] = True,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When to read it; only for venues that aren't live."),
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Read every open market of the config's venue: pages and prices go to the record as they change.

    It can be done as often as you like, between rounds and while they play: what has not changed takes no
    room. A record of the venue's that makes no sense is rejected with a reason, and the others are kept; the
    exit status is then 2. Where the venue can't be read nothing is kept, and it is 1.

    Example: arena markets sync --config my-arena/config.yaml

    Next: arena markets list
    """
    settings = options(context, config, database).load()
    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        found = read_venue(settings, ends, at)
    if as_json:
        print_json(as_dict(settings, found))
    else:
        say(settings.markets.venue, found)
    if not found.complete:
        raise typer.Exit(2)


def read_venue(config: "Config", ends: bool = True, at: str | None = None) -> "VenueSync":
    """The venue of a config, read into the config's record: now, or at another time if it isn't live."""
    import asyncio

    from arena.cli.options import instant
    from arena.clock import now
    from arena.cohorts.freeze import stamp_of
    from arena.errors import ArenaError
    from arena.record.record import Record
    from arena.record.write.sync import VenueSource
    from arena.rounds.adapters import open_venue
    from arena.rounds.sync import sync_venue
    from markets.venue import QuarantinedRecord

    quarantined: list[QuarantinedRecord] = []
    source = VenueSource(config.markets.venue, stamp_of(config))
    if at is not None and source.stamp == "live":
        message = f"{source.venue} is live: it knows only the present"
        raise ArenaError("live_venue", message, "leave --at out")
    when = now() if at is None else instant(at)

    async def read() -> "VenueSync":
        venue = open_venue(config, report=quarantined.append)
        try:
            with progress(f"Reading {source.venue}", None) as stored:
                return await sync_venue(venue, source, record, when, quarantined, stored, ends)
        finally:
            await venue.close()

    record = Record.open(config.database)
    try:
        return asyncio.run(read())
    finally:
        record.close()


def as_dict(config: "Config", found: "VenueSync") -> dict[str, Any]:
    """A look at a venue for JSON."""
    from collections import Counter

    synced, codes = found.synced, Counter(aside.code for aside in found.quarantined)
    trouble = found.trouble and {"code": found.trouble.code, "message": found.trouble.message}
    return {
        "venue": config.markets.venue,
        "database": config.database,
        "number": synced.number,
        "at": synced.at.isoformat(),
        "markets": synced.markets,
        "new": synced.new,
        "changed": synced.changed,
        "quotes": synced.quotes,
        "unchanged": synced.unchanged,
        "gone": list(synced.gone),
        "resolutions": found.resolutions,
        "set_aside": dict(sorted(codes.items())),
        "trouble": trouble,
        "whole": found.complete,
    }


def say(venue: str, found: "VenueSync") -> None:
    """A look at a venue in words."""
    synced = found.synced
    print(f"{venue} at {synced.at:%Y-%m-%d %H:%M:%S} UTC: {synced.markets:,} markets")
    print(f"  {synced.new:,} new, {synced.changed:,} with a new page, {synced.quotes:,} with a new price, "
          f"{synced.unchanged:,} as before, {len(synced.gone):,} gone")  # fmt: skip
    if found.resolutions:
        print(f"  {found.resolutions:,} have ended or ended otherwise than was said")
    if found.trouble is not None:
        print(f"  how markets ended could not be read: {found.trouble.message}")
    if found.quarantined:
        print(f"  {len(found.quarantined):,} records were rejected: {program()} markets rejected says why")
    print(f"Next: {program()} markets list")
