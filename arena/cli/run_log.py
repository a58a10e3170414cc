"""What `arena run` tells while it runs: lines for people, lines of JSON, or a live status in a terminal."""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TextIO

from arena.cli.output import plain

if TYPE_CHECKING:
    from arena.operations.progress import RunEvent, RunProgress
    from arena.record.record import Record

How = Literal["auto", "text", "json"]
LOUD = ("failed", "missed", "superseded", "untold", "alone")
"""What is told of though it be quiet: what went wrong."""


class RunLog(Protocol):
    """Where a run tells what it does."""

    def watch(self, board: "RunProgress", record: "Record") -> None:
        """What stands behind what will be told."""
        ...

    def told(self, event: "RunEvent") -> None:
        """Something was done, or met with."""
        ...


@dataclass
class LineLog:
    """One line for each event, on a stream."""

    stream: TextIO
    as_json: bool
    quiet: bool
    verbose: bool = False

    def watch(self, board: "RunProgress", record: "Record") -> None:
        """Lines speak for themselves."""

    def told(self, event: "RunEvent") -> None:
        """Write a line; what others wrote is in it without anything that a terminal would obey."""
        shown = self.verbose or self.as_json or not event.routine
        if event.kind in LOUD or (shown and not self.quiet):
            print(self._line(event), file=self.stream, flush=True)

    def _line(self, event: "RunEvent") -> str:
        if self.as_json:
            shape = {"at": event.at.isoformat(), "event": event.kind, "message": event.words, **event.data}
            return json.dumps(shape, ensure_ascii=True)
        return f"{event.at:%Y-%m-%d %H:%M:%S} {plain(event.words)}"


def logger(how: How, quiet: bool, answers: bool, verbose: bool) -> AbstractContextManager[RunLog]:
    """Where to tell. Lines go to standard output, unless that is kept for the answer in JSON."""
    if how == "auto" and not quiet and not answers and sys.stdout.isatty():
        from arena.cli.run_live import live

        return live(verbose)
    return _lines(LineLog(sys.stderr if answers else sys.stdout, how == "json", quiet, verbose))


@contextmanager
def _lines(lines: LineLog) -> Iterator[RunLog]:
    yield lines
