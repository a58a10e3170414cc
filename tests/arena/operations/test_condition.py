"""When an arena is well, waits, is late or in trouble."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from arena.operations.status import (
    BudgetUse,
    RoundCalendar,
    Spending,
    Status,
    judge_health,
)
from arena.record.model.cohort import JobState
from arena.record.model.incident import Incident, RecordedIncident
from arena.record.model.status import LeaderStatus, RoundState
from arena.record.queries.cohorts import StoredCohort
from tests.builders import NOW
from tests.records.little_world import WEEK, a_cohort, live

ALIVE = LeaderStatus("host", "1", True, NOW + WEEK)
GONE = replace(ALIVE, alive=False)
COHORT = StoredCohort(1, replace(live(a_cohort(["ann"])), number=2), {}, None)
BEGUN = RoundState(7, 2, 1, NOW, NOW + timedelta(seconds=9), False, 3, {"played": 1})
DUE = {2: (1, NOW)}


def minutes(count: float) -> datetime:
    return NOW + timedelta(minutes=count)


def after(
    length: float,
    *rounds: RoundState,
    leader: LeaderStatus | None = ALIVE,
    one: StoredCohort = COHORT,
    **more: Any,
) -> Status:
    """How an arena stands so many minutes after its only round was due."""
    shape: dict[str, Any] = {
        "at": minutes(length),
        "leader": leader,
        "calendar": RoundCalendar(1),
        "playing": (one,),
    }
    return judge_health(Status(**shape | {"rounds": rounds} | more), DUE)


def codes(status: Status) -> list[str]:
    return [reason.code for reason in status.reasons]


def test_a_round_that_is_done_leaves_all_well() -> None:
    status = after(9999, replace(BEGUN, done=True))
    assert (status.word, status.reasons, status.lag) == ("ok", (), timedelta())


@pytest.mark.parametrize(
    ("length", "word", "code"),
    [(5, "waiting", "due"), (20, "late", "late"), (359, "late", "late"), (361, "waiting", "missed")],
)
def test_a_round_that_has_not_begun_is_due_then_late_then_missed(length: int, word: str, code: str) -> None:
    status = after(length)
    assert (status.word, codes(status)) == (word, [code])


def test_while_nothing_runs_a_round_is_late_for_as_long_as_that_lasts() -> None:
    for nobody in (None, GONE):
        status = after(9999, leader=nobody)
        assert (status.word, codes(status)) == ("late", ["late", "not_running"])
        assert status.lag == timedelta(minutes=9999)


def test_that_nothing_runs_is_no_fault_while_nothing_is_due() -> None:
    status = after(30, replace(BEGUN, done=True), leader=None)
    assert (status.word, codes(status)) == ("waiting", ["not_running"])


@pytest.mark.parametrize(
    ("length", "turns", "word", "code"),
    [
        (30, {"played": 1}, "waiting", "playing"),
        (90, {"played": 1}, "late", "unfinished"),
        (90, {"played": 1, "failed": 2}, "waiting", "failed_turns"),
        (400, {"played": 1, "failed": 2}, "late", "unfinished"),
    ],
)
def test_a_round_that_goes_on_has_its_time(length: int, turns: dict[str, int], word: str, code: str) -> None:
    status = after(length, replace(BEGUN, turns=turns))
    assert (status.word, codes(status)) == (word, [code])


def test_the_lag_is_that_of_turns_that_are_not_in_and_not_of_those_tried_again() -> None:
    assert after(30, BEGUN).lag == timedelta(minutes=30)
    assert after(30, replace(BEGUN, turns={"failed": 3})).lag == timedelta()


def test_a_world_that_is_made_up_is_never_late() -> None:
    status = after(
        9999, BEGUN, one=replace(COHORT, cohort=replace(COHORT.cohort, stamp="simulated")), leader=None
    )
    assert (status.word, codes(status), status.lag) == ("waiting", ["unfinished"], timedelta())


def test_a_cohort_that_is_paused_waits() -> None:
    status = after(9999, one=replace(COHORT, paused_at=NOW))
    assert (status.word, codes(status)) == ("waiting", ["paused"])


def test_before_anything_has_begun_the_arena_waits() -> None:
    assert codes(judge_health(Status(NOW), {})) == ["nothing_begun"]


def test_what_goes_on_is_trouble_until_it_ends() -> None:
    outage = RecordedIncident(
        1, Incident("venue_down", "sky@1", NOW, "sky gives no answer"), None, None, 0, None
    )
    done = replace(BEGUN, done=True)
    assert after(30, done, incidents=(outage,)).word == "trouble"
    assert after(30, done, incidents=(replace(outage, ended_at=NOW),)).word == "ok"


def test_a_job_that_fails_again_and_again_is_trouble() -> None:
    job = JobState("quotes", NOW, NOW, NOW, 2, "timeout")
    done = replace(BEGUN, done=True)
    assert after(30, done, jobs=(job,)).word == "ok"
    assert codes(after(30, done, jobs=(replace(job, failures=3),))) == ["job_failing"]


def test_a_budget_that_is_spent_is_said() -> None:
    spend = Spending(20, 20, (BudgetUse("day", "", 20, 20), BudgetUse("agent", "ann in cohort 2", 1, 20)))
    status = after(30, replace(BEGUN, done=True), spend=spend)
    assert [reason.text for reason in status.reasons] == ["the budget per day is spent"]


def test_the_worst_reason_comes_first_and_gives_the_word() -> None:
    job = JobState("quotes", NOW, NOW, NOW, 3, "")
    status = after(20, leader=None, jobs=(job,))
    assert codes(status) == ["job_failing", "late", "not_running"]
    assert status.word == "trouble"
