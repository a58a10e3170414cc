"""When the jobs of `arena run` are due. APScheduler's triggers say when; what was done, the record says."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from arena.model import JobState
from arena.timetable import WEEK

if TYPE_CHECKING:
    from arena.config import Cadence
    from arena.config.model import Run

SUNDAY = datetime(1970, 1, 4, tzinfo=UTC)
"""What durations are counted from: days then begin at midnight, weeks on Sundays, wherever one is."""
TICK = timedelta(microseconds=1)
JOBS = ("quotes", "resolutions", "marks", "boards", "scores", "catalogue", "retention", "backup")
"""The jobs, in the order in which they are done where several are due at the same time."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Job:
    """A job of `arena run`: its name, and how often it is due."""

    name: str
    cadence: "Cadence"

    def following(self, at: datetime) -> datetime:
        """The first time after an instant at which it is due."""
        return _fires(self.cadence, at + TICK)

    def latest(self, at: datetime) -> datetime:
        """The last time until an instant at which it was due; the ones before are made up for by it."""
        return self.following(at) - (self.cadence.every or WEEK)


class Trigger(Protocol):
    """What is used of APScheduler's triggers, whose package has no types."""

    def get_next_fire_time(self, previous: None, now: datetime) -> datetime:
        """The first time that isn't before an instant."""
        ...


def jobs(run: "Run") -> list[Job]:
    """The jobs that the config has turned on."""
    return [Job(name, cadence) for name in JOBS if (cadence := getattr(run, name))]


def due(job: Job, last: JobState | None, now: datetime) -> datetime | None:
    """The time for which a job is to be done now, if it is. What was broken off or has failed is due again.

    However often it was missed, it is done once, for the last of those times.
    """
    latest = job.latest(now)
    if last is None or last.ended_at is None:
        return latest
    if last.failures:
        return latest if now >= again_at(last) else None
    return latest if latest > last.due_at else None


def next_time(job: Job, last: JobState | None, now: datetime) -> datetime:
    """When a job that isn't due now will be."""
    return again_at(last) if last is not None and last.failures else job.following(now)


def again_at(last: JobState) -> datetime:
    """When something that has failed is tried again: after pauses that grow."""
    ended = last.ended_at or last.started_at
    return ended + min(FIRST_PAUSE * (1 << min(last.failures - 1, 16)), LONGEST_PAUSE)


def _fires(cadence: "Cadence", at: datetime) -> datetime:
    return _trigger(cadence).get_next_fire_time(None, at).astimezone(UTC)


def _trigger(cadence: "Cadence") -> Trigger:
    """APScheduler's trigger of a cadence: weekdays by name, for its numbers are not cron's, and in UTC."""
    if cadence.weekly is not None:
        from apscheduler.triggers.cron import CronTrigger

        start = cadence.weekly
        hour, minute = start.time.hour, start.time.minute
        weekly: Trigger = CronTrigger(day_of_week=start.weekday, hour=hour, minute=minute, timezone=UTC)
        return weekly
    if cadence.every is None:
        raise ValueError("a job that is turned off is never due")
    from apscheduler.triggers.interval import IntervalTrigger

    length = int(cadence.every.total_seconds())
    regular: Trigger = IntervalTrigger(seconds=length, start_date=SUNDAY, timezone=UTC)
    return regular
