"""Which decision time is to be played: what the record and the plan say is due."""

from datetime import datetime

from arena.cohort import number_at
from arena.errors import ArenaError
from arena.season import as_begun, open_cohorts
from arena.store.read import StoredCohort
from arena.store.record import Record
from arena.timetable import WEEK, WINDOW, Plan
from arena.turns import unfinished

SHORT = "%Y-%m-%dT%H:%MZ"


def next_time(plan: Plan, record: Record, live: bool, now: datetime) -> datetime:
    """The time to play when none is named: what was broken off, else what comes next, else what is due."""
    newest, plan = record.newest_time(), as_begun(plan, record)
    if newest is not None and any(left_at(newest, stored, record) for stored in open_cohorts(record)):
        return newest
    if live:
        return latest_due(plan, now)
    following = plan.first if newest is None else plan.next_after(newest)
    if following is None and newest is not None and open_cohorts(record):
        following = newest + WEEK  # every round is over, and what is open is still to be settled
    if following is None:
        raise ArenaError("over", "every round has been played", "arena leaderboard shows how it went")
    return following


def latest_due(plan: Plan, now: datetime) -> datetime:
    """The last decision time, if it was not so long ago that its prices are history."""
    due = plan.decision_times(now)
    if not due or now - due[-1] > WINDOW:
        after = plan.next_after(now)
        words = f"no decision is due; the next is on {after:{SHORT}}" if after else "every round is over"
        raise ArenaError("not_due", words, "a round is played within 6 hours of its time")
    return due[-1]


def left_at(newest: datetime, stored: StoredCohort, record: Record) -> bool:
    """Whether the newest time was broken off for a cohort; one that only has failed turns left was not."""
    if stored.cohort.starts_at > newest:
        return False
    if not record.has_marks(stored.id, newest):
        return True
    round = next((round for round in record.rounds(stored.id) if round.at == newest), None)
    halted = stored.paused_at is not None or stored.stopped_at is not None
    if round is None or round.done or halted:
        return False
    verdicts = record.verdicts(round.id)
    return not unfinished(stored, verdicts, {"failed"}) or bool(unfinished(stored, verdicts))


def check_time(at: datetime, plan: Plan, record: Record, live: bool, now: datetime) -> None:
    """A time to come, one before the last played, or one at which nothing is to be done is a mistake."""
    newest, cohorts, plan = record.newest_time(), record.cohorts(), as_begun(plan, record)
    decides = plan.starting(at) is not None or any(number_at(x.cohort, at) for x in cohorts)
    settles = newest is not None and at >= newest and open_cohorts(record) and not (at - plan.first) % WEEK
    if not decides and not settles:
        near = plan.next_after(at)
        mend = f"the next decision is on {near:{SHORT}}" if near else "every round is over by then"
        raise ArenaError("no_round", f"nobody decides on {at:{SHORT}}", mend)
    if live and at > now:
        raise ArenaError("not_due", f"{at:{SHORT}} is still to come", "a live round is played at its time")
    times = {round.at for stored in cohorts for round in record.rounds(stored.id)}
    late = (live and now - at > WINDOW) or (newest is not None and at < newest)
    if late and at not in times:
        words = f"{at:{SHORT}} was missed: its prices are history"
        raise ArenaError("too_late", words, "play the next round: arena round")
