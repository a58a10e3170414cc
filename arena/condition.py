"""Is an arena well? The one definition, for the command line, the health endpoint and the pages alike."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from arena.status import WORDS, Playing, Reason, RoundState, Status
from arena.timetable import WINDOW
from arena.wording import counted

GRACE = timedelta(minutes=15)
"""How long after its time a round may begin."""
PATIENCE = timedelta(hours=1)
"""How long a round may take."""
FAILURES = 3
"""After so many in a row a job is not taken to mend itself."""

Due = dict[int, tuple[int, datetime]]
"""The last round whose time has come, number and time, by the number of its cohort."""


def judged(status: Status, due: Due) -> Status:
    """The status with its health, and by how much the latest round is late that should have been played."""
    on_duty = status.duty is not None and status.duty.alive
    known = {(round.cohort, round.number): round for round in status.rounds}
    found, lag = list(_troubles(status)), timedelta()
    for one in status.playing:
        if one.number in due and one.paused_at is None:
            number, at = due[one.number]
            state = known.get((one.number, number))
            reason = _of_round(one, number, at, state, status.at, on_duty)
            found += [reason] if reason else []
            if one.live and reason is not None and reason.code in ("due", "late", "playing", "unfinished"):
                lag = max(lag, status.at - at)
    found += _waits(status, on_duty)
    worst_first = sorted(found, key=lambda reason: WORDS.index(reason.word), reverse=True)
    return replace(status, reasons=tuple(worst_first), lag=lag)


def _of_round(
    one: Playing, number: int, at: datetime, state: RoundState | None, now: datetime, on_duty: bool
) -> Reason | None:
    """What there is to say of the last round of a cohort whose time has come."""
    which, since = f"round {number} of cohort {one.number}", now - at
    if state is not None and state.done:
        return None
    if not one.live:
        return Reason("waiting", "unfinished", f"{which} is not finished")
    if state is not None:
        return _of_begun(which, state, now)
    if since <= GRACE:
        return Reason("waiting", "due", f"{which} is due")
    if since <= WINDOW or not on_duty:
        return Reason("late", "late", f"{which} was due at {at:%Y-%m-%d %H:%M} UTC and has not begun")
    return Reason("waiting", "missed", f"{which} was not played in its time, {at:%Y-%m-%d %H:%M} UTC")


def _of_begun(which: str, state: RoundState, now: datetime) -> Reason | None:
    """What there is to say of a round that has begun and isn't done."""
    since, failed = now - state.taken_at, state.turns.get("failed", 0)
    if since > WINDOW + GRACE:
        return Reason("late", "unfinished", f"{which} is not finished")
    if not state.missing:
        words = f"{counted(failed, 'turn')} in {which} failed and will be tried again"
        return Reason("waiting", "failed_turns", words)
    words = f"{counted(state.missing, 'turn')} still to come in {which}"
    return Reason("late", "unfinished", words) if since > PATIENCE else Reason("waiting", "playing", words)


def _troubles(status: Status) -> Iterator[Reason]:
    """What does not mend itself."""
    for told in status.incidents:
        if told.ended_at is None:
            yield Reason("trouble", told.incident.kind, told.incident.text)
    for job in status.jobs:
        if job.failures >= FAILURES:
            words = f"the job {job.name} has failed {job.failures} times in a row"
            yield Reason("trouble", "job_failing", words)


def _waits(status: Status, on_duty: bool) -> Iterator[Reason]:
    """What is still to come, or is left to the operator."""
    if not status.calendar.cohorts:
        yield Reason("waiting", "nothing_begun", "no cohort has started yet")
    if not on_duty and any(one.live for one in status.playing):
        yield Reason("waiting", "nobody_on_duty", "nobody is on duty: `arena run` is not running")
    for one in status.playing:
        if one.paused_at is not None:
            yield Reason("waiting", "paused", f"cohort {one.number} is paused")
    for limit in status.spend.limits:
        if limit.spent >= limit.limit:
            whose = f" of {limit.whose}" if limit.whose else ""
            yield Reason("waiting", "budget_spent", f"the budget per {limit.scope}{whose} is spent")
