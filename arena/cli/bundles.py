"""Bundles of market data: written from the record or from a venue's past, and checked."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from arena.cli.options import Options
from arena.cli.output import (
    attributes,
    counts_text,
    interruptible,
    prints_to_stderr,
    program,
    progress,
    run_async,
    stages,
)
from arena.cli.page import Page
from arena.cli.sync import sync_venue
from arena.cli.table import Table, TableColumn
from arena.clock import now
from arena.errors import ArenaError, count_text
from arena.record.files.recording import read_sightings
from arena.rounds.adapters import open_past
from arena.rounds.settlement import venue_error
from markets.bundle import BundleReport, WriteCounts, check, write
from markets.history import PastSummary, collect
from markets.past import PastRequest
from markets.venue import QuarantinedRecord, VenueError
from markets.venues.wire.fields import is_name

MISTAKES = (
    TableColumn("file", narrow="wrap"),
    TableColumn("line", value=lambda mistake: mistake.line or None),
    TableColumn("wrong", "found", narrow="wrap"),
    TableColumn("meant", "expected", narrow="wrap"),
)
MOST_NAMED = 10
"""The number of rejected records named on the page."""
Rejected = Sequence[QuarantinedRecord]


def check_bundle(chosen: Options, folder: Path) -> None:
    """Print what is in a bundle and its mistakes; exit with status 1 if there are any."""
    report = check(folder)
    chosen.print_answer({"bundle": folder, "ok": report.ok} | asdict(report), check_page, folder, report)
    if not report.ok:
        raise typer.Exit(1)


def check_page(folder: Path, report: BundleReport) -> Page:
    """Yield the counts of a valid bundle, or the mistakes of another."""
    if not report.ok:
        yield Table(MISTAKES, report.mistakes)
        listed = len(report.mistakes)
        shown = f", the first {listed} of them above" if report.wrong > listed else ""
        yield f"{count_text(report.wrong, 'mistake')} in {folder}{shown}. Fix all of them before using it."
        return

    if report.warnings:
        yield Table(MISTAKES, report.warnings, "Times that can't be right")
    summary = (
        f"{folder} is valid: {report.markets:,} markets in {report.events:,} events, "
        f"{report.prices:,} prices, {report.books:,} books, {report.resolutions:,} resolutions"
    )
    if report.last:
        summary += f", from {report.first:%Y-%m-%d} to {report.last:%Y-%m-%d}"
    yield f"{summary}."
    yield f"Next: {program()} study replay {folder}"


def write_recorded(
    chosen: Options, folder: Path, since: datetime, until: datetime | None, fresh: bool
) -> None:
    """Write to a bundle what the record has seen between two times, and print how much was added.

    `until` is by default now. If `fresh`, the venue is read first. Raise `typer.Exit` with status 2 if the
    bundle can't hold some records.
    """
    rejected: list[QuarantinedRecord] = []
    if fresh:
        rejected += sync_venue(chosen.load_if_trusted()).quarantined
    try:
        with chosen.reading() as connection, progress("Reading the record") as report_progress:
            sightings = read_sightings(connection, since, until or now(), report_progress)
            counts_written = write(folder, sightings, rejected.append)
    except VenueError as error:
        raise venue_error(error) from error

    data = {"bundle": folder} | asdict(counts_written) | {"left_out": rejected_data(rejected)}
    chosen.print_answer(data, recorded_page, folder, counts_written, rejected)
    if rejected:
        raise typer.Exit(2)


def recorded_page(folder: Path, added: WriteCounts, rejected: Rejected) -> Page:
    """Yield the counts added to a bundle, and the records that it can't hold."""
    counts = f"{added.pages:,} pages, {added.prices:,} prices, {added.resolutions:,} resolutions"
    yield f"{folder}: {counts} added"
    yield from rejected_lines(rejected)
    yield f"Next: {program()} check {folder}"


def write_past(chosen: Options, folder: Path, venue: str, request: PastRequest) -> None:
    """Write a venue's past to a bundle, and print how much there is.

    Raise `typer.Exit` with status 2 if the venue sent records that can't be used.
    """
    if request.since >= request.until:
        message = f"{request.since:%Y-%m-%d} to {request.until:%Y-%m-%d} is an empty period"
        raise ArenaError("no_time", message, "--since is a day before --until, and both are past")

    config = chosen.load_if_trusted() if chosen.has_config else None
    rejected: list[QuarantinedRecord] = []
    opened = open_past(config, venue, rejected.append)
    hint = "the same command continues it"
    try:
        with (
            prints_to_stderr(),
            interruptible("stopped; what was read is kept", hint),
            stages() as report_stage,
        ):
            summary = run_async(collect(venue, opened, request, folder, report_stage, rejected.append))
    except VenueError as error:
        raise venue_error(error) from error

    data = {"bundle": folder, "venue": venue} | attributes(request, "since", "until")
    data |= asdict(summary) | {"rejected": rejected_data(rejected)}
    data["left_out"] = dict(summary.left_out)  # asdict would turn a Counter into counts of its pairs
    chosen.print_answer(data, past_page, folder, summary, rejected)
    if rejected:
        raise typer.Exit(2)


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without duplicates; raise `ArenaError` for one that can't be part of an address."""
    for name in names:
        if not is_name(name):
            hint = "a name has only letters, digits, . _ and -; it is the last part of the market's address"
            raise ArenaError("bad_name", f"{name[:80]!r} is no market, event or tag name", hint)

    return tuple(dict.fromkeys(names))  # without duplicates


def past_page(folder: Path, summary: PastSummary, rejected: Rejected) -> Page:
    """Yield the counts of a venue's past in a bundle, the requests made, and what was left out."""
    counts = f"{summary.prices:,} prices, {summary.resolutions:,} resolutions"
    yield f"{folder}: {count_text(summary.markets, 'market')}, {counts}."
    if summary.whole_before:
        yield "  It was already complete; nothing was requested."
    else:
        yield f"  {count_text(summary.asked, 'request')}, {summary.answers_on_disk:,} were on disk"
    if summary.left_out:
        yield f"  left out: {counts_text(dict(sorted(summary.left_out.items())))}"
    yield from rejected_lines(rejected)
    yield f"Next: {program()} study replay {folder}"


def rejected_data(rejected: Rejected) -> list[dict[str, Any]]:
    """Return the records that a bundle can't hold, for JSON."""
    return [attributes(record, "venue", "record", "kind", "code", "reason") for record in rejected]


def rejected_lines(rejected: Rejected) -> Page:
    """Yield the first records that a bundle can't hold, each with the reason."""
    for record in rejected[:MOST_NAMED]:
        yield f"  left out: {record.venue}:{record.record}: {record.reason}"
    if len(rejected) > MOST_NAMED:
        yield f"  and {len(rejected) - MOST_NAMED:,} more; --json lists them all"
