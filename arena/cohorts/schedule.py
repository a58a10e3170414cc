"""When everything is due: the one place in which all that is scheduled gets its trigger from APScheduler.

Cohort starts, the rounds of each cohort, the jobs between rounds and retries: a schedule says when each is.
`trigger` makes of it what wakes `arena run` and what simulated time walks. What is due, the record says.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from arena.record.model.calendar import SUNDAY, WEEK, Cadence, Calendar
from arena.record.model.cohort import Cohort, JobState

if TYPE_CHECKING:
    from arena.config.field_types import Start
    from arena.config.sections import RunSection, WatchSection
    from arena.record.queries.cohorts import StoredCohort

PLAY_WINDOW = timedelta(hours=6)
"""How long after a live round's prices were looked at a turn may still be played on them."""
TICK = timedelta(microseconds=1)


Schedule = Calendar | Cadence | datetime
"""The starts of cohorts, or the rounds of one; a job's cadence; or a single time: that of a retry."""


class Trigger(Protocol):
    """What is used of APScheduler's triggers, whose package has no types."""

    def get_next_fire_time(self, previous: datetime | None, now: datetime) -> datetime | None:
        """The time after the previous one; without one, the first that isn't before an instant."""
        ...


@lru_cache(maxsize=1024)
def trigger(schedule: Schedule) -> Trigger:
    """APScheduler's trigger of a schedule, in UTC."""
    if isinstance(schedule, datetime):
        from apscheduler.triggers.date import DateTrigger

        once: Trigger = DateTrigger(schedule, UTC)
        return once
    if isinstance(schedule, Cadence):
        if not schedule:
            raise ValueError("a job that is off is never due")
        schedule = Calendar(SUNDAY + (schedule.offset or timedelta()), schedule.every)
    last = None if schedule.count is None else schedule.time(schedule.count)
    bounds = {"start_date": schedule.first, "end_date": last, "timezone": UTC}
    if schedule.offset is None:
        from apscheduler.triggers.interval import IntervalTrigger

        regular: Trigger = IntervalTrigger(seconds=int(schedule.every.total_seconds()), **bounds)
        return regular
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    at = SUNDAY + schedule.offset
    weekday = at.weekday() if schedule.every == WEEK else None
    later = CronTrigger(day_of_week=weekday, hour=at.hour, minute=at.minute, **bounds)
    first = [] if schedule.count == 0 else [trigger(schedule.first)]
    either: Trigger = OrTrigger([*first, later])
    return either


def schedule_times(schedule: Schedule, since: datetime, until: datetime | None = None) -> Iterator[datetime]:
    """The times of a schedule from an instant until another, as its trigger has them."""
    walked = trigger(schedule)
    at = walked.get_next_fire_time(None, since)
    while at is not None and (until is None or at <= until):
        if at >= since:  # a single time is told though it is past
            yield at.astimezone(UTC)
        last = max(at, since - TICK)
        at = walked.get_next_fire_time(last, last)


def next_time(schedule: Schedule, after: datetime) -> datetime | None:
    """The first time of a schedule after an instant, if there is one."""
    return next(schedule_times(schedule, after + TICK), None)


def next_of(schedules: Mapping[str, Schedule], after: datetime) -> datetime | None:
    """The first time after an instant that any of these schedules has."""
    found = (next_time(schedule, after) for schedule in schedules.values())
    return min((at for at in found if at is not None), default=None)


def scheduled_start(begun: Sequence[Cohort]) -> datetime | None:
    """When the first cohort started that the schedule has started: its calendar counts from there."""
    return min((cohort.starts_at for cohort in begun if not cohort.by_hand), default=None)


@dataclass(frozen=True, slots=True)
class FirstStarts:
    """Where the starts of a live venue begin: one `at_once`, outside the schedule, and the `scheduled` ones.

    `outside` counts the start outside the schedule, also once it was made.
    """

    scheduled: datetime
    at_once: datetime | None = None
    outside: int = 0


def first_starts(
    weekly: "Start", first_day: datetime | None, begun: Sequence[Cohort], now: datetime
) -> FirstStarts:
    """The rule of the first round at a live venue: the first cohort starts when a person starts it.

    That is now, to the minute, whatever the weekday, unless the config names a day whose start is still to
    come. All later cohorts start by the schedule, weekly.
    """
    earliest = min(begun, key=lambda cohort: cohort.starts_at, default=None)
    if earliest is not None:
        outside = int(earliest.by_hand)
        scheduled = scheduled_start(begun) or weekly.on_or_after(earliest.starts_at + TICK)
        return FirstStarts(scheduled, outside=outside)
    if first_day is not None and (start := weekly.on_or_after(first_day)) > now:
        return FirstStarts(start)
    minute = now.replace(second=0, microsecond=0)
    scheduled = weekly.on_or_after(minute)
    return FirstStarts(scheduled, minute, int(scheduled != minute))


@dataclass(frozen=True, slots=True)
class Plan:
    """The config's part in a season: when cohorts start, when they decide, and who they are.

    A cohort starts every week from `first` on, `count` of them or without end. `freeze` makes the one
    of a number and a time, with the texts of its prompts by hash. Those that have `begun` decide when they
    have frozen it, whatever the config says by now, and so do those that were started by hand. Where none
    has begun at a live venue, the first starts `at_once`.
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
        """Whether a cohort starts at that time, by the schedule or at once."""
        return at == self.at_once or self.starts.number_at(at) is not None

    @property
    def starts(self) -> Calendar:
        """When cohorts start."""
        return Calendar(self.first, WEEK, self.count)

    def decision_times(self, until: datetime | None = None) -> list[datetime]:
        """The times at which some cohort decides; a plan without end needs a bound."""
        if until is None and self.count is None:
            raise ValueError("this schedule has no end: give one")
        found = (schedule_times(one, one.first, until) for one in self._calendars(until))
        at_once = () if self.at_once is None else (self.at_once,)
        return sorted({*at_once, *(at for times in found for at in times)})

    def next_after(self, at: datetime) -> datetime | None:
        """The first decision time after an instant, if there is one."""
        begun = {cohort.starts_at for cohort in self.begun}
        starts = (start for start in schedule_times(self.starts, at + TICK) if start not in begun)
        times = [next(starts, None), *(next_time(one, at) for one in self._calendars(at))]
        return min((time for time in times if time is not None), default=None)

    def _calendars(self, until: datetime | None) -> list[Calendar]:
        """When each cohort decides: those that have begun, and those that are to start until an instant."""
        begun = {cohort.starts_at for cohort in self.begun}
        starts = schedule_times(self.starts, self.first, until)
        fresh = [self.decide.calendar(at, self.rounds) for at in starts if at not in begun]
        return [*fresh, *(cohort.calendar for cohort in self.begun)]


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
    if plan.at_once is not None:
        return plan.at_once
    last = max(begun, default=None)
    for start in schedule_times(plan.starts, plan.first):
        late = last is None or start > last
        late = late and (catch_up == "all" or (catch_up == "latest" and now - start < WEEK))
        to_come = late or now - start <= PLAY_WINDOW if live else newest is None or start > newest
        if to_come and start not in begun:
            return start
    return None


JOB_NAMES = (
    "quotes", "resolutions", "marks", "boards", "scores", "catalogue", "publish", "retention", "backup",
    "digest",
)  # fmt: skip
"""The jobs, in the order in which they are done where several are due at the same time."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
MOST_TRIES = 12
"""So often a round is tried whose models give no answer, where no time passes: with the pauses between, for
six hours. A live round has as long."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job of `arena run`: its name, and how often it is due."""

    name: str
    cadence: Cadence

    def following(self, at: datetime) -> datetime:
        """The first time after an instant at which it is due."""
        return next(schedule_times(self.cadence, at + TICK))

    def latest(self, at: datetime) -> datetime:
        """The last time until an instant at which it was due; the ones before are made up for by it."""
        return self.following(at) - self.cadence.every


def configured_jobs(run: "RunSection", watch: "WatchSection") -> list[Job]:
    """The jobs that the config has turned on; there is a digest only for a webhook."""
    names = [name for name in JOB_NAMES if name != "digest" or watch.webhook or watch.webhook_env]
    return [Job(name, cadence) for name in names if (cadence := getattr(run, name))]


def job_due_at(job: Job, last: JobState | None, now: datetime) -> datetime | None:
    """The time for which a job is to be done now, if it is. What was broken off or has failed is due again.

    However often it was missed, it is done once, for the last of those times.
    """
    latest = job.latest(now)
    if last is None or last.ended_at is None:
        return latest
    if last.failures:
        return None if job_rests(last, now) else latest
    return latest if latest > last.due_at else None


def job_rests(last: JobState | None, now: datetime) -> bool:
    """Return whether a job has failed and is not tried again yet."""
    return last is not None and last.ended_at is not None and last.failures > 0 and now < retry_at(last)


def job_schedule(job: Job, last: JobState | None) -> Schedule:
    """By what a job that isn't due now will be: its cadence, or once after a pause where it has failed."""
    return retry_at(last) if last is not None and last.failures else job.cadence


def next_job_time(job: Job, last: JobState | None, now: datetime) -> datetime:
    """When a job that isn't due now will be."""
    schedule = job_schedule(job, last)
    return schedule if isinstance(schedule, datetime) else job.following(now)


def retry_at(last: JobState) -> datetime:
    """When something that has failed is tried again: after pauses that grow."""
    ended = last.ended_at or last.started_at
    return ended + pause_after(last.failures)


def pause_after(failures: int) -> timedelta:
    """Return how long to wait after so many failures in a row.

    >>> str(pause_after(1)), str(pause_after(4)), str(pause_after(99))
    ('0:01:00', '0:08:00', '1:00:00')
    """
    return min(FIRST_PAUSE * (1 << min(failures - 1, 16)), LONGEST_PAUSE)


def next_command(plan: Plan, live: bool, newest: datetime | None, now: datetime) -> str:
    """The command that plays the next round: `round` where that can be now, `run` where its time is to come.

    `newest` is the time that was played last.
    """
    due = plan.decision_times(now)[-1:] if live else []
    playable = any(now - at <= PLAY_WINDOW and (newest is None or at > newest) for at in due)
    return "round" if playable or not live else "run"


KEEP_DECIDING = 5
"""So many of the newest cohorts decide, where no config says otherwise."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the config adds: when cohorts start, budgets in millionths, and when jobs are due.

    `live` is whether its world goes on by the clock; where it is None, the cohorts that play say so. `jobs`
    are what is done between rounds, and `me` is the name of the process that asks, where that leads.
    """

    plan: Plan | None = None
    live: bool | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    jobs: Sequence[Job] = ()
    me: str = ""


CohortStarts = Sequence[tuple[int, datetime]]
"""The number and the start of every cohort, oldest first."""


def expected_rounds(stored: "StoredCohort", starts: CohortStarts, keep: int) -> list[tuple[int, datetime]]:
    """The rounds that a cohort is to decide as things are: number and time, until newer cohorts take over."""
    newer = sorted(at for number, at in starts if number > stored.cohort.number)
    ends = [at for at in (stored.paused_at, stored.stopped_at) if at is not None]
    if len(newer) >= keep:
        ends.append(newer[keep - 1])
    times = map(stored.cohort.calendar.time, range(1, stored.cohort.rounds + 1))
    return list(enumerate(takewhile(lambda at: all(at < end for end in ends), times), 1))


def next_round_time(rounds: Collection[datetime], expected: Expected, now: datetime) -> datetime | None:
    """The first decision time after an instant: of a cohort that plays, or of one that is to start."""
    if expected.plan and expected.plan.at_once:
        return expected.plan.at_once
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
