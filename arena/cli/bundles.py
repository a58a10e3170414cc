"""Bundles of market data: written from the record or from a venue's past, and checked."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from inspect import signature
from pathlib import Path
from typing import Any

import typer

from arena.cli.options import DEFAULT, Options
from arena.cli.output import (
    Data,
    attributes,
    interruptible,
    prints_aside,
    program,
    progress,
    run_async,
    stages,
)
from arena.cli.page import Block
from arena.cli.sync import read_venue
from arena.cli.table import Table, TableColumn
from arena.clock import now
from arena.errors import ArenaError, count_text
from arena.record.files.recording import read_sightings
from arena.rounds.adapters import unfrozen_settings
from arena.rounds.settlement import venue_error
from markets.bundle import check, write
from markets.history import Open, collect
from markets.past import PastRequest
from markets.registry import UnknownExtension, load
from markets.venue import QuarantinedRecord, VenueError
from markets.venues.wire.fields import is_name

MISTAKES = (
    TableColumn("file", narrow="wrap"),
    TableColumn("line", value=lambda mistake: mistake["line"] or None),
    TableColumn("wrong", "found", narrow="wrap"),
    TableColumn("meant", "expected", narrow="wrap"),
)
MOST_NAMED = 10
"""So many records that a bundle could not take are named on the page."""


def check_bundle(chosen: Options, folder: Path) -> None:
    """Answer with what is in a bundle and the mistakes in it; exit with status 1 if there are any."""
    report = check(folder)
    chosen.answer({"bundle": folder, "ok": report.ok} | asdict(report), check_page)
    if not report.ok:
        raise typer.Exit(1)


def check_page(data: Data) -> Iterator[Block]:
    """Yield how much is in a bundle, or the mistakes that keep it from being used."""
    folder = data["bundle"]
    if not data["ok"]:
        yield Table(MISTAKES, data["mistakes"])
        named = len(data["mistakes"])
        shown = f", the first {named} of them above" if data["wrong"] > named else ""
        yield f"{count_text(data['wrong'], 'mistake')} in {folder}{shown}. Fix all of them before using it."
        return

    if data["warnings"]:
        yield Table(MISTAKES, data["warnings"], "Times that can't be right")
    words = (
        f"{folder} is valid: {data['markets']:,} markets in {data['events']:,} events, "
        f"{data['prices']:,} prices, {data['books']:,} books, {data['resolutions']:,} resolutions"
    )
    if data["last"]:
        words += f", from {data['first']:%Y-%m-%d} to {data['last']:%Y-%m-%d}"
    yield f"{words}."
    yield f"Next: {program()} study replay {folder}"


def write_recorded(
    chosen: Options, folder: Path, since: datetime, until: datetime | None, fresh: bool
) -> None:
    """Write to a bundle what the record has seen between two times, and answer with how much was added.

    Without `until` that is all until now. If `fresh`, the venue is read first. Exits with status 2 where the
    bundle can't hold something.
    """
    quarantined: list[QuarantinedRecord] = []
    if fresh:
        with prints_aside():
            quarantined += read_venue(chosen.load_if_trusted()).quarantined
    last = until or now()
    try:
        with chosen.reading() as connection, progress("Reading the record") as moved:
            sightings = read_sightings(connection, since, last, moved)
            written = write(folder, sightings, quarantined.append)
    except VenueError as error:
        raise venue_error(error) from error

    rejected = rejected_data(quarantined)
    chosen.answer({"bundle": folder} | asdict(written) | {"left_out": rejected}, recorded_page)
    if rejected:
        raise typer.Exit(2)


def recorded_page(data: Data) -> Iterator[str]:
    """Yield how much was added to a bundle, and what it can't hold."""
    counts = f"{data['pages']:,} pages, {data['prices']:,} prices, {data['resolutions']:,} resolutions"
    yield f"{data['bundle']}: {counts} added"
    yield from rejected_lines(data["left_out"])
    yield f"Next: {program()} check {data['bundle']}"


def write_past(chosen: Options, folder: Path, venue: str, request: PastRequest) -> None:
    """Write a venue's past to a bundle, and answer with how much there is.

    Exits with status 2 where the venue sent records that can't be used.
    """
    if request.since >= request.until:
        message = f"{request.since:%Y-%m-%d} to {request.until:%Y-%m-%d} is an empty period"
        raise ArenaError("no_time", message, "--since is a day before --until, and both are past")

    quarantined: list[QuarantinedRecord] = []
    opened = past_of(chosen, venue, quarantined)
    hint = "the same command continues it"
    try:
        with prints_aside(), interruptible("stopped; what was read is kept", hint), stages() as moved:
            summary = run_async(collect(venue, opened, request, folder, moved, quarantined.append))
    except VenueError as error:
        raise venue_error(error) from error

    rejected = rejected_data(quarantined)
    data = {"bundle": folder, "venue": venue, "since": request.since, "until": request.until}
    data |= asdict(summary) | {"left_out": dict(summary.left_out), "rejected": rejected}
    chosen.answer(data, past_page)
    if rejected:
        raise typer.Exit(2)


def names_at_venue(names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names, each once, if a venue may have such: they become parts of addresses."""
    for name in names or ():
        if not is_name(name):
            hint = "a name has only letters, digits, . _ and -; it is the last part of the market's address"
            raise ArenaError("bad_name", f"{name[:80]!r} is no market, event or tag name", hint)
    return tuple(dict.fromkeys(names or ()))


def past_of(chosen: Options, venue: str, quarantined: list[QuarantinedRecord]) -> Open:
    """Return what opens a venue's past, with the settings of the config where it names this venue."""
    config = chosen.load_if_trusted() if chosen.config is not None or DEFAULT.exists() else None
    try:
        module = load("markets.venues", venue, config.extensions("venues") if config else ())
    except UnknownExtension as error:
        hint = "polymarket, kalshi and manifold have one"
        raise ArenaError("no_venue", f"there is no venue {venue!r}", hint) from error
    if "answers" not in signature(module.venue).parameters:
        hint = "polymarket, kalshi and manifold do"
        raise ArenaError("no_history", f"{venue} has no readable history", hint)

    values: dict[str, Any] = {}
    if config and config.markets.venue == venue:
        values = unfrozen_settings(config.venue_settings, config.folder)
    settings = module.Settings.model_validate(values)
    return lambda answers: module.venue(settings, quarantined.append, answers=answers)


def past_page(data: Data) -> Iterator[str]:
    """Yield how much of a venue's past is in a bundle, what was asked for it, and what was left out."""
    counts = f"{data['prices']:,} prices, {data['resolutions']:,} resolutions"
    yield f"{data['bundle']}: {count_text(data['markets'], 'market')}, {counts}."
    if data["whole_before"]:
        yield "  It was already complete; nothing was requested."
    else:
        yield f"  {count_text(data['asked'], 'request')}, {data['answers_on_disk']:,} were on disk"
    if data["left_out"]:
        reasons = ", ".join(f"{count:,} {why}" for why, count in sorted(data["left_out"].items()))
        yield f"  left out: {reasons}"
    yield from rejected_lines(data["rejected"])
    yield f"Next: {program()} study replay {data['bundle']}"


def rejected_data(quarantined: Sequence[QuarantinedRecord]) -> list[dict[str, Any]]:
    """Return records that a bundle could not take, for JSON."""
    return [attributes(record, "venue", "record", "kind", "code", "reason") for record in quarantined]


def rejected_lines(records: Sequence[Data]) -> Iterator[str]:
    """Yield the first records that a bundle could not take, and why."""
    for record in records[:MOST_NAMED]:
        yield f"  left out: {record['venue']}:{record['record']}: {record['reason']}"
    if len(records) > MOST_NAMED:
        yield f"  and {len(records) - MOST_NAMED:,} more; --json lists them all"
