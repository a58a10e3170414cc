"""`arena markets record`: what the record has seen, as a bundle that can be replayed."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import DAY, ConfigFile, Database, Json, options
from arena.cli.output import print_json, program, progress

if TYPE_CHECKING:
    from markets.bundle import WriteCounts
    from markets.venue import QuarantinedRecord

BEGINNING = datetime.min.replace(tzinfo=UTC)


def record_markets(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The bundle's folder; a new one is made.")],
    since: Annotated[
        datetime | None, typer.Option(formats=DAY, help="Only what was seen from this day on.")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=DAY, help="Only what was seen before this day.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Read the venue first, as markets sync does.")
    ] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Write what the record has seen of its markets to a bundle: pages, prices, books, and how they ended.

    A bundle is a folder of plain files that anyone can replay. Done again, only what is new is
    added. What the form can't hold is left out and told of; the exit status is then 2.

    Example: arena markets record recordings/spring --since 2026-03-01

    Next: arena markets check recordings/spring, then arena replay recordings/spring
    """
    from arena.clock import now

    chosen = options(context, config, database)
    quarantined: list[QuarantinedRecord] = []
    if fresh:
        from arena.cli.markets_sync import read_venue

        quarantined += read_venue(chosen.load()).quarantined
    first = BEGINNING if since is None else since.replace(tzinfo=UTC)
    last = now() if until is None else until.replace(tzinfo=UTC)
    written = write_bundle(chosen.record(), folder, first, last, quarantined)
    if as_json:
        print_json(as_dict(folder, written, quarantined))
    else:
        say(folder, written, quarantined)
    if quarantined:
        raise typer.Exit(2)


def write_bundle(
    database: str, folder: Path, since: datetime, until: datetime, quarantined: "list[QuarantinedRecord]"
) -> "WriteCounts":
    """What a record has seen in a stretch of time, added to a bundle."""
    from arena.record.files.recording import read_sightings
    from arena.record.schema.database import connect, reading
    from arena.rounds.round import venue_error
    from markets.bundle import write
    from markets.venue import VenueError

    engine = connect(database, read_only=True)
    try:
        with reading(engine) as connection, progress("Reading the record, day by day", None) as moved:
            return write(folder, read_sightings(connection, since, until, moved), quarantined.append)
    except VenueError as error:
        raise venue_error(error) from error
    finally:
        engine.dispose()


def as_dict(folder: Path, written: "WriteCounts", quarantined: "list[QuarantinedRecord]") -> dict[str, Any]:
    """For JSON."""
    from dataclasses import asdict

    left_out = [
        {"venue": x.venue, "record": x.record, "kind": x.kind, "code": x.code, "reason": x.reason}
        for x in quarantined
    ]
    return {"bundle": str(folder)} | asdict(written) | {"left_out": left_out}


def say(folder: Path, written: "WriteCounts", quarantined: "list[QuarantinedRecord]") -> None:
    """In words."""
    parts = (f"{written.pages:,} pages", f"{written.prices:,} prices", f"{written.resolutions:,} resolutions")
    print(f"{folder}: {', '.join(parts)} added")
    for aside in quarantined[:10]:
        print(f"  left out: {aside.venue}:{aside.record}: {aside.reason}")
    if len(quarantined) > 10:
        print(f"  and {len(quarantined) - 10:,} more; --json lists them all")
    print(f"Next: {program()} markets check {folder}")
