"""When the jobs of `arena run` are due. APScheduler's triggers say when; what was done, the record says.

When cohorts start and when they decide.

What an arena is expected to do, by its cohorts' schedules and, where there is one, its config.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from arena.record.model.cohort import Cohort, JobState
from arena.record.model.status import OpenCohort

WEEK = timedelta(weeks=1)
PLAY_WINDOW = timedelta(hours=6)
"""How long after a live round's prices were looked at a turn may still be played on them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The config's part in a season: when cohorts start, when they decide, and who they are.

    A cohort starts every week from `first` on, `count` of them or without end. `freeze` makes the one
    of a number and a time, with the texts of its prompts by hash. Those that have `begun` decide when they
    have frozen it, whatever the config says by now, and so do those that were started by hand.
    """

    first: datetime
    decide: timedelta
    rounds: int
    count: int | None
    keep_deciding: int
    freeze: Callable[[int, datetime], tuple[Cohort, dict[str, str]]]
    begun: tuple[Cohort, ...] = ()

    def starting(self, at: datetime) -> int | None:
        """The number of the cohort that starts at that time, if one does."""
        passed = at - self.first
        if passed < timedelta() or passed % WEEK:
            return None
        number = passed // WEEK + 1
        return number if self.count is None or number <= self.count else None

    def decision_times(self, until: datetime | None = None) -> list[datetime]:
        """The times at which some cohort decides; a plan without end needs a bound."""
        whole = self.count
        if until is not None:
            begun = max(0, (until - self.first) // WEEK + 1)
            whole = begun if whole is None else min(whole, begun)
        if whole is None:
            raise ValueError("cohorts start without end here: say until when")
        known = {cohort.starts_at for cohort in self.begun}
        starts = (self.first + number * WEEK for number in range(whole))
        fresh = [start for start in starts if start not in known]
        times = {start + number * self.decide for start in fresh for number in range(self.rounds)}
        times.update(x.decides_at(number) for x in self.begun for number in range(1, x.rounds + 1))
        return sorted(at for at in times if until is None or at <= until)

    def next_after(self, at: datetime) -> datetime | None:
        """The first decision time after an instant, if there is one."""
        longest = max([self.decide, *(cohort.every for cohort in self.begun)])
        ahead = [cohort.starts_at for cohort in self.begun if cohort.starts_at > at]
        until = max([at, self.first, *ahead]) + longest + WEEK
        return next((time for time in self.decision_times(until) if time > at), None)


def next_start(
    plan: Plan,
    begun: Collection[datetime],
    newest: datetime | None,
    live: bool,
    now: datetime,
    catch_up: str = "none",
) -> datetime | None:
    """When the next cohort starts, None if none will. `begun` are earlier starts, `newest` was played last.

    A live start is open for as long as its round may be played; of those that were missed after the last one,
    all are made late, or the latest, or none.
    """
    start, last = plan.first, max(begun, default=None)
    while plan.starting(start) is not None:
        late = last is None or start > last
        late = late and (catch_up == "all" or (catch_up == "latest" and now - start < WEEK))
        to_come = late or now - start <= PLAY_WINDOW if live else newest is None or start > newest
        if to_come and start not in begun:
            return start
        start += WEEK
    return None


if TYPE_CHECKING:
    from arena.config import Cadence
    from arena.config.sections import RunSection

SUNDAY = datetime(1970, 1, 4, tzinfo=UTC)
"""What durations are counted from: days then begin at midnight, weeks on Sundays, wherever one is."""
TICK = timedelta(microseconds=1)
JOB_NAMES = ("quotes", "resolutions", "marks", "boards", "scores", "catalogue", "retention", "backup")
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


class JobTrigger(Protocol):
    """What is used of APScheduler's triggers, whose package has no types."""

    def get_next_fire_time(self, previous: None, now: datetime) -> datetime:
        """The first time that isn't before an instant."""
        ...


def configured_jobs(run: "RunSection") -> list[Job]:
    """The jobs that the config has turned on."""
    return [Job(name, cadence) for name in JOB_NAMES if (cadence := getattr(run, name))]


def job_due_at(job: Job, last: JobState | None, now: datetime) -> datetime | None:
    """The time for which a job is to be done now, if it is. What was broken off or has failed is due again.

    However often it was missed, it is done once, for the last of those times.
    """
    latest = job.latest(now)
    if last is None or last.ended_at is None:
        return latest
    if last.failures:
        return latest if now >= retry_at(last) else None
    return latest if latest > last.due_at else None


def next_job_time(job: Job, last: JobState | None, now: datetime) -> datetime:
    """When a job that isn't due now will be."""
    return retry_at(last) if last is not None and last.failures else job.following(now)


def retry_at(last: JobState) -> datetime:
    """When something that has failed is tried again: after pauses that grow."""
    ended = last.ended_at or last.started_at
    return ended + min(FIRST_PAUSE * (1 << min(last.failures - 1, 16)), LONGEST_PAUSE)


def _fires(cadence: "Cadence", at: datetime) -> datetime:
    return _trigger(cadence).get_next_fire_time(None, at).astimezone(UTC)


def _trigger(cadence: "Cadence") -> JobTrigger:
    """APScheduler's trigger of a cadence: weekdays by name, for its numbers are not cron's, and in UTC."""
    if cadence.weekly is not None:
        from apscheduler.triggers.cron import CronTrigger

        start = cadence.weekly
        hour, minute = start.time.hour, start.time.minute
        weekly: JobTrigger = CronTrigger(day_of_week=start.weekday, hour=hour, minute=minute, timezone=UTC)
        return weekly
    if cadence.every is None:
        raise ValueError("a job that is turned off is never due")
    from apscheduler.triggers.interval import IntervalTrigger

    length = int(cadence.every.total_seconds())
    regular: JobTrigger = IntervalTrigger(seconds=length, start_date=SUNDAY, timezone=UTC)
    return regular


KEEP_DECIDING = 5
"""So many of the newest cohorts decide, where no config says otherwise."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the config adds: when cohorts start, budgets in millionths, and when jobs are due.

    `live` is whether its world goes on by the clock; where it is None, the cohorts that play say so. `jobs`
    are what is done between rounds, and `me` is the name of the process that asks, where it is on duty.
    """

    plan: Plan | None = None
    live: bool | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    jobs: Sequence[Job] = ()
    me: str = ""


CohortStarts = Sequence[tuple[int, datetime]]
"""The number and the start of every cohort, oldest first."""


def expected_rounds(one: OpenCohort, starts: CohortStarts, keep: int) -> list[tuple[int, datetime]]:
    """The rounds that a cohort is to decide as things are: number and time, until newer cohorts take over."""
    newer = sorted(at for number, at in starts if number > one.number)
    times = [(number + 1, one.starts_at + number * one.every) for number in range(one.rounds)]
    ends = [at for at in (one.paused_at, one.stopped_at) if at is not None]
    if len(newer) >= keep:
        ends.append(newer[keep - 1])
    return list(takewhile(lambda round: all(round[1] < end for end in ends), times))


def next_round_time(rounds: Collection[datetime], expected: Expected, now: datetime) -> datetime | None:
    """The first decision time after an instant: of a cohort that plays, or of one that is to start."""
    following = expected.plan.next_after(now) if expected.plan else None
    times = [at for at in rounds if at > now]
    return min([*times, *([following] if following else [])], default=None)


def next_cohort_start(
    starts: CohortStarts, newest: datetime | None, expected: Expected, now: datetime
) -> datetime | None:
    """When the config starts its next cohort, if it does."""
    if expected.plan is None:
        return None
    return next_start(expected.plan, {at for _, at in starts}, newest, expected.live is not False, now)
