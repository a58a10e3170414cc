"""Turns played by workers: `arena run` delivers them and waits until they are in."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from arena.store.queue import TurnJob, deliver, open_queue, rescue, still_open
from arena.store.read import StoredCohort, StoredRound
from arena.world import Crew, Missing

LOOK = 0.2
"""Seconds between two looks at what is in."""
LOOKS = 50
"""How many looks lie between two rescues of jobs whose workers went silent."""


@asynccontextmanager
async def hire(database: str, version: str) -> AsyncIterator[Crew]:
    """The workers on a record, for a scheduler of this code version."""
    async with open_queue(database) as app:

        async def crew(
            stored: StoredCohort, round: StoredRound, names: Sequence[str], missing: Missing
        ) -> None:
            place = stored.cohort.number, round.number
            jobs = [TurnJob(*place, name, version) for name in names]
            await deliver(app, jobs)
            looks = 0
            while await still_open(app, jobs) or missing():
                looks += 1
                await asyncio.sleep(LOOK)
                if looks % LOOKS == 0:
                    await rescue(app)
                    left = missing()
                    await deliver(app, [job for job in jobs if job.agent in left])

        yield crew
