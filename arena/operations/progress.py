"""What `arena run` reports while it runs, and how it is asked to stop.

It stops in good order: it begins nothing new, and gives what is under way some time to end.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from arena.calls.rate_limit import RunningCalls
from arena.errors import count_text

MOST_ERRORS = 5
"""How many of the last errors are shown."""


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something that `arena run` did or that happened to it: when, of what kind, in words, and as data.

    A `routine` event is one that nobody needs to hear of, such as that prices were read.
    """

    at: datetime
    kind: str
    words: str
    data: Mapping[str, Any] = field(default_factory=dict)
    routine: bool = False


OnRunEvent = Callable[[RunEvent], None]


@dataclass
class StopRequest:
    """A request to stop: `asked` is set for a stop in good order, `hurry` for one without any wait."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hurry: asyncio.Event = field(default_factory=asyncio.Event)

    def signal(self) -> None:
        """Ask for a stop in good order; if that was asked for already, for one at once."""
        if self.asked.is_set():
            self.hurry.set()
        self.asked.set()


@dataclass
class RunProgress:
    """The state of a run as it is shown: what it does now, what it did, what comes next, what went wrong.

    A run is `alone` while it plays turns itself because no worker is there to do so. `left` is what was due
    and not done when it ended. It `gave_up` if models gave no answer for too long.
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

    def trouble(self, words: str) -> None:
        """Count a failure, and add it to those that are shown."""
        self.errors = [*self.errors, words][-MOST_ERRORS:]
        self.failed += 1

    def summary(self) -> str:
        """Return in one line how much was done, how much failed, and what is left."""
        counts = {"round": self.rounds, "turn": self.turns, "job": self.jobs}
        line = ", ".join(count_text(count, name) for name, count in counts.items()) + " done"
        if self.failed:
            line += f"; {self.failed:,} failed"
        if self.left:
            line += f"; left: {', '.join(self.left)}"
        return line


LAST_WRITES = 1.0
"""The seconds that turns have to write down the last answers."""


async def work_until_stopped(
    work: Coroutine[Any, Any, None], stop: StopRequest, under_way: RunningCalls, grace: float
) -> None:
    """Work until the work is done or a stop is asked for, which cancels it after `grace` seconds.

    The seconds are for calls to models, which are paid for: their answers are awaited also where the work is
    cancelled from outside because another process leads. Nothing is left half done: a call that may have to
    be paid is recorded as such, and a turn is recorded whole or not at all.
    """
    working = asyncio.ensure_future(work)
    asked = asyncio.create_task(stop.asked.wait())
    hurry = asyncio.create_task(stop.hurry.wait())
    quiet = asyncio.create_task(under_way.quiet.wait())

    async def wait_for_answers() -> None:
        under_way.close()
        ends = {working, hurry, quiet}
        await asyncio.wait(ends, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        ends = {working, hurry}
        await asyncio.wait(ends, timeout=LAST_WRITES, return_when=asyncio.FIRST_COMPLETED)

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
