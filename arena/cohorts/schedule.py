"""Schedules: cohort starts, the rounds of each cohort, the jobs between rounds, and retries.

Each has a schedule, and only `trigger` turns a schedule into times, by APScheduler: `arena run` wakes at
them, and simulated time goes from one to the next. The record says what is done already and no longer due.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from arena.record.model.calendar import SUNDAY, WEEK, Cadence, Calendar
from arena.record.model.cohort import Cohort, JobState

if TYPE_CHECKING:
    from arena.config.field_types import Start
    from arena.config.sections import RunSection, WatchSection
    from arena.record.queries.cohorts import StoredCohort

PLAY_WINDOW = timedelta(hours=6)
"""How long after a live round's prices were read a turn may still be played on them."""
TICK = timedelta(microseconds=1)

Schedule = Calendar | Cadence | datetime
"""A calendar of cohorts' starts or of a cohort's rounds, a job's cadence, or the single time of a retry."""


class Trigger(Protocol):
    """The part of APScheduler's triggers that is used here; its package has no types."""

    def get_next_fire_time(self, previous: datetime | None, now: datetime) -> datetime | None:
        """Return the time after the previous one; without one, the first that isn't before `now`."""
        ...


@lru_cache(maxsize=1024)
def trigger(schedule: Schedule) -> Trigger:
    """Return APScheduler's trigger of a schedule, in UTC."""
    if isinstance(schedule, datetime):
        from apscheduler.triggers.date import DateTrigger

        once: Trigger = DateTrigger(schedule, UTC)
        return once

    if isinstance(schedule, Cadence):
        if not schedule:
            raise ValueError("a job that is off is never due")
        # A cadence has no first time: count from the one in an early week, which has its offset already.
        first = SUNDAY + (schedule.offset or timedelta())
        schedule = Calendar(first, schedule.every)

    last = None
    if schedule.count is not None:
        last = schedule.time(schedule.count)
    bounds = {"start_date": schedule.first, "end_date": last, "timezone": UTC}

    # Without an offset the times are counted from the first one; with one, they are at a time of day or week.
    if schedule.offset is None:
        from apscheduler.triggers.interval import IntervalTrigger

        regular: Trigger = IntervalTrigger(seconds=int(schedule.every.total_seconds()), **bounds)
        return regular

    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    at = SUNDAY + schedule.offset
    weekday = at.weekday() if schedule.every == WEEK else None
    triggers = [CronTrigger(day_of_week=weekday, hour=at.hour, minute=at.minute, **bounds)]

    # The first time need not be at the offset of the later ones.
    if schedule.count != 0:
        triggers.append(trigger(schedule.first))

    either: Trigger = OrTrigger(triggers)
    return either


def schedule_times(schedule: Schedule, since: datetime, until: datetime | None = None) -> Iterator[datetime]:
    """Yield the times of a schedule between two instants, both included."""
    own_trigger = trigger(schedule)
    at = own_trigger.get_next_fire_time(None, since)

    while at is not None and (until is None or at <= until):
        if at >= since:  # the trigger of a single time returns it though it is past
            yield at.astimezone(UTC)

        # After a time that is past, the search goes on just before `since`.
        previous = max(at, since - TICK)
        at = own_trigger.get_next_fire_time(previous, previous)


def next_time(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the first time of a schedule after an instant, if there is one."""
    return next(schedule_times(schedule, after + TICK), None)


def next_time_of_any(schedules: Mapping[str, Schedule], after: datetime) -> datetime | None:
    """Return the first time after an instant of any of these schedules."""
    times = set()
    for schedule in schedules.values():
        times.add(next_time(schedule, after))

    # None stands for a schedule without a time to come.
    return min(filter(None, times), default=None)


def scheduled_start(begun: Sequence[Cohort]) -> datetime | None:
    """Return the start of the first cohort that the schedule started: its calendar counts from there."""
    return min((cohort.starts_at for cohort in begun if not cohort.by_hand), default=None)


@dataclass(frozen=True, slots=True)
class FirstStarts:
    """The first starts at a live venue: one `at_once`, and the first of the `scheduled` ones.

    `outside` is 1 if the first cohort starts, or has started, outside the schedule, else 0.
    """

    scheduled: datetime
    at_once: datetime | None = None
    outside: int = 0


def first_starts(
    weekly: "Start", first_day: datetime | None, begun: Sequence[Cohort], now: datetime
) -> FirstStarts:
    """Return the starts of cohorts at a live venue: the first when a person starts it, later ones weekly.

    The first starts now, to the minute, whatever the weekday, unless the config names a day whose start is
    still to come.
    """
    # Once a cohort has begun, nothing starts at once any more.
    earliest = min(begun, key=lambda cohort: cohort.starts_at, default=None)
    if earliest is not None:
        scheduled = scheduled_start(begun) or weekly.on_or_after(earliest.starts_at + TICK)
        return FirstStarts(scheduled, outside=int(earliest.by_hand))

    if first_day is not None:
        start = weekly.on_or_after(first_day)
        if start > now:
            return FirstStarts(start)

    this_minute = now.replace(second=0, microsecond=0)
    scheduled = weekly.on_or_after(this_minute)
    is_outside = scheduled != this_minute
    return FirstStarts(scheduled, at_once=this_minute, outside=int(is_outside))


@dataclass(frozen=True, slots=True)
class Plan:
    """The config's part in a season: when cohorts start, when they decide, and who plays in them.

    A cohort starts every week from `first` on, `count` of them or without end. `freeze` returns the cohort
    of a number and a start, with the texts of its prompts by hash. Cohorts that have `begun`, also those
    started by hand, decide when they froze it, whatever the config says by now. Where none has begun at a
    live venue, the first starts `at_once`.
    """

    first: datetime
    decide: Cadence
    rounds: int
    count: int | None
    keep_deciding: int
    freeze: Callable[[int, datetime], tuple[Cohort, dict[str, str]]]
    begun: tuple[Cohort, ...] = ()
    at_once: datetime | None = None

    def starts_at(self, at: datetime) -> bool:
        """Tell whether a cohort starts at that time, by the schedule or at once."""
        return at == self.at_once or self.starts.number_at(at) is not None

    @property
    def starts(self) -> Calendar:
        """Return the calendar by which cohorts start."""
        return Calendar(self.first, WEEK, self.count)

    def decision_times(self, until: datetime | None = None) -> list[datetime]:
        """Return the times at which some cohort decides; a plan without end needs a bound."""
        if until is None and self.count is None:
            raise ValueError("this schedule has no end: give one")

        times = set()
        if self.at_once is not None:
            times.add(self.at_once)
        for calendar in self._calendars(until):
            times.update(schedule_times(calendar, calendar.first, until))

        return sorted(times)

    def next_after(self, at: datetime, ended: Mapping[int, datetime] | None = None) -> datetime | None:
        """Return the first decision time after an instant, if there is one.

        A cohort that has `ended`, by its number, decides no more: it may have been stopped before its time.
        """
        times = {next(self._starts_to_come(at + TICK), None)}
        for calendar in self._calendars(at, ended):
            times.add(next_time(calendar, at))

        return min(filter(None, times), default=None)

    def _calendars(
        self, until: datetime | None, ended: Mapping[int, datetime] | None = None
    ) -> Iterator[Calendar]:
        """Yield the calendar of each cohort: those that have begun, and those that start until an instant."""
        for cohort in self.begun:
            end = None if ended is None else ended.get(cohort.number)
            yield cohort.calendar.until(end)
        for start in self._starts_to_come(self.first, until):
            yield self.decide.calendar(start, self.rounds)

    def _starts_to_come(self, since: datetime, until: datetime | None = None) -> Iterator[datetime]:
        """Yield the scheduled starts, from an instant until another, at which no cohort has begun."""
        begun = {cohort.starts_at for cohort in self.begun}
        for start in schedule_times(self.starts, since, until):
            if start not in begun:
                yield start


def next_start(
    plan: Plan,
    earlier_starts: Collection[datetime],
    last_played_at: datetime | None,
    live: bool,
    now: datetime,
    catch_up: str = "none",
) -> datetime | None:
    """Return when the next cohort starts, None if none will.

    A live start is open for as long as its round may be played. Of the starts missed since the last one,
    `catch_up` makes all late, only the latest, or none.
    """
    if plan.at_once is not None:
        return plan.at_once

    last_start = max(earlier_starts, default=None)
    for start in schedule_times(plan.starts, plan.first):
        if start in earlier_starts:
            continue

        if live:
            age = now - start
            is_after_last = last_start is None or start > last_start
            is_caught_up = catch_up == "all" or (catch_up == "latest" and age < WEEK)
            is_open = age <= PLAY_WINDOW or (is_caught_up and is_after_last)
        else:
            is_open = last_played_at is None or start > last_played_at

        if is_open:
            return start

    return None


JOB_NAMES = (
    "quotes", "resolutions", "marks", "scores", "catalogue", "publish", "retention", "verify", "backup",
    "digest",
)  # fmt: skip
"""The jobs, in the order in which they are done where several are due at the same time."""
FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=1)
FARTHEST_AHEAD = timedelta(days=1)
"""How far a clock may be put back before jobs that were done are done again."""
MOST_TRIES = 12
"""How often a round whose models give no answer is tried where no time passes.

With the pauses between tries that is six hours, as long as a live round has.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """A job of `arena run`: its name, and how often it is due."""

    name: str
    cadence: Cadence

    def following(self, at: datetime) -> datetime:
        """Return the first time after an instant at which the job is due."""
        return next(schedule_times(self.cadence, at + TICK))

    def latest(self, at: datetime) -> datetime:
        """Return the last time until an instant at which the job was due: it makes up for earlier ones."""
        return self.following(at) - self.cadence.every


def configured_jobs(run: "RunSection", watch: "WatchSection") -> list[Job]:
    """Return the jobs that the config has turned on; there is a digest only for a webhook."""
    jobs = []

    for name in JOB_NAMES:
        cadence: Cadence = getattr(run, name)
        if cadence and (name != "digest" or watch.webhook is not None):
            jobs.append(Job(name, cadence))

    return jobs


def job_due_at(job: Job, last: JobState | None, now: datetime) -> datetime | None:
    """Return the time for which a job is due now; None if it isn't due.

    A job that was broken off or has failed is due again, and so is one that was done for a time more than a
    day after its next one: the clock was ahead then. However often it was missed, it is done once, for the
    last of those times.
    """
    if job_rests(last, now):
        return None

    latest = job.latest(now)
    if last is None or last.ended_at is None or last.failures:
        return latest
    if latest > last.due_at:
        return latest

    # Done for a time that far ahead, it was done by a clock that has been put back since.
    clock_was_ahead = last.due_at > job.following(now) + FARTHEST_AHEAD
    return latest if clock_was_ahead else None


def job_rests(last: JobState | None, now: datetime) -> bool:
    """Tell whether a job has failed and is not tried again yet.

    One that failed at a time still to come does not rest: the clock was put back.
    """
    if last is None or last.ended_at is None or not last.failures:
        return False
    return last.ended_at <= now < retry_at(last)


def job_schedule(job: Job, last: JobState | None) -> Schedule:
    """Return the schedule of a job that isn't due now: its cadence, or a single retry if it has failed."""
    if last is not None and last.failures:
        return retry_at(last)
    return job.cadence


def next_job_time(job: Job, last: JobState | None, now: datetime) -> datetime:
    """Return the next time at which a job that isn't due now will be."""
    schedule = job_schedule(job, last)
    if isinstance(schedule, datetime):
        return schedule
    return job.following(now)


def retry_at(last: JobState) -> datetime:
    """Return when something that has failed is tried again, after growing pauses."""
    ended = last.ended_at or last.started_at
    return ended + pause_after(last.failures)


def pause_after(failures: int) -> timedelta:
    """Return how long to wait after a number of failures in a row.

    >>> str(pause_after(1)), str(pause_after(4)), str(pause_after(99))
    ('0:01:00', '0:08:00', '1:00:00')
    """
    doublings = min(failures - 1, 16)
    return min(FIRST_PAUSE * (1 << doublings), LONGEST_PAUSE)


def next_command(plan: Plan, live: bool, last_played_at: datetime | None, now: datetime) -> str:
    """Return the command that plays the next round: `run --round` if it can be played now, else `run`."""
    # In a simulated or recorded world the next round can be played at any time.
    if not live:
        return "run --round"

    times = plan.decision_times(now)
    if times:
        latest = times[-1]
        is_unplayed = last_played_at is None or latest > last_played_at
        if is_unplayed and now - latest <= PLAY_WINDOW:
            return "run --round"

    return "run"


KEEP_DECIDING = 5
"""How many of the newest cohorts decide, where no config says otherwise."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a config adds to a record: when cohorts start, budgets in millionths, and when jobs are due.

    `live` says whether time passes by the clock; where it is None, the cohorts that play say so. `jobs` are
    done between rounds. `me` is the name of the process that asks, if it is the one that leads.
    """

    plan: Plan | None = None
    live: bool | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    jobs: Sequence[Job] = ()
    me: str = ""


CohortStarts = Sequence[tuple[int, datetime]]
"""The number and the start of every cohort, oldest first."""


def expected_rounds(stored: "StoredCohort", starts: CohortStarts, keep: int) -> list[tuple[int, datetime]]:
    """Return the numbers and times of the rounds that a cohort is to decide.

    It decides until it was paused or stopped, or until `keep` newer cohorts take over.
    """
    ends = [stored.paused_at, stored.stopped_at]
    newer_starts = sorted(at for number, at in starts if number > stored.cohort.number)
    if len(newer_starts) >= keep:
        ends.append(newer_starts[keep - 1])
    end = min(filter(None, ends), default=None)

    rounds = []
    for number in range(1, stored.cohort.rounds + 1):
        at = stored.cohort.calendar.time(number)
        if end is not None and at >= end:
            break
        rounds.append((number, at))

    return rounds


def next_round_time(round_times: Collection[datetime], expected: Expected, now: datetime) -> datetime | None:
    """Return the first decision time after an instant, of a cohort that plays or of one that is to start.

    `round_times` are those of the cohorts that play.
    """
    times = [at for at in round_times if at > now]

    if expected.plan is not None:
        if expected.plan.at_once is not None:
            return expected.plan.at_once
        following = expected.plan.next_after(now)
        if following is not None:
            times.append(following)

    return min(times, default=None)


def next_cohort_start(
    starts: CohortStarts, last_played_at: datetime | None, expected: Expected, now: datetime
) -> datetime | None:
    """Return when the config starts its next cohort; None if it starts none."""
    if expected.plan is None:
        return None

    earlier_starts = {starts_at for _, starts_at in starts}
    live = expected.live is not False
    return next_start(expected.plan, earlier_starts, last_played_at, live, now)
