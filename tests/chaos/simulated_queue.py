"""The queue of turns between schedulers and workers, in memory and under the seed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from arena.cohorts.freeze import code_version
from arena.config import Config
from arena.errors import ArenaError
from arena.record.write.turn_queue import PlayTurn, TurnJob
from arena.rounds.world import Dispatch, MissingTurns
from tests.chaos.record_reads import Broken

LOOKS = 40
"""How often a scheduler looks whether its turns are in, before it plays the rest itself."""
LOOKS_BEFORE_REDELIVERY = 10


@dataclass
class Queue:
    """Brings turns to workers: in any order, sometimes twice, and not while its server is away."""

    chance: Random
    jobs: list[TurnJob] = field(default_factory=list)
    away: bool = False

    @asynccontextmanager
    async def open(self, _database: str) -> AsyncIterator[list[str]]:
        """Open a connection, which can be worked on once, as that of the library."""
        if self.away:
            raise ArenaError("unreachable", "the queue is away")
        yield []

    async def work(self, used: list[str], play: PlayTurn, _at_once: int, _grace: float) -> None:
        """Play turns until the server goes away."""
        if used:
            raise Broken("the task is registered already")

        used.append("once")
        async with asyncio.TaskGroup() as group:
            while not self.away:
                if self.jobs:
                    job = self.jobs.pop(self.chance.randrange(len(self.jobs)))
                    group.create_task(self._play(play, job))
                await asyncio.sleep(0.5)
        raise ArenaError("unreachable", "the queue is away")

    async def _play(self, play: PlayTurn, job: TurnJob) -> None:
        await play(job)

    @asynccontextmanager
    async def dispatched(
        self, _config: Config, _on_change: Callable[[bool], None]
    ) -> AsyncIterator[Dispatch]:
        """Open what a scheduler delivers turns to; it plays a turn itself that no worker plays for long."""

        async def dispatch(
            stored: Any, stored_round: Any, _names: Sequence[str], missing: MissingTurns, again: bool
        ) -> Collection[str]:
            for look in range(LOOKS):
                left = missing()
                if not left:
                    return ()

                if look % LOOKS_BEFORE_REDELIVERY == 0:
                    cohort = stored.cohort.number
                    for name in left:
                        self.jobs.append(TurnJob(cohort, stored_round.number, name, code_version(), again))
                await asyncio.sleep(1.0)
            return missing()

        yield dispatch
