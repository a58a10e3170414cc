"""When an arena is well, waits, is late or in trouble."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from arena.operations.health import BudgetUse, RoundCalendar, Spending, Status, Surroundings
from arena.operations.judge import judge_health
from tests.arena.status_parts import a_job_state, a_leader, a_round, an_incident, no_answer
from tests.builders import NOW
from tests.records.little_world import a_cohort, as_stored, live

ALIVE = a_leader()
GONE = replace(ALIVE, alive=False)
COHORT = as_stored(replace(live(a_cohort(["ann"])), number=2))
BEGUN = a_round(cohort=2)
DONE = replace(BEGUN, done=True)
DUE = {2: (1, NOW)}


def minutes(count: float) -> datetime:
    return NOW + timedelta(minutes=count)


def after(
    length: float,
    *rounds: object,
    leader: object = ALIVE,
    one: object = COHORT,
    **more: Any,
) -> Status:
    """Return how an arena stands this many minutes after its only round was due."""
    shape: dict[str, Any] = {
        "at": minutes(length),
        "leader": leader,
        "calendar": RoundCalendar(1),
        "playing": (one,),
    }
    return judge_health(Status(**shape | {"rounds": rounds} | more), DUE)


def codes(status: Status) -> list[str]:
    return [reason.code for reason in status.reasons]


SIMULATED = replace(COHORT, cohort=replace(COHORT.cohort, stamp="simulated"))
PAUSED = replace(COHORT, paused_at=NOW)
PLAYED = {"played": 1}
FAILED = {"played": 1, "failed": 2}
WORDS: list[tuple[Status, str, list[str]]] = [
    (after(9999, DONE), "ok", []),
    (after(5), "waiting", ["due"]),
    (after(20), "late", ["late"]),
    (after(359), "late", ["late"]),
    (after(361), "waiting", ["missed"]),
    (after(9999, leader=None), "late", ["late", "not_running"]),
    (after(9999, leader=GONE), "late", ["late", "not_running"]),
    (after(30, DONE, leader=None), "waiting", ["not_running"]),  # no fault while nothing is due
    (after(30, replace(BEGUN, turns=PLAYED)), "waiting", ["playing"]),
    (after(90, replace(BEGUN, turns=PLAYED)), "late", ["unfinished"]),
    (after(90, replace(BEGUN, turns=FAILED)), "waiting", ["failed_turns"]),
    (after(400, replace(BEGUN, turns=FAILED)), "late", ["unfinished"]),
    (after(9999, BEGUN, one=SIMULATED, leader=None), "waiting", ["unfinished"]),  # it is never late
    (after(9999, one=PAUSED), "waiting", ["paused"]),
    (judge_health(Status(NOW), {}), "waiting", ["nothing_begun"]),
]


@pytest.mark.parametrize(("status", "word", "reasons"), WORDS, ids=range(len(WORDS)))
def test_the_word_and_why(status: Status, word: str, reasons: list[str]) -> None:
    assert (status.word, codes(status)) == (word, reasons)


DISK = "the disk of the record is"
ROOM_AT_ONCE = "delete old backups or other files, or move the record"


@pytest.mark.parametrize(
    ("free", "text", "waits"),
    [
        (100_000, f"{DISK} full: 0 MB is free; {ROOM_AT_ONCE}", "everything"),
        (1_200_000, f"{DISK} nearly full: 1 MB is free; {ROOM_AT_ONCE}", ""),
        (9_000_000, f"{DISK} nearly full: 9 MB is free; {ROOM_AT_ONCE}", ""),
        (500_000_000, f"500 MB is free for a record of 2 MB; {ROOM_AT_ONCE}", ""),
    ],
)
def test_a_disk_with_little_room_says_what_frees_some_at_once(free: int, text: str, waits: str) -> None:
    (reason,) = after(30, DONE, around=Surroundings(size=2_000_000, free=free)).reasons
    assert (reason.text, reason.waits) == (text, waits)
    assert reason.cause == "pruning makes room for new rows in the record, but frees none on the disk"
    assert reason.command == "admin prune --older-than 90d"


def test_a_record_that_could_not_be_written_waits_on_a_disk_that_is_nearly_full() -> None:
    data = {"reason": "disk_full", "message": "the disk is full: cannot write arena.db"}
    told = an_incident("record_unusable", "record@1", "the record can't be used", 7, **data)
    (reason,) = after(30, DONE, incidents=(told,), around=Surroundings(free=9_000_000)).reasons
    assert (reason.waits, reason.incidents) == ("everything", (7,))


def refused(*agents: str) -> tuple[object, dict[str, Any]]:
    """Return a round in which a server refused the keys of these agents, and the turns without an answer."""
    state = replace(BEGUN, turns={"played": 3 - len(agents), "failed": len(agents)})
    turns = [no_answer(agent) for agent in agents]
    return state, {"unanswered": {state.id: turns}}


@pytest.mark.parametrize(
    ("agents", "places", "text"),
    [
        (["ann"], {"ann": "ANN_KEY in .env"}, "api.sky refuses the key of ann: ANN_KEY in .env"),
        (
            ["ann", "bob"],
            {"ann": "SKY_KEY", "bob": "SKY_KEY"},
            "api.sky refuses the key of ann, bob: SKY_KEY",
        ),
        (
            ["ann", "bob"],
            {"ann": "A", "bob": "B in .env"},
            "api.sky refuses the keys of ann, bob: A, B in .env",
        ),
        (["ann"], {}, "api.sky refuses the key of ann"),
    ],
)
def test_a_key_that_is_refused_is_named_by_its_variable(
    agents: list[str], places: dict[str, str], text: str
) -> None:
    state, unanswered = refused(*agents)
    (reason,) = after(30, state, around=Surroundings(key_places=places), **unanswered).reasons
    assert (reason.code, reason.text) == ("key_refused", text)


def test_the_lag_is_that_of_turns_that_are_not_in_and_not_of_those_tried_again() -> None:
    """And of rounds that are not begun while nothing runs; a world that is made up has none."""
    lags = (
        (after(30, BEGUN), 30),
        (after(30, replace(BEGUN, turns={"failed": 3})), 0),
        (after(9999, leader=None), 9999),
        (after(9999, DONE), 0),
        (after(9999, BEGUN, one=SIMULATED, leader=None), 0),
    )
    for status, minutes_late in lags:
        assert status.lag == timedelta(minutes=minutes_late)


def test_what_goes_on_is_trouble_until_it_ends() -> None:
    outage = an_incident("venue_down", text="sky gives no answer")
    assert after(30, DONE, incidents=(outage,)).word == "trouble"
    assert after(30, DONE, incidents=(replace(outage, ended_at=NOW),)).word == "ok"


def test_a_job_that_fails_again_and_again_is_trouble() -> None:
    job = a_job_state("quotes", failures=2, note="timeout")
    assert after(30, DONE, jobs=(job,)).word == "ok"
    assert codes(after(30, DONE, jobs=(replace(job, failures=3),))) == ["job_failing"]


def test_a_budget_that_is_spent_is_said() -> None:
    spend = Spending(20, 20, (BudgetUse("day", "", 20, 20), BudgetUse("agent", "ann in cohort 2", 1, 20)))
    status = after(30, DONE, spend=spend)
    assert [reason.text for reason in status.reasons] == ["the budget per day is spent"]


def test_the_worst_reason_comes_first_and_gives_the_word() -> None:
    job = a_job_state("quotes", failures=3)
    status = after(20, leader=None, jobs=(job,))
    assert codes(status) == ["job_failing", "late", "not_running"]
    assert status.word == "trouble"


def test_a_step_that_fails_says_why_and_when_it_is_tried_again() -> None:
    """As part of the round that is due, or by itself where that is done."""
    step = a_job_state("cohort 2", NOW, 1, "arena.db can only be read", ended_at=minutes(5))
    (due,) = after(5, steps={"cohort 2": step}).reasons
    (tracked,) = after(5, DONE, steps={"cohort 2": step}).reasons
    assert [due.code, tracked.code] == ["due", "job_failing"]
    for reason in (due, tracked):
        assert (reason.cause, reason.since, reason.next_try) == (step.note, NOW, minutes(6))
    assert tracked.text == "cohort 2 has failed 1 time in a row"
    assert after(999, DONE, steps={"cohort 2": step}).word == "ok", "nobody tries it any more"


def test_jobs_that_fail_since_their_venue_is_down_are_part_of_that() -> None:
    told = an_incident("venue_down", "sky@1", "sky can't be reached", 7, venue="sky", message="no")
    jobs = tuple(a_job_state(name, failures=9, note="sky: no") for name in ("quotes", "resolutions"))
    (reason,) = after(30, DONE, incidents=(told,), jobs=jobs, next_jobs={"quotes": minutes(31)}).reasons
    assert (reason.code, reason.cause, reason.next_try) == ("venue_down", "no", minutes(31))
    assert reason.incidents == (7,)
