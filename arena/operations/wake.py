"""What wakes `arena run` when something may be due: APScheduler on the real clock, a jump on a pretended one.

Both take their times from the same triggers. Neither decides what is done: the run asks that when it wakes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from arena.clock import PretendedClock
from arena.cohorts.schedule import Schedule, next_time, next_time_of_any, trigger

LONGEST_SLEEP = timedelta(minutes=1)
"""A run wakes at least so often: clocks are set, machines are suspended, others write to the record."""


async def any_of(*events: asyncio.Event, within: timedelta | None = None) -> bool:
    """Wait for the first of some events; return False if none came in time."""
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
        """Wait for the first time of any schedule after `now`, or less: the run asks again what is due."""
        ...

    def close(self) -> None:
        """End what runs for the sake of waiting."""
        ...


class SimulatedWake:
    """Sets a pretended clock to the next time at once."""

    def __init__(self, clock: PretendedClock):
        self.clock = clock

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        """Set the clock to the first time of any schedule after `now`."""
        at = next_time_of_any(schedules, now)
        if at is not None:
            await self.clock.sleep_until(at, stop)

    def close(self) -> None:
        """Do nothing: nothing runs."""


class SchedulerWake:
    """Waits for APScheduler, which has a job for each schedule that only wakes the run."""

    def __init__(self) -> None:
        self.woken = asyncio.Event()
        self.scheduler: Any = None

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        """Wait for the first time of any schedule, until told to stop, or for a minute.

        The first wait starts the scheduler. A time that came since `now` is not missed: a new job runs at
        once, and any other has already set `woken`.
        """
        if self.scheduler is None:
            from apscheduler.schedulers.asyncio import AsyncIOScheduler

            self.scheduler = AsyncIOScheduler(timezone=UTC)
            self.scheduler.start()

        keep_jobs(self.scheduler, schedules, now, self.wake)
        happened = await any_of(self.woken, stop, within=LONGEST_SLEEP)
        self.woken.clear()
        if not happened:
            self.scheduler.wakeup()  # the clock may have been set: the scheduler reads it anew

    async def wake(self) -> None:
        """Wake the run: every job of the scheduler does this."""
        self.woken.set()

    def close(self) -> None:
        """Stop the scheduler."""
        if self.scheduler is not None:
            self.scheduler.shutdown(wait=False)


def keep_jobs(
    scheduler: Any, schedules: Mapping[str, Schedule], now: datetime, wake: Callable[[], Awaitable[None]]
) -> None:
    """Give a scheduler one job for each schedule, from `now` on, and remove the jobs of other schedules."""
    missing = dict(schedules)
    for job in scheduler.get_jobs():
        if job.id in missing and job.trigger is trigger(missing[job.id]):
            del missing[job.id]
        else:
            job.remove()

    for name, schedule in missing.items():
        at = next_time(schedule, now)
        if at is not None:
            scheduler.add_job(
                wake, trigger(schedule), id=name, next_run_time=at, coalesce=True, misfire_grace_time=None
            )
