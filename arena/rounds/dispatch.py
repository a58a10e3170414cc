"""Turns played by workers: `arena run` delivers them and waits until they are in, or no worker is running."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from arena.clock import timer
from arena.record.model.lease import Watch
from arena.record.queries.cohorts import StoredCohort, StoredRound
from arena.record.write.turn_queue import (
    TurnJob,
    enqueue_turns,
    has_workers,
    open_locks,
    open_queue,
    requeue_stalled,
    translated_queue_errors,
)
from arena.rounds.world import Dispatch, MissingTurns

FIRST_LOOK = 0.02
LAST_LOOK = 0.5
"""Seconds between two looks at which turns are in: at first, and once it takes long."""
REQUEUE_EVERY = 5.0
"""Seconds of waiting between two rescues of jobs whose workers went silent."""
LONGEST_SILENCE = 60.0
"""Seconds that a turn waits for workers of which nothing is heard."""

OnAlone = Callable[[bool], None]
"""Called with True when turns are played without workers from now on, with False when workers are back."""


@asynccontextmanager
async def dispatch_to_workers(
    database: str,
    version: str,
    on_change: OnAlone,
) -> AsyncIterator[Dispatch]:
    """Open the queue of a record, and yield what has its workers play turns for this version of the code."""
    async with open_queue(database) as app:
        watch = Watch()
        presence = WorkerPresence(partial(has_workers, app, watch), on_change)
        yield partial(_play_turns, app, version, presence)


async def _play_turns(
    app: Any,
    version: str,
    presence: "WorkerPresence",
    stored: StoredCohort,
    stored_round: StoredRound,
    names: Sequence[str],
    missing: MissingTurns,
    again: bool,
) -> Collection[str]:
    """Wait until workers have played the turns of these agents; return those left for want of workers."""
    jobs = [
        TurnJob(
            cohort=stored.cohort.number, round=stored_round.number, agent=name, version=version, again=again
        )
        for name in names
    ]

    with translated_queue_errors():
        presence.heard_at = timer()  # workers have from now on to give a sign
        if await presence.alone():
            return names

        await enqueue_turns(app, jobs)
        pause = FIRST_LOOK
        waited = 0.0
        while True:
            open_jobs = await open_locks(app, jobs)
            if not open_jobs and not missing():
                return ()

            await asyncio.sleep(pause)
            waited += pause
            pause = min(1.5 * pause, LAST_LOOK)
            if waited < REQUEUE_EVERY:
                continue

            # Jobs whose workers went silent are delivered again, unless no worker is there to take them.
            waited = 0.0
            left = missing()
            if await presence.alone():
                return [job.agent for job in jobs if job.lock in open_jobs or job.agent in left]

            await requeue_stalled(app)
            await enqueue_turns(app, [job for job in jobs if job.agent in left])


@dataclass
class WorkerPresence:
    """Whether workers are running. After a wait in vain no turn waits before a worker is heard of again."""

    has_workers: Callable[[], Awaitable[bool]]
    on_change: OnAlone
    heard_at: float = field(default_factory=timer)
    absent: bool = False

    async def alone(self) -> bool:
        """Return whether turns are to be played without workers."""
        before = self.absent
        if await self.has_workers():
            self.heard_at = timer()
            self.absent = False
        elif timer() - self.heard_at >= LONGEST_SILENCE:
            self.absent = True

        if self.absent != before:
            self.on_change(self.absent)
        return self.absent
