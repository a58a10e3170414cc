"""Turns played by workers: `arena run` delivers them and waits until they are in."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from arena.store.queue import TurnJob, deliver, open_queue, rescue, still_open
from arena.store.read import StoredCohort, StoredRound
from arena.world import Crew, Missing

FIRST_LOOK, LAST_LOOK = 0.02, 0.5
"""Seconds between two looks at what is in: at first, and once it takes long."""
RESCUE = 5.0
"""Seconds of waiting between two rescues of jobs whose workers went silent."""


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
            pause, waited = FIRST_LOOK, 0.0
            while await still_open(app, jobs) or missing():
                await asyncio.sleep(pause)
                pause, waited = min(1.5 * pause, LAST_LOOK), waited + pause
                if waited >= RESCUE:
                    waited, left = 0.0, missing()
                    await rescue(app)
                    await deliver(app, [job for job in jobs if job.agent in left])

        yield crew
