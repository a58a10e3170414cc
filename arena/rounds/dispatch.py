"""Turns played by workers: `arena run` queues them and waits until they are done, or no worker is running."""

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
    agents_of_open_jobs,
    count_open_jobs,
    count_workers,
    enqueue_turns,
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

MOST_TURNS_A_JOB = 20
JOBS_A_WORKER = 4
"""How many jobs a round has for each worker, if its turns suffice: then all are done about together."""

OnAlone = Callable[[bool], None]
"""Called with True when turns are played without workers from now on, with False when workers are back."""


@asynccontextmanager
async def dispatch_to_workers(
    database: str,
    version: str,
    on_change: OnAlone,
) -> AsyncIterator[Dispatch]:
    """Open the queue of a record, and yield a function that has its workers play turns."""
    async with open_queue(database) as app:
        watch = Watch()
        presence = WorkerPresence(partial(count_workers, app, watch), on_change)
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
    round_key = stored.cohort.number, stored_round.number

    async def enqueue(wanted: Collection[str]) -> None:
        """Add those turns of these agents to the queue that are in no job yet."""
        queued = await agents_of_open_jobs(app, *round_key)
        agents = [name for name in names if name in wanted and name not in queued]
        jobs = [
            TurnJob(*round_key, group, version, again) for group in groups_of_turns(agents, presence.workers)
        ]
        if jobs:
            await enqueue_turns(app, jobs)

    with translated_queue_errors():
        presence.heard_at = timer()  # workers have from now on to give a sign
        if await presence.look_whether_alone():
            return names

        await enqueue(frozenset(names))
        pause = FIRST_LOOK
        waited = 0.0
        while True:
            if not await count_open_jobs(app, *round_key) and not missing():
                return ()

            await asyncio.sleep(pause)
            waited += pause
            pause = min(1.5 * pause, LAST_LOOK)
            if waited < REQUEUE_EVERY:
                continue

            # Jobs whose workers went silent are queued again, unless no worker is there to take them.
            waited = 0.0
            unplayed = missing()
            if await presence.look_whether_alone():
                queued = await agents_of_open_jobs(app, *round_key)
                return [name for name in names if name in queued or name in unplayed]

            await requeue_stalled(app)
            await enqueue(unplayed)


def groups_of_turns(names: Sequence[str], workers: int) -> list[tuple[str, ...]]:
    """Group agents into jobs of several turns, with at least some jobs for every worker.

    What a job reads, it reads once for all of its turns.

    >>> groups_of_turns(["a", "b", "c", "d", "e"], 1)
    [('a',), ('b',), ('c',), ('d',), ('e',)]
    >>> groups_of_turns(["a", "b", "c", "d", "e", "f", "g", "h"], 1)
    [('a', 'b'), ('c', 'd'), ('e', 'f'), ('g', 'h')]
    """
    job_count = JOBS_A_WORKER * max(1, workers)
    size = min(MOST_TURNS_A_JOB, len(names) // job_count)
    size = max(1, size)
    return [tuple(names[first : first + size]) for first in range(0, len(names), size)]


@dataclass
class WorkerPresence:
    """How many workers are running. After a wait in vain no turn waits before a worker is heard of again."""

    count_workers: Callable[[], Awaitable[int]]
    on_change: OnAlone
    workers: int = 0
    heard_at: float = field(default_factory=timer)
    absent: bool = False

    async def look_whether_alone(self) -> bool:
        """Count the workers; report a change, and tell whether turns are to be played without workers."""
        was_absent = self.absent
        self.workers = await self.count_workers()
        if self.workers:
            self.heard_at = timer()
            self.absent = False
        elif timer() - self.heard_at >= LONGEST_SILENCE:
            self.absent = True

        if self.absent != was_absent:
            self.on_change(self.absent)
        return self.absent
