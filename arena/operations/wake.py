"""How `arena run` wakes when something may be due: by APScheduler, or at once on a pretended clock.

Both take their times from the same triggers. Neither decides what to do: `arena run` then looks what is due.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from arena.clock import PretendedClock
from arena.cohorts.schedule import Schedule, next_of, next_time, trigger

LONGEST_SLEEP = timedelta(minutes=1)
"""The longest wait: clocks are set, machines are put to sleep, and others write to the record meanwhile."""


async def any_of(*events: asyncio.Event, within: timedelta | None = None) -> bool:
    """Wait for the first of some events; return whether one was set in time."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    seconds = None if within is None else within.total_seconds()

    try:
        done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for task in waits:
            task.cancel()


class Wake(Protocol):
    """The way in which a run that has nothing to do waits."""

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        """Wait for the first time of any schedule after now, or less: the run looks again what is due."""
        ...

    def close(self) -> None:
        """Close what the waits have opened."""
        ...


class SimulatedWake:
    """A wake that sets a pretended clock to the next time at once."""

    def __init__(self, clock: PretendedClock):
        self.clock = clock

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        """Set the clock to the first time of any schedule after now, if there is one."""
        at = next_of(schedules, now)
        if at is not None:
            await self.clock.sleep_until(at, stop)

    def close(self) -> None:
        """Do nothing: no wait has opened anything."""


class SchedulerWake:
    """A wake by APScheduler, with one job for each schedule that does nothing but wake."""

    def __init__(self) -> None:
        self.woken = asyncio.Event()
        self.scheduler: Any = None

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        """Wait until a schedule is due or `stop` is set, at most a minute; start the scheduler if needed.

        No time since `now` is lost: a new job whose time is past runs at once, the others have woken already.
        """
        if self.scheduler is None:
            from apscheduler.schedulers.asyncio import AsyncIOScheduler

            self.scheduler = AsyncIOScheduler(timezone=UTC)
            self.scheduler.start()

        keep_jobs(self.scheduler, schedules, now, self.wake)
        is_set = await any_of(self.woken, stop, within=LONGEST_SLEEP)
        self.woken.clear()
        if not is_set:
            self.scheduler.wakeup()  # it reads the clock again, which may have been set

    async def wake(self) -> None:
        """End the wait: every job of the scheduler calls this."""
        self.woken.set()

    def close(self) -> None:
        """Stop the scheduler."""
        if self.scheduler is not None:
            self.scheduler.shutdown(wait=False)


def keep_jobs(
    scheduler: Any, schedules: Mapping[str, Schedule], now: datetime, wake: Callable[[], Awaitable[None]]
) -> None:
    """Give a scheduler one job for each schedule, from now on, and remove the jobs of earlier schedules."""
    triggers = {name: trigger(schedule) for name, schedule in schedules.items()}

    for job in scheduler.get_jobs():
        if job.trigger is triggers.get(job.id):
            del triggers[job.id]
        else:
            job.remove()

    for name, new_trigger in triggers.items():
        at = next_time(schedules[name], now)
        if at is not None:
            scheduler.add_job(
                wake, new_trigger, id=name, next_run_time=at, coalesce=True, misfire_grace_time=None
            )
