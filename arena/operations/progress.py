"""What `arena run` reports while it runs, and how it is stopped.

It stops in good order: nothing new is begun, and what is under way has some time to finish.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from arena.calls.rate_limit import RunningCalls
from arena.errors import count_text

MOST_ERRORS = 5
TROUBLES = ("failed", "missed", "superseded", "untold", "alone", "unanswered", "gave_up")
"""The kinds of events that say what went wrong."""


@dataclass(frozen=True, slots=True)
class RunEvent:
    """An event of `arena run`: its time, its kind, its text and its data.

    A `routine` event, such as prices that were read, is of no interest to most readers.
    """

    at: datetime
    kind: str
    words: str
    data: Mapping[str, Any] = field(default_factory=dict)
    routine: bool = False

    @property
    def is_trouble(self) -> bool:
        """Tell whether the event is trouble, which is always reported."""
        return self.kind in TROUBLES

    def as_data(self) -> dict[str, Any]:
        """Return the event for a line of JSON."""
        return {"at": self.at.isoformat(), "event": self.kind, "message": self.words, **self.data}


OnRunEvent = Callable[[RunEvent], None]


@dataclass
class StopRequest:
    """Whether to stop: `asked` in good order, and `hurry` without waiting for anything."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hurry: asyncio.Event = field(default_factory=asyncio.Event)

    def signal(self) -> None:
        """Ask to stop in good order; the second time, at once."""
        if self.asked.is_set():
            self.hurry.set()
        self.asked.set()


@dataclass
class RunProgress:
    """The progress of a run: what it is doing, what it did and will do next, and what went wrong.

    It is `alone` while it plays turns that were meant for workers, because no worker runs. `left` names what
    was due and not done when it ended. It `gave_up` where a season can't go on because models give no answer.
    """

    now: datetime | None = None
    doing: str = ""
    alone: bool = False
    last_round: str = ""
    next_round: datetime | None = None
    next_job: tuple[str, datetime] | None = None
    errors: list[str] = field(default_factory=list)
    rounds: int = 0
    turns: int = 0
    jobs: int = 0
    failed: int = 0
    left: tuple[str, ...] = ()
    gave_up: bool = False

    def trouble(self, message: str) -> None:
        """Count an error; the last few are kept to be shown."""
        self.errors = [*self.errors, message][-MOST_ERRORS:]
        self.failed += 1

    def summary(self) -> str:
        """Return a summary on one line."""
        rounds = count_text(self.rounds, "round")
        turns = count_text(self.turns, "turn")
        jobs = count_text(self.jobs, "job")

        summary = f"{rounds}, {turns}, {jobs} done"
        if self.failed:
            summary += f"; {self.failed:,} failed"
        if self.left:
            summary += f"; left: {', '.join(self.left)}"
        return summary


LAST_WRITES = 1.0
"""Seconds in which the answers that came in last are written to the record."""


async def work_until_stopped(
    work: Coroutine[Any, Any, None], stop: StopRequest, under_way: RunningCalls, grace: float
) -> None:
    """Work until the work is done. When asked to stop, give calls `grace` seconds, then cancel the work.

    Calls have this time also where the work is cancelled from outside because another process leads: they
    are paid for. Nothing is left half done: a call that may have to be paid is recorded as such, and a turn
    is recorded whole or not at all.
    """
    working = asyncio.ensure_future(work)
    asked = asyncio.create_task(stop.asked.wait())
    hurry = asyncio.create_task(stop.hurry.wait())
    quiet = asyncio.create_task(under_way.quiet.wait())

    async def wait_for_answers() -> None:
        under_way.close()
        await asyncio.wait({working, hurry, quiet}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({working, hurry}, timeout=LAST_WRITES, return_when=asyncio.FIRST_COMPLETED)

    try:
        await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            await wait_for_answers()
            working.cancel()
        await working
    except asyncio.CancelledError:
        if not stop.asked.is_set() or not working.done():
            await wait_for_answers()
            raise
    finally:
        for task in (working, asked, hurry, quiet):
            task.cancel()
        await asyncio.gather(working, asked, hurry, quiet, return_exceptions=True)
