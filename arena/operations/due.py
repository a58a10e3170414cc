"""What is due of the cohorts, by their calendars and by what the record says was done. All of it is pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Literal

from arena.cohorts.cohort import deciding_numbers
from arena.cohorts.schedule import (
    PLAY_WINDOW,
    TICK,
    Plan,
    Schedule,
    next_time,
    retry_at,
    schedule_times,
)
from arena.record.model.calendar import WEEK, Calendar
from arena.record.model.cohort import JobState
from arena.record.queries.cohorts import StoredCohort
from arena.record.queries.progress import BegunRound, CohortProgress
from arena.record.queries.settlements import CORRECTIONS

Step = Literal["start", "play", "close", "track", "settle"]
ROUND_STEPS: tuple[Step, Step] = ("play", "close")
STEP_WORDS: Mapping[Step, str] = {
    "start": "a cohort starts",
    "play": "decides",
    "close": "closes its round",
    "track": "is settled and marked",
    "settle": "corrections are read",
}
CatchUp = Literal["latest", "all", "none"]
"""Of the starts and rounds that were missed: play the newest, all, or none."""


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is due for a cohort at a scheduled time, not to be done before `after`.

    `start` it, `play` its round, `close` a round whose time is over, `track` it where it decides nothing;
    where all have ended `settle` them by what was corrected since.
    """

    at: datetime
    step: Step
    stored: StoredCohort | None = None
    number: int | None = None
    after: datetime | None = None

    @property
    def name(self) -> str:
        """What the record knows its doing by."""
        if self.stored is None:
            return CORRECTIONS if self.step == "settle" else self.step
        return f"cohort {self.stored.cohort.number}"


@dataclass(frozen=True, slots=True)
class MissedRound:
    """A start, or a cohort's round, that is not caught up."""

    at: datetime
    cohort: int | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class DueWork:
    """What of the cohorts is due, in order; by which schedules there will be more; what is passed over.

    It is `over` when no cohort is open, none will start and no correction may come; before that it is `idle`
    where only corrections may. `next_round` is the next time to decide or start.
    """

    due: tuple[Due, ...]
    schedules: Mapping[str, Schedule]
    next_round: datetime | None
    missed: tuple[MissedRound, ...]
    over: bool
    idle: bool = False


@dataclass(frozen=True)
class DueSituation:
    """All that decides on what is due: the plan and its policy, what was done, and the time.

    In a live world only the present can be looked at; in another one nothing is missed. `live` says in
    which the config's own cohorts start. Where all have ended, `look` is when to ask for corrections. With
    `leaves_failed` no model that gave no answer is waited for.
    """

    plan: Plan
    progress: Sequence[CohortProgress]
    jobs: Mapping[str, JobState]
    live: bool
    catch_up: CatchUp
    now: datetime
    look: datetime | None = None
    leaves_failed: bool = False

    @cached_property
    def open(self) -> list[CohortProgress]:
        """Cohorts that still have something to come."""
        return [one for one in self.progress if one.stored.ended_at is None]

    @cached_property
    def since(self) -> datetime:
        """When the open cohort was looked at that was not looked at for the longest time."""
        looked = (one.snapshot_at or one.stored.cohort.starts_at for one in self.open)
        return min(looked, default=self.now)

    @property
    def played_until(self) -> datetime:
        """Now, or the last look of a season that was played ahead of the clock."""
        return max([self.now, *(one.snapshot_at for one in self.open if one.snapshot_at is not None)])

    @cached_property
    def calendars(self) -> dict[str, Calendar]:
        """When each cohort decides that is open, or was when the others were looked at."""
        found = dict[str, Calendar]()
        for stored in (one.stored for one in self.progress):
            if stored.ended_at is None or stored.ended_at >= self.since:
                calendar = stored.cohort.calendar.until(stored.ended_at)
                found[f"cohort {stored.cohort.number}"] = calendar
        return found

    @cached_property
    def past(self) -> list[datetime]:
        """The times until now at which one of them decides."""
        walks = (schedule_times(one, self.since, self.now) for one in self.calendars.values())
        return sorted({at for times in walks for at in times})

    def weekly_look(self, since: datetime) -> datetime | None:
        """Return the first weekly look after an instant at a season that has no decision to come.

        What is still open then is settled at the season's own times, whenever that is done. None if a cohort
        is still to start, or that look is not past.
        """
        if next_time(self.plan.starts, since) is not None:
            return None

        cohorts = (one.stored.cohort for one in self.progress)
        last = max(cohort.calendar.time(cohort.rounds) for cohort in cohorts)
        weeks = max((since - last) // WEEK, 0) + 1
        look = last + weeks * WEEK
        return look if look <= self.now else None


def due_work(situation: DueSituation) -> DueWork:
    """What is due now, the oldest first; at the same time starts first, then cohorts by number."""
    starts, missed = starts_due(situation)
    due = [_after_pause(Due(at, "start"), situation) for at in starts]
    for one in situation.open:
        found, passed = cohort_due(one, situation)
        due += [] if found is None else [found]
        missed += passed
    due.sort(key=lambda one: (one.at, one.stored.cohort.number if one.stored else 0))
    now, calendars = situation.now, {"start": situation.plan.starts} | situation.calendars
    start = next_time(situation.plan.starts, now)
    until = situation.played_until
    rounds = (next(schedule_times(one, until + TICK), None) for one in situation.calendars.values())
    waits = {f"{one.name} again": one.after for one in due if one.after is not None and one.after > now}
    if situation.look is not None:
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        look = max(situation.look, today) if situation.live else situation.look
        due += [_after_pause(Due(look, "settle"), situation)] if look <= now else []
        waits[CORRECTIONS] = look
    idle = not situation.open and start is None and all(one.step == "settle" for one in due)
    over = idle and situation.look is None
    first = next_time(situation.plan.starts, until)
    next_round = min((at for at in (first, *rounds) if at is not None), default=None)
    return DueWork(tuple(due), {**calendars, **waits}, next_round, tuple(missed), over, idle)


def starts_due(situation: DueSituation) -> tuple[list[datetime], list[MissedRound]]:
    """When the next cohort should have started, if it should have; and which starts are passed over.

    Only starts after the schedule's last one count, and in a made-up world those after the last look; a time
    at which one was started by hand is taken.
    """
    plan, now = situation.plan, situation.now
    if plan.at_once is not None:
        return [plan.at_once], []
    cohorts = [one.stored.cohort for one in situation.progress]
    begun = [cohort.starts_at for cohort in cohorts if not cohort.by_hand]
    looked = [one.snapshot_at for one in situation.progress if one.snapshot_at is not None]
    last = max([*begun, *([] if situation.live else looked)], default=None)
    taken = {cohort.starts_at for cohort in cohorts}
    times = list(schedule_times(plan.starts, plan.first if last is None else last + TICK, now))
    times = [at for at in times if at not in taken]
    if not situation.live:
        return times[:1], []
    chosen = _caught_up(times, situation)
    return chosen[:1], [MissedRound(at) for at in times if at not in chosen]


def cohort_due(one: CohortProgress, situation: DueSituation) -> tuple[Due | None, list[MissedRound]]:
    """The first thing that is due for a cohort, and which of its rounds are passed over."""
    left = next((round for round in one.rounds if not round.done), None)
    coming, missed = _coming(one, situation)
    if left is not None:
        again = _retry(left, one.stored, situation)
        # Only a live round gives way to a later one: elsewhere no time passes, so a season plays in order.
        waits = one.stored.cohort.stamp == "live" and again.after is not None and again.after > situation.now
        if coming is None or not waits:
            return again, missed
        waiting = (again, _after_pause(coming, situation))
        return min(waiting, key=lambda due: due.after or situation.now), missed
    if one.snapshot_at is not None and not one.marked:
        coming = Due(one.snapshot_at, "track", one.stored)
    return (None if coming is None else _after_pause(coming, situation)), missed


def upcoming_work(situation: DueSituation, most: int) -> list[tuple[datetime, str]]:
    """What is due of the cohorts, and the next times at which they start or decide."""
    found = list[tuple[datetime, str]]()
    for one in due_work(situation).due:
        whose = "" if one.stored is None else f"cohort {one.stored.cohort.number} "
        found.append(
            (one.at, f"{whose}{STEP_WORDS[one.step]}, {'due now' if one.after is None else 'tried again'}")
        )
    ahead = situation.played_until + TICK
    starts = list(islice(schedule_times(situation.plan.starts, ahead), most))
    walks = (schedule_times(one, ahead) for one in situation.calendars.values())
    for at in sorted({*starts, *(at for times in walks for at in islice(times, most))})[:most]:
        words = ["a cohort starts"] if at in starts else []
        deciders = (one.stored for one in situation.open if round_to_decide(one.stored, at, situation))
        words += [f"cohort {stored.cohort.number} decides" for stored in deciders]
        found.append((at, ", ".join(words) or "positions are settled and marked"))
    return found


def blocked_cohorts(due: Sequence[Due], at: datetime) -> frozenset[int]:
    """The cohorts that must not be settled or marked at a time, since something earlier is not done."""
    return frozenset(one.stored.cohort.number for one in due if one.stored is not None and one.at <= at)


def round_to_decide(stored: StoredCohort, at: datetime, situation: DueSituation) -> int | None:
    """The number of the round that a cohort decides at a time, if it is one of those that decide then."""
    number = stored.cohort.calendar.number_at(at)
    if number is None:
        return None
    everyone = (one.stored for one in situation.progress)
    return (
        number
        if stored.cohort.number in deciding_numbers(everyone, at, situation.plan.keep_deciding)
        else None
    )


def _caught_up(times: Sequence[datetime], situation: DueSituation) -> list[datetime]:
    """Those of the times that are due which are not passed over. Within the window nothing was missed."""
    match situation.catch_up:
        case "all":
            return list(times)
        case "latest":
            return [at for at in times if at == times[-1] or situation.now - at <= PLAY_WINDOW]
        case "none":
            return [at for at in times if situation.now - at <= PLAY_WINDOW]


def _coming(one: CohortProgress, situation: DueSituation) -> tuple[Due | None, list[MissedRound]]:
    """The first time since the last look at which a cohort decides or is tracked, up to now."""
    stored, since = one.stored, one.snapshot_at
    first = stored.cohort.starts_at
    times = [at for at in situation.past if first <= at and (since is None or at > since)]
    numbers = {at: round_to_decide(stored, at, situation) for at in times}
    if stored.cohort.stamp != "live" and times:
        return _at(stored, times[0], numbers[times[0]]), []
    if stored.cohort.stamp != "live":
        look = None if since is None else situation.weekly_look(since)
        return (None if look is None else _at(stored, look, None)), []
    rounds = [at for at in times if numbers[at] is not None]
    chosen = _caught_up(rounds, situation)
    looks = [at for at in times[-1:] if numbers[at] is None]
    missed = [MissedRound(at, stored.cohort.number, numbers[at]) for at in rounds if at not in chosen]
    first_at = min([*chosen, *looks], default=None)
    return (None if first_at is None else _at(stored, first_at, numbers[first_at])), missed


def _at(stored: StoredCohort, at: datetime, number: int | None) -> Due:
    return Due(at, "track" if number is None else "play", stored, number)


def _retry(left: BegunRound, stored: StoredCohort, situation: DueSituation) -> Due:
    """What to do about a round that isn't done: go on, try again after a while, or call it over.

    Nobody decides on live prices that are history, nor in a cohort that was stopped. In a made-up world
    a round is over once all were asked and its time has passed; models that gave no answer are asked again.
    """
    over_at = left.taken_at + PLAY_WINDOW
    go_on, close = (Due(left.at, step, stored, left.number) for step in ROUND_STEPS)
    if not (left.pending or left.failed):
        return _after_pause(go_on, situation)
    paused = stored.paused_at is not None
    to_ask = left.pending if situation.leaves_failed else left.pending + left.unanswered
    unasked = to_ask > 0 and stored.cohort.stamp != "live"
    if stored.stopped_at is not None or (situation.now > over_at and (paused or not unasked)):
        return _after_pause(close, situation, over_at)
    if paused:
        return replace(close, after=over_at + TICK)
    again = _after_pause(go_on, situation)
    if unasked or again.after is None:
        return again
    return replace(again, after=min(again.after, over_at + TICK))


def _after_pause(due: Due, situation: DueSituation, since: datetime | None = None) -> Due:
    """The same, not before its pause is over where it was tried in vain, and not only until an instant.

    A try that was broken off was none: it is made again at once, when it would have been. A cohort's earlier
    round waits with a later one that was tried since, or the two would take turns without a pause.
    """
    last = situation.jobs.get(due.name)
    if last is None or last.due_at < due.at or last.ended_at is None or not last.failures:
        return due
    if since is not None and last.ended_at <= since:
        return due
    return replace(due, after=retry_at(last))
