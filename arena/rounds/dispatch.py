"""Turns played by workers: `arena run` delivers them and waits until they are in, or no worker is there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

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
)
from arena.rounds.world import Dispatch, MissingTurns

FIRST_LOOK, LAST_LOOK = 0.02, 0.5
"""Seconds between two looks at what is in: at first, and once it takes long."""
REQUEUE_EVERY = 5.0
"""Seconds of waiting between two rescues of jobs whose workers went silent."""
LONGEST_SILENCE = 60.0
"""Seconds that a turn waits for workers of whom nothing is heard."""

OnAlone = Callable[[bool], None]
"""Is told when turns are played without workers from now on, and when they are left to workers again."""


@asynccontextmanager
async def dispatch_to_workers(database: str, version: str, on_change: OnAlone) -> AsyncIterator[Dispatch]:
    """The workers on a record, for a scheduler of this code version."""
    async with open_queue(database) as app:
        watch = WorkerPresence(partial(has_workers, app, Watch()), on_change)

        async def dispatch(
            stored: StoredCohort,
            round: StoredRound,
            names: Sequence[str],
            missing: MissingTurns,
            again: bool,
        ) -> Collection[str]:
            place = stored.cohort.number, round.number
            jobs = [TurnJob(*place, name, version, again) for name in names]
            watch.begin()
            if await watch.alone():
                return names
            await enqueue_turns(app, jobs)
            pause, waited = FIRST_LOOK, 0.0
            while (open_jobs := await open_locks(app, jobs)) or missing():
                await asyncio.sleep(pause)
                pause, waited = min(1.5 * pause, LAST_LOOK), waited + pause
                if waited < REQUEUE_EVERY:
                    continue
                waited, left = 0.0, missing()
                if await watch.alone():
                    return [job.agent for job in jobs if job.lock in open_jobs or job.agent in left]
                await requeue_stalled(app)
                await enqueue_turns(app, [job for job in jobs if job.agent in left])
            return ()

        yield dispatch


@dataclass
class WorkerPresence:
    """Whether workers are running. Once they were waited for in vain, nobody waits before one is heard of."""

    has_workers: Callable[[], Awaitable[bool]]
    on_change: OnAlone
    heard_at: float = field(default_factory=timer)
    absent: bool = False

    def begin(self) -> None:
        """Turns are to be delivered: from now on nothing may be heard for so long."""
        self.heard_at = timer()

    async def alone(self) -> bool:
        """Whether turns are to be played without workers."""
        before = self.absent
        if await self.has_workers():
            self.heard_at, self.absent = timer(), False
        elif timer() - self.heard_at >= LONGEST_SILENCE:
            self.absent = True
        if self.absent != before:
            self.on_change(self.absent)
        return self.absent
