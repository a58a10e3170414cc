"""`arena run`: runs until it is stopped, and reports in lines or as a live status in a terminal."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TextIO

import typer
from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from arena.cli.options import Options, clock_opener, clock_option
from arena.cli.output import (
    attributes,
    command_line,
    interruptible,
    minute_text,
    plain,
    print_json,
    prints_to_stderr,
    with_record_options,
)
from arena.cli.page import print_page
from arena.clock import Clock
from arena.cohorts.freeze import check_keys
from arena.config import Config, environment
from arena.errors import ArenaError, count_text
from arena.operations.progress import RunEvent, RunProgress
from arena.operations.run import Run, run_as_process
from arena.operations.service import wait_to_open
from arena.record.model.reservation import midnight
from arena.record.queries.operations import RunFigures
from arena.record.record import Record
from markets.garbage_collection import gc_seldom
from markets.millionths import ONE

JOBS_WITHOUT_FIGURES = ("quotes", "catalogue", "verify", "backup", "retention")
"""The jobs that change no figure of the status."""


@dataclass(frozen=True, slots=True)
class LogChoice:
    """How `arena run` reports: as lines of text or of JSON, and how much."""

    form: str = "auto"
    quiet: bool = False
    verbose: bool = False


def run_season(
    chosen: Options,
    once: bool,
    clock: Path | None,
    log: LogChoice,
    baselines: bool,
    leave_failed: bool,
) -> None:
    """Run the arena, report what it does, and print a summary at the end.

    Raise `typer.Exit` with status 2 if something failed or is left, 130 if it was stopped at once.
    """
    open_clock = clock_opener(clock)
    config = chosen.load_to_play(os.environ)
    if clock is not None and chosen.database is None:
        message = "a rehearsal would write to this arena's own record"
        raise ArenaError("no_database", message, "give it its own record: --database rehearsal.db")

    with opened_log(log, chosen.json, clock_option(clock)) as opened, prints_to_stderr():
        ended_run = play(config, once, open_clock, opened, baselines, leave_failed)

    progress = ended_run.progress
    if chosen.json:
        print_json(attributes(progress, "rounds", "turns", "jobs", "failed", "left"))
    elif not log.quiet:
        stopped_early = progress.gave_up or not progress.rounds
        next_command = f"status{clock_option(clock)}" if stopped_early else "board"
        summary = with_record_options(progress.summary(), clock_option(clock))
        print_page([f"Stopped: {summary}.", f"Next: {command_line(next_command)}"])

    stop = ended_run.stop
    if stop.hurry.is_set():  # a second Ctrl-C
        raise typer.Exit(130)
    is_incomplete = progress.failed or progress.left or stop.asked.is_set()
    if progress.gave_up or (once and is_incomplete):
        raise typer.Exit(2)


def play(
    config: Config,
    once: bool,
    open_clock: Callable[[], Clock],
    log: "RunLog",
    baselines: bool = False,
    leave_failed: bool = False,
) -> Run:
    """Run the arena until it is over or stopped, and return the run."""
    # Started by hand, wait for a record that can't be reached; cron will start it again anyway.
    errors_to_wait_for = () if once else ("unreachable",)
    print_message = partial(print, file=sys.stderr, flush=True)

    with (
        closing(
            wait_to_open(partial(Record.open, config.database), print_message, *errors_to_wait_for)
        ) as record,
        interruptible("stopped at once; finished work is kept", "the next start continues"),
        gc_seldom(),
    ):
        run = Run(config, record, open_clock, log.report, once, baselines, leave_failed)
        log.watch(run.progress, record)
        if not baselines and not wait_to_open(record.cohorts, print_message, *errors_to_wait_for):
            check_keys(config, environment(config.folder, os.environ))
        asyncio.run(run_as_process(run, os.environ))
    return run


@dataclass
class LineLog:
    """One line for each event, on a stream; `clock` is the option that names a rehearsal's clock."""

    stream: TextIO
    as_json: bool
    quiet: bool
    verbose: bool = False
    clock: str = ""

    def watch(self, progress: RunProgress, record: Record) -> None:
        """Do nothing: a line needs nothing but its event."""

    def report(self, event: RunEvent) -> None:
        """Write an event as a line, without control characters."""
        is_wanted = self.verbose or self.as_json or not event.routine
        is_shown = is_wanted and not self.quiet
        if not event.is_trouble and not is_shown:
            return

        line = event_line(event, self.clock)
        if self.as_json:
            line = json.dumps(event.as_data(), ensure_ascii=True)
        print(line, file=self.stream, flush=True)


@dataclass
class LiveStatus:
    """Lines of events in a terminal, with the live status below them; `clock` is as in `LineLog`."""

    screen: Live
    verbose: bool = False
    clock: str = ""
    progress: RunProgress = field(default_factory=RunProgress)
    record: Record | None = None
    figures: RunFigures = field(default_factory=RunFigures)

    def watch(self, progress: RunProgress, record: Record) -> None:
        """Show the status of this run."""
        self.progress = progress
        self.record = record

    def report(self, event: RunEvent) -> None:
        """Write a line above the status, and refresh the figures that may have changed."""
        if self.verbose or not event.routine:
            self.screen.console.print(Text(event_line(event, self.clock)))
        if self.record is not None and event.data.get("name") not in JOBS_WITHOUT_FIGURES:
            # A record that can't be reached is reported elsewhere; keep the last figures.
            with suppress(ArenaError):
                self.figures = self.record.figures(midnight(event.at))

    def __rich__(self) -> RenderableType:
        """Return the status, as rich draws it."""
        return status_table(self.progress, self.figures)


RunLog = LineLog | LiveStatus


def event_line(event: RunEvent, clock: str) -> str:
    """Return an event as a line of text, whose commands name the same record, config and clock."""
    return f"{event.at:%Y-%m-%d %H:%M:%S} {with_record_options(plain(event.words), clock)}"


def status_table(progress: RunProgress, figures: RunFigures) -> Table:
    """Return the status of a run as a table of two columns."""
    doing = "starting"
    next_round = "–"
    if progress.now is not None:
        doing = f"{minute_text(progress.now)} UTC, {progress.doing or 'waiting'}"
        next_round = "none to come"

    next_job = next_round
    if progress.next_round is not None:
        next_round = f"{minute_text(progress.next_round)} UTC"
    if progress.next_job is not None:
        name, at = progress.next_job
        next_job = f"{name} at {minute_text(at)} UTC"

    positions = count_text(figures.positions, "position")
    rows = [
        ("now", doing),
        ("next round", next_round),
        ("next job", next_job),
        ("last round", plain(progress.last_round) or "none yet"),
        ("spent today", f"${figures.spent / ONE:,.2f}"),
        ("held", f"{positions}, {figures.stale:,} of them at stale prices"),
    ]
    if progress.alone:
        rows.append(("workers", "none running: turns are played here"))
    rows.append(("done", progress.summary()))
    rows += [("went wrong", plain(error)) for error in progress.errors]

    table = Table.grid(padding=(0, 2))
    for label, text in rows:
        table.add_row(Text(label, style="bold"), Text(text))
    return table


@contextmanager
def opened_log(choice: LogChoice, prints_json: bool, clock: str = "") -> Iterator[RunLog]:
    """Yield a live status in a terminal, or a log of lines if those are wanted or there is no terminal.

    Lines go to standard output, or to standard error if the answer is JSON.
    """
    wants_lines = choice.form != "auto" or choice.quiet or prints_json
    if sys.stdout.isatty() and not wants_lines:
        # Ctrl-C is left to the run.
        live = Live(console=Console(), refresh_per_second=2, redirect_stdout=False, redirect_stderr=True)
        with live as screen:
            status = LiveStatus(screen, choice.verbose, clock)
            screen.update(status)
            yield status
    else:
        stream = sys.stderr if prints_json else sys.stdout
        yield LineLog(stream, choice.form == "json", choice.quiet, choice.verbose, clock)
