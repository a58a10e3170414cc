"""What wakes `arena run` when something may be due: APScheduler on the real clock, a walk on a pretended one.

Both have their times from the same triggers. Neither decides on anything: who wakes asks what is due.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from arena.clock import PretendedClock
from arena.cohorts.schedule import Schedule, next_of, next_time, trigger

LONGEST_SLEEP = timedelta(minutes=1)
"""After so long a sleeper looks up: clocks are set, machines are put to sleep, others write the record."""


async def any_of(*events: asyncio.Event, within: timedelta | None = None) -> bool:
    """Wait for the first of some events; False where none came in time."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    seconds = None if within is None else within.total_seconds()
    try:
        done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for task in waits:
            task.cancel()


class Wake(Protocol):
    """What a run that has nothing to do waits for."""

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        """Wait for the first time of any schedule after now, or less: one asks again what is due."""
        ...

    def close(self) -> None:
        """Nobody waits any more."""
        ...


class SimulatedWake:
    """Goes to the next time at once, by the clock that is only pretended."""

    def __init__(self, clock: PretendedClock):
        self.clock = clock

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        """Be there."""
        if (at := next_of(schedules, now)) is not None:
            await self.clock.sleep_until(at, stop)

    def close(self) -> None:
        """Nothing is left behind."""


class SchedulerWake:
    """Waits for APScheduler, which has a job for each schedule that does nothing but wake."""

    def __init__(self) -> None:
        self.woken = asyncio.Event()
        self.scheduler: Any = None

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        """Wait for the scheduler, which is started by the first wait; until told to stop, or for a minute.

        What came up since `now` is not lost: a job that is new runs at once, and any other has woken already.
        """
        if self.scheduler is None:
            from apscheduler.schedulers.asyncio import AsyncIOScheduler

            self.scheduler = AsyncIOScheduler(timezone=UTC)
            self.scheduler.start()
        keep_jobs(self.scheduler, schedules, now, self.wake)
        happened = await any_of(self.woken, stop, within=LONGEST_SLEEP)
        self.woken.clear()
        if not happened:
            self.scheduler.wakeup()  # the clock may have been set: it reads it anew

    async def wake(self) -> None:
        """What every job of the scheduler does."""
        self.woken.set()

    def close(self) -> None:
        """Stop the scheduler."""
        if self.scheduler is not None:
            self.scheduler.shutdown(wait=False)


def keep_jobs(
    scheduler: Any, schedules: Mapping[str, Schedule], now: datetime, wake: Callable[[], Awaitable[None]]
) -> None:
    """Give a scheduler one job for each schedule, from now on, and none for what is no schedule any more."""
    triggers = {name: trigger(schedule) for name, schedule in schedules.items()}
    for job in scheduler.get_jobs():
        if job.trigger is triggers.get(job.id):
            del triggers[job.id]
        else:
            job.remove()
    for name, made in triggers.items():
        if (at := next_time(schedules[name], now)) is not None:
            scheduler.add_job(wake, made, id=name, next_run_time=at, coalesce=True, misfire_grace_time=None)
