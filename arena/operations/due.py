"""What is due for the cohorts, by their calendars and by what the record says was done; pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Literal

from arena.cohorts.cohort import deciding_cohort_numbers
from arena.cohorts.schedule import (
    PLAY_WINDOW,
    TICK,
    Plan,
    Schedule,
    next_time,
    next_time_of_any,
    retry_at,
    schedule_times,
)
from arena.record.model.calendar import WEEK, Calendar
from arena.record.model.cohort import JobState
from arena.record.model.reservation import midnight
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
    "settle": "results and corrections are read",
}
CatchUp = Literal["latest", "all", "none"]
"""Which of the starts and rounds that were missed are still played: the newest, all, or none."""


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is due for a cohort at a scheduled time, not to be done before `after`.

    Steps are: `start` the cohort, `play` its round, `close` a round whose time is over, `track` the cohort at
    a time when it decides nothing. Once all cohorts have ended, `settle` them by later corrections.
    """

    at: datetime
    step: Step
    stored: StoredCohort | None = None
    number: int | None = None
    after: datetime | None = None

    @property
    def cohort_number(self) -> int:
        """Return the number of its cohort, 0 without one."""
        if self.stored is None:
            return 0
        return self.stored.cohort.number

    @property
    def name(self) -> str:
        """Return the name under which the record keeps its result."""
        if self.stored is not None:
            return f"cohort {self.cohort_number}"
        if self.step == "settle":
            return CORRECTIONS
        return self.step

    @property
    def is_paused(self) -> bool:
        """Tell whether its cohort is paused."""
        return self.stored is not None and self.stored.paused_at is not None

    def rests(self, now: datetime) -> bool:
        """Tell whether it is not to be done yet."""
        return self.after is not None and self.after > now


@dataclass(frozen=True, slots=True)
class MissedRound:
    """A start, or a cohort's round, that was missed and is skipped."""

    at: datetime
    cohort: int | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class DueWork:
    """What is due for the cohorts, in order; the schedules by which more will be; and what is skipped.

    It is `over` when no cohort is open, none will start and no correction may come, and `idle` when only
    corrections may still come. `next_round` is the next time at which a cohort decides or starts.
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

    At a live venue only the present can be looked at; in a simulated or recorded world nothing is missed.
    `live` says which of the two the config's own cohorts start in. Once all have ended, `look` is when to ask
    for corrections. With `leaves_failed` no model that gave no answer is waited for.
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
    def stored_cohorts(self) -> list[StoredCohort]:
        """Return all cohorts, also those that have ended."""
        return [progress.stored for progress in self.progress]

    @cached_property
    def open_cohorts(self) -> list[CohortProgress]:
        """Return the cohorts that have not ended."""
        return [progress for progress in self.progress if progress.stored.ended_at is None]

    @cached_property
    def since(self) -> datetime:
        """Return the oldest of the last looks at the open cohorts, or now without an open cohort."""
        looks = [progress.snapshot_at or progress.stored.cohort.starts_at for progress in self.open_cohorts]
        return min(looks, default=self.now)

    @property
    def played_until(self) -> datetime:
        """Return now, or the last look at a season that was played ahead of the clock."""
        looks = [progress.snapshot_at or self.now for progress in self.open_cohorts]
        return max([self.now, *looks])

    @property
    def corrections_at(self) -> datetime | None:
        """Return when corrections are to be read next: at a live venue not before today."""
        if self.look is None or not self.live:
            return self.look
        return max(self.look, midnight(self.now))

    @cached_property
    def calendars(self) -> dict[str, Calendar]:
        """Return the calendars of cohorts that are open, or ended after the oldest of the last looks."""
        calendars = {}
        for stored in self.stored_cohorts:
            if stored.ended_at is None or stored.ended_at >= self.since:
                calendars[f"cohort {stored.cohort.number}"] = stored.cohort.calendar.until(stored.ended_at)

        return calendars

    @cached_property
    def past(self) -> list[datetime]:
        """Return the times from the oldest of the last looks until now at which some cohort decides."""
        times = set[datetime]()
        for calendar in self.calendars.values():
            times.update(schedule_times(calendar, self.since, self.now))

        return sorted(times)

    def weekly_look(self, since: datetime) -> datetime | None:
        """Return the first weekly look after an instant at a season that has no decision to come.

        What is still open then is settled at the season's own times, whenever that is done. None if a cohort
        is still to start, or that look is not past.
        """
        if next_time(self.plan.starts, since) is not None:
            return None

        last_times = []
        for stored in self.stored_cohorts:
            calendar = stored.cohort.calendar.until(stored.ended_at)  # a stopped one may have ended early
            last_times.append(calendar.time(calendar.count or 1))

        last_decision = max(last_times)
        weeks = max((since - last_decision) // WEEK, 0) + 1
        look = last_decision + weeks * WEEK
        return look if look <= self.now else None


def due_work(situation: DueSituation) -> DueWork:
    """Return what is due now, the oldest first; at the same time starts first, then cohorts by number."""
    now = situation.now
    starts = situation.plan.starts
    due = []

    start, missed = start_due(situation)
    if start is not None:
        due.append(_after_pause(Due(start, "start"), situation))

    for progress in situation.open_cohorts:
        step, missed_rounds = cohort_due(progress, situation)
        if step is not None:
            due.append(step)
        missed += missed_rounds

    due.sort(key=lambda step: (step.at, step.cohort_number))

    schedules: dict[str, Schedule] = {"start": starts, **situation.calendars}
    next_round = next_time_of_any(schedules, situation.played_until)
    for resting in due:
        if resting.after is not None and resting.rests(now):
            schedules[f"{resting.name} again"] = resting.after

    # Corrections come last: they are read after all that is due for cohorts.
    corrections_at = situation.corrections_at
    if corrections_at is not None:
        schedules[CORRECTIONS] = corrections_at
        if corrections_at <= now:
            due.append(_after_pause(Due(corrections_at, "settle"), situation))

    idle = start is None and not situation.open_cohorts and next_time(starts, now) is None
    over = idle and corrections_at is None
    return DueWork(tuple(due), schedules, next_round, tuple(missed), over, idle)


def start_due(situation: DueSituation) -> tuple[datetime | None, list[MissedRound]]:
    """Return when the next cohort should have started, None if it need not have; and the skipped starts.

    Only starts after the last scheduled one count, and in a simulated or recorded world those after the last
    look. A time at which a cohort was started by hand is taken.
    """
    plan = situation.plan
    if plan.at_once is not None:
        return plan.at_once, []

    taken_starts = set()
    past_times = []
    for progress in situation.progress:
        cohort = progress.stored.cohort
        taken_starts.add(cohort.starts_at)
        if not cohort.by_hand:
            past_times.append(cohort.starts_at)
        if progress.snapshot_at is not None and not situation.live:
            past_times.append(progress.snapshot_at)

    since = max(past_times) + TICK if past_times else plan.first
    due_starts = [at for at in schedule_times(plan.starts, since, situation.now) if at not in taken_starts]
    playable = _times_still_played(due_starts, situation) if situation.live else due_starts
    missed = [MissedRound(at) for at in due_starts if at not in playable]
    return next(iter(playable), None), missed


def cohort_due(progress: CohortProgress, situation: DueSituation) -> tuple[Due | None, list[MissedRound]]:
    """Return the first step that is due for a cohort, if there is one, and its rounds that are skipped."""
    stored = progress.stored
    next_step, missed = _next_step_and_missed(progress, situation)
    unfinished = next((begun for begun in progress.rounds if not begun.done), None)

    if unfinished is None:
        # A snapshot without marks is marked before anything else is done.
        if progress.snapshot_at is not None and not progress.marked:
            next_step = _after_pause(Due(progress.snapshot_at, "track", stored), situation)
        return next_step, missed

    retry = _retry(unfinished, stored, situation)
    # Only a live round gives way, and only to a later one: a mere look at the cohort would close it.
    # Elsewhere no time passes, so a season plays in order.
    gives_way = stored.cohort.stamp == "live" and retry.rests(situation.now)
    if next_step is None or next_step.step != "play" or not gives_way:
        return retry, missed

    first = min(retry, next_step, key=lambda step: step.after or situation.now)
    return first, missed


def upcoming_work(situation: DueSituation, most: int) -> list[tuple[datetime, str]]:
    """Return in words what is due for the cohorts, and the next times at which they start or decide."""
    upcoming = []
    for step in due_work(situation).due:
        cohort = "" if step.stored is None else f"{step.name} "
        when = "due now" if step.after is None else "tried again"
        upcoming.append((step.at, f"{cohort}{STEP_WORDS[step.step]}, {when}"))

    ahead = situation.played_until + TICK
    starts = set(islice(schedule_times(situation.plan.starts, ahead), most))
    times = set(starts)
    for calendar in situation.calendars.values():
        times.update(islice(schedule_times(calendar, ahead), most))

    for at in sorted(times)[:most]:
        events = []
        if at in starts:
            events.append("a cohort starts")
        events.extend(
            f"cohort {stored.cohort.number} decides"
            for stored in situation.stored_cohorts
            if round_to_decide(stored, at, situation) is not None
        )
        upcoming.append((at, ", ".join(events) or "positions are settled and marked"))

    return upcoming


def blocked_cohorts(due: Sequence[Due], at: datetime) -> frozenset[int]:
    """Return the cohorts that must not be settled or marked at a time: they have an earlier step to do."""
    return frozenset(step.cohort_number for step in due if step.stored is not None and step.at <= at)


def round_to_decide(stored: StoredCohort, at: datetime, situation: DueSituation) -> int | None:
    """Return the number of the round that a cohort decides at a time; None if it does not decide then."""
    number = stored.cohort.calendar.number_at(at)
    if number is None:
        return None

    deciding = deciding_cohort_numbers(situation.stored_cohorts, at, situation.plan.keep_deciding)
    return number if stored.cohort.number in deciding else None


def _times_still_played(times: list[datetime], situation: DueSituation) -> list[datetime]:
    """Return the due times that are not skipped: always those whose play window is still open."""
    if situation.catch_up == "all":
        return times

    recent = [at for at in times if situation.now - at <= PLAY_WINDOW]
    if situation.catch_up == "latest":
        return recent or times[-1:]
    return recent


def _next_step_and_missed(
    progress: CohortProgress, situation: DueSituation
) -> tuple[Due | None, list[MissedRound]]:
    """Return the first step up to now that comes after a cohort's last look, and its skipped rounds."""
    stored = progress.stored
    last_look = progress.snapshot_at or stored.cohort.starts_at - TICK
    times = [at for at in situation.past if at > last_look]

    if stored.cohort.stamp != "live":
        return _next_in_order(times, progress, situation), []

    round_numbers = {}
    for at in times:
        number = round_to_decide(stored, at, situation)
        if number is not None:
            round_numbers[at] = number

    playable = _times_still_played(list(round_numbers), situation)
    missed = []
    for at, number in round_numbers.items():
        if at not in playable:
            missed.append(MissedRound(at, stored.cohort.number, number))

    # A round comes first; without one, the cohort is settled and marked at the last time.
    step = None
    if playable:
        at = playable[0]
        step = _after_pause(Due(at, "play", stored, round_numbers[at]), situation)
    elif times and times[-1] not in round_numbers:
        step = _after_pause(Due(times[-1], "track", stored), situation)
    return step, missed


def _next_in_order(
    times: Sequence[datetime], progress: CohortProgress, situation: DueSituation
) -> Due | None:
    """Return the next step of a simulated or recorded season, in which none is skipped."""
    at = next(iter(times), None)
    if at is None and progress.snapshot_at is not None:  # all rounds are over
        at = situation.weekly_look(progress.snapshot_at)
    if at is None:
        return None

    number = round_to_decide(progress.stored, at, situation)
    step: Step = "track" if number is None else "play"
    return _after_pause(Due(at, step, progress.stored, number), situation)


def _retry(begun: BegunRound, stored: StoredCohort, situation: DueSituation) -> Due:
    """Return the step for a round that isn't done: play on, retry after a pause, or close it.

    Nobody decides on live prices that are history, nor in a cohort that was stopped. In a simulated or
    recorded world a round is over once all agents were asked and its time has passed; models that gave no
    answer are asked again.
    """
    over_at = begun.taken_at + PLAY_WINDOW
    play = Due(begun.at, "play", stored, begun.number)
    close = replace(play, step="close")
    if not (begun.pending or begun.failed):
        return _after_pause(play, situation)

    turns_to_ask = begun.pending + begun.retried
    if not situation.leaves_failed:
        turns_to_ask += begun.unanswered
    must_ask = turns_to_ask > 0 and stored.cohort.stamp != "live"

    is_paused = stored.paused_at is not None
    is_over = situation.now > over_at and (is_paused or not must_ask)
    if is_over or stored.stopped_at is not None:
        return _after_pause(close, situation, over_at)
    if is_paused:
        return replace(close, after=over_at + TICK)

    retry = _after_pause(play, situation)
    if must_ask or retry.after is None:
        return retry
    return replace(retry, after=min(retry.after, over_at + TICK))


def _after_pause(due: Due, situation: DueSituation, since: datetime | None = None) -> Due:
    """Return the same step, postponed by the pause after a failed try of it.

    A try until `since` doesn't count. Nor does one that was broken off, or that ended at a time still to come
    because the clock was put back: it is made again at once. The try of a later round of the cohort counts
    for an earlier one, or the two would take turns without a pause.
    """
    last = situation.jobs.get(due.name)
    if last is None or last.ended_at is None or not last.failures or last.ended_at > situation.now:
        return due
    if last.due_at < due.at:
        return due
    if since is not None and last.ended_at <= since:
        return due
    return replace(due, after=retry_at(last))
