"""What `arena run` tells while it runs: lines for people, lines of JSON, or a live status in a terminal."""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Literal, TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from arena.cli.output import plain
from arena.errors import ArenaError, count_text
from arena.operations.progress import RunEvent, RunProgress
from arena.record.model.reservation import midnight
from arena.record.queries.operations import RunFigures
from arena.record.record import Record
from markets.millionths import ONE

LOUD = ("failed", "missed", "superseded", "untold", "alone")
"""What is told of though it be quiet: what went wrong."""
PRICES = ("quotes", "catalogue", "backup", "retention")
"""What changes nothing in the figures."""
SHORT = "%Y-%m-%d %H:%M"


@dataclass
class LineLog:
    """One line for each event, on a stream."""

    stream: TextIO
    as_json: bool
    quiet: bool
    verbose: bool = False

    def watch(self, progress: RunProgress, record: Record) -> None:
        """Lines speak for themselves."""

    def told(self, event: RunEvent) -> None:
        """Write a line; what others wrote is in it without anything that a terminal would obey."""
        shown = self.verbose or self.as_json or not event.routine
        if event.kind not in LOUD and (self.quiet or not shown):
            return
        line = _line(event)
        if self.as_json:
            shape = {"at": event.at.isoformat(), "event": event.kind, "message": event.words, **event.data}
            line = json.dumps(shape, ensure_ascii=True)
        print(line, file=self.stream, flush=True)


@dataclass
class LiveStatus:
    """Lines of what was done, and below them how things stand; and what that is made from."""

    screen: Live
    verbose: bool = False
    progress: RunProgress = field(default_factory=RunProgress)
    record: Record | None = None
    figures: RunFigures = field(default_factory=RunFigures)

    def watch(self, progress: RunProgress, record: Record) -> None:
        """Show how this run stands."""
        self.progress, self.record = progress, record

    def told(self, event: RunEvent) -> None:
        """A line above the status, and the status anew."""
        if self.verbose or not event.routine:
            self.screen.console.print(Text(_line(event)))
        if self.record is not None and event.data.get("name") not in PRICES:
            with suppress(ArenaError):  # the record is away, which is told of: the last figures stand
                self.figures = self.record.figures(midnight(event.at))

    def __rich__(self) -> RenderableType:
        """The status."""
        return drawn(self.progress, self.figures)


RunLog = LineLog | LiveStatus


def _line(event: RunEvent) -> str:
    return f"{event.at:%Y-%m-%d %H:%M:%S} {plain(event.words)}"


def drawn(progress: RunProgress, found: RunFigures) -> Table:
    """How a run stands, as a table of two columns."""
    table = Table.grid(padding=(0, 2))
    job, none = progress.next_job, "none to come" if progress.now else "–"
    rows = [
        ("now", f"{progress.now:{SHORT}} UTC, {progress.doing or 'waiting'}" if progress.now else "starting"),
        ("next round", f"{progress.next_round:{SHORT}} UTC" if progress.next_round else none),
        ("next job", f"{job[0]} at {job[1]:{SHORT}} UTC" if job else none),
        ("last round", plain(progress.last_round) or "none yet"),
        ("spent today", f"${found.spent / ONE:,.2f}"),
        ("held", f"{count_text(found.positions, 'position')}, {found.stale:,} of them at stale prices"),
        *([("workers", "none running: turns are played here")] if progress.alone else []),
        ("done", progress.summary()),
        *(("went wrong", plain(words)) for words in progress.errors),
    ]
    for name, words in rows:
        table.add_row(Text(name, style="bold"), Text(words))
    return table


def logger(
    how: Literal["auto", "text", "json"], quiet: bool, answers: bool, verbose: bool
) -> AbstractContextManager[RunLog]:
    """Where to tell. Lines go to standard output, unless that is kept for the answer in JSON."""
    if how == "auto" and not quiet and not answers and sys.stdout.isatty():
        return _live(verbose)
    return nullcontext(LineLog(sys.stderr if answers else sys.stdout, how == "json", quiet, verbose))


@contextmanager
def _live(verbose: bool) -> Iterator[LiveStatus]:
    """The status for as long as the block lasts; a key press of Ctrl-C is left to the run."""
    with Live(console=Console(), refresh_per_second=2, redirect_stdout=False, redirect_stderr=True) as screen:
        status = LiveStatus(screen, verbose)
        screen.update(status)
        yield status
