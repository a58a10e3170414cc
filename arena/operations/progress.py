"""What `arena run` reports while it runs, and how it is asked to stop.

It stops in good order: nothing new is begun, and what is under way has some time to end.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from arena.calls.rate_limit import RunningCalls
from arena.errors import count_text

MOST_ERRORS = 5


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something that `arena run` did or met with: when, of what kind, in words, and as data.

    What is `routine` went as ever, such as prices that were read: nobody would tell another.
    """

    at: datetime
    kind: str
    words: str
    data: Mapping[str, Any] = field(default_factory=dict)
    routine: bool = False


OnRunEvent = Callable[[RunEvent], None]


@dataclass
class StopRequest:
    """Whether to stop: `asked` in good order, and `hurry` without waiting for anything."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hurry: asyncio.Event = field(default_factory=asyncio.Event)

    def signal(self) -> None:
        """Told once, it stops in good order; told again, at once."""
        if self.asked.is_set():
            self.hurry.set()
        self.asked.set()


@dataclass
class RunProgress:
    """How a run stands, for those who watch: what it does now, what was and will be, what went wrong.

    It is `alone` while it plays turns that were to be left to workers, for none is there. What was due and
    not done when it ended is `left`. It `gave_up` where a season can't go on, for models give no answer.
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
        """Something went wrong; the last few are shown."""
        self.errors = [*self.errors, words][-MOST_ERRORS:]
        self.failed += 1

    def summary(self) -> str:
        """What was done, in a line."""
        counts = (("round", self.rounds), ("turn", self.turns), ("job", self.jobs))
        done = ", ".join(count_text(count, name) for name, count in counts)
        failed = f"; {self.failed:,} failed" if self.failed else ""
        return f"{done} done{failed}" + (f"; left: {', '.join(self.left)}" if self.left else "")


LAST_WRITES = 1.0
"""The seconds in which answers that came in last are written down."""


async def work_until_stopped(
    work: Coroutine[Any, Any, None], stop: StopRequest, under_way: RunningCalls, grace: float
) -> None:
    """Work until it is over. When told to stop, calls to models have so many seconds; then all is broken off.

    They have them too where the work is broken off from outside, since another leads: they are paid for.
    What is broken off is not half done: a call that may have to be paid is kept so, a turn is whole or not.
    """
    working, asked, hurry, quiet = (
        asyncio.ensure_future(work),
        asyncio.create_task(stop.asked.wait()),
        asyncio.create_task(stop.hurry.wait()),
        asyncio.create_task(under_way.quiet.wait()),
    )

    async def answers_come() -> None:
        under_way.close()
        ends = {working, hurry, quiet}
        await asyncio.wait(ends, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        ends = {working, hurry}
        await asyncio.wait(ends, timeout=LAST_WRITES, return_when=asyncio.FIRST_COMPLETED)

    try:
        await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            await answers_come()
            working.cancel()
        await working
    except asyncio.CancelledError:
        if not stop.asked.is_set() or not working.done():
            await answers_come()
            raise
    finally:
        for task in (working, asked, hurry, quiet):
            task.cancel()
        await asyncio.gather(working, asked, hurry, quiet, return_exceptions=True)
