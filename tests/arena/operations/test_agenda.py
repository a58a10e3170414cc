"""What is due of the cohorts: starts, rounds, looks; what was missed, what is tried again, what is over."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cohorts.schedule import Job, next_time_of_any
from arena.operations.due import CatchUp, Due, DueSituation, DueWork, blocked_cohorts, due_work, upcoming_work
from arena.operations.run import due_tasks
from arena.record.model.calendar import Cadence
from arena.record.model.cohort import Cohort, JobState
from arena.record.queries.progress import BegunRound, CohortProgress
from tests.builders import NOW
from tests.records.little_world import WEEK, a_cohort, a_plan, as_stored, live

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def cohort(number: int = 1, rounds: int = 5, real: bool = True) -> Cohort:
    shape = replace(a_cohort(["ann", "bob"]), number=number, rounds=rounds)
    shape = replace(shape, starts_at=NOW + (number - 1) * WEEK)
    return live(shape) if real else shape


def course(
    one: Cohort,
    *rounds: BegunRound,
    looked: datetime | None = None,
    marked: bool = True,
    ended: datetime | None = None,
    paused: datetime | None = None,
    stopped: datetime | None = None,
) -> CohortProgress:
    stored = as_stored(one, ended, paused_at=paused, stopped_at=stopped)
    return CohortProgress(stored, rounds, looked or max((x.at for x in rounds), default=None), marked)


def played(
    number: int, done: bool = True, pending: int = 0, failed: int = 0, taken: timedelta = DAY * 0
) -> BegunRound:
    at = NOW + (number - 1) * WEEK
    return BegunRound(number, at, at + taken, done, pending, failed)


def at_work(
    now: datetime,
    *progress: CohortProgress,
    catch_up: CatchUp = "latest",
    count: int | None = 1,
    keep: int = 5,
    jobs: Sequence[JobState] = (),
    real: bool = True,
) -> DueSituation:
    plan = a_plan(5, count, keep, nobody_starts=True)
    return DueSituation(plan, progress, {job.name: job for job in jobs}, real, catch_up, now)


def steps(found: DueWork) -> list[tuple[str, str, int]]:
    """Return what may be done: whose, what, and how many days after NOW it was due."""
    return [(one.name, one.step, (one.at - NOW).days) for one in found.due]


def tried(name: str, at: datetime, ended: datetime, failures: int = 1) -> JobState:
    return JobState(name, at, ended, ended, failures, "in vain")


def test_a_cohort_starts_and_decides_at_its_times_and_in_between_nothing_is_due() -> None:
    assert steps(due_work(at_work(NOW))) == [("start", "start", 0)]
    assert steps(due_work(at_work(NOW, course(cohort())))) == [("cohort 1", "play", 0)]
    between = due_work(at_work(NOW + DAY, course(cohort(), played(1))))
    assert (between.due, between.next_round) == ((), NOW + WEEK)
    ahead = course(cohort(real=False), *map(played, (1, 2, 3)))
    assert due_work(at_work(NOW + DAY, ahead, real=False)).next_round == NOW + 3 * WEEK
    assert next_time_of_any(between.schedules, NOW + DAY) == NOW + WEEK
    assert steps(due_work(at_work(NOW + WEEK, course(cohort(), played(1))))) == [("cohort 1", "play", 7)]


def test_at_one_time_starts_come_first_and_then_cohorts_by_number_and_who_is_overtaken_is_tracked() -> None:
    found = due_work(at_work(NOW + WEEK, course(cohort(), played(1)), count=None))
    assert steps(found) == [("start", "start", 7), ("cohort 1", "play", 7)]
    both = (course(cohort(), played(1)), course(cohort(2)))
    for keep, first in ((5, "play"), (1, "track")):
        found = due_work(at_work(NOW + WEEK, *both, count=2, keep=keep))
        assert steps(found) == [("cohort 1", first, 7), ("cohort 2", "play", 7)]


LATE = NOW + 3 * WEEK + DAY
"""A day after round 4, of which and of the two before nothing is there."""
MISSED: list[tuple[CatchUp, list[tuple[str, str, int]], list[int | None]]] = [
    ("latest", [("cohort 1", "play", 21)], [2, 3]),
    ("all", [("cohort 1", "play", 7)], []),
    ("none", [], [2, 3, 4]),
]


@pytest.mark.parametrize(("policy", "due", "missed"), MISSED)
def test_missed_rounds_are_caught_up_as_the_config_says(
    policy: CatchUp, due: list[tuple[str, str, int]], missed: list[int | None]
) -> None:
    found = due_work(at_work(LATE, course(cohort(), played(1)), catch_up=policy))
    assert steps(found) == due
    assert [one.number for one in found.missed] == missed


@pytest.mark.parametrize("policy", ["latest", "all", "none"])
def test_within_six_hours_nothing_was_missed_and_in_a_made_up_world_never(policy: CatchUp) -> None:
    soon = NOW + WEEK + 6 * HOUR
    assert steps(due_work(at_work(soon, course(cohort(), played(1)), catch_up=policy))) == [
        ("cohort 1", "play", 7)
    ]
    made_up = course(cohort(real=False), played(1))
    found = due_work(at_work(LATE, made_up, catch_up=policy, real=False))
    assert (steps(found), found.missed) == ([("cohort 1", "play", 7)], ())


def test_a_round_that_was_passed_over_by_a_later_look_is_past() -> None:
    looked = course(cohort(), played(1), looked=NOW + WEEK + 2 * DAY)
    found = due_work(at_work(NOW + WEEK + 3 * DAY, looked, catch_up="all"))
    assert (found.due, found.missed) == ((), ())


STARTS: list[tuple[CatchUp, list[int], list[int]]] = [
    ("latest", [21], [7, 14]),
    ("all", [7], []),
    ("none", [], [7, 14, 21]),
]


@pytest.mark.parametrize(("policy", "starts", "missed"), STARTS)
def test_missed_starts_too(policy: CatchUp, starts: list[int], missed: list[int]) -> None:
    begun = course(cohort(rounds=1), played(1))
    found = due_work(at_work(LATE, begun, catch_up=policy, count=None))
    assert [(one.at - NOW).days for one in found.due if one.step == "start"] == starts
    assert [(one.at - NOW).days for one in found.missed if one.cohort is None] == missed
    made_up = due_work(at_work(LATE, course(cohort(rounds=1, real=False), played(1)), count=None, real=False))
    assert steps(made_up)[:1] == [("start", "start", 7)]


def test_failed_turns_are_tried_again_with_growing_pauses_until_their_time_is_over() -> None:
    left = played(1, done=False, failed=1, taken=HOUR)
    at = NOW + 2 * HOUR
    once = tried("cohort 1", NOW, at, 4)
    waits = due_work(at_work(at, course(cohort(), left), jobs=[once]))
    assert [one.after for one in waits.due] == [at + timedelta(minutes=8)]
    assert next_time_of_any(waits.schedules, at) == at + timedelta(minutes=8)
    almost = tried("cohort 1", NOW, NOW + 7 * HOUR, 9)
    last = due_work(at_work(NOW + 7 * HOUR, course(cohort(), left), jobs=[almost]))
    over = NOW + 7 * HOUR + timedelta(microseconds=1)  # six hours after the prices were looked at
    assert [(one.step, one.after) for one in last.due] == [("play", over)]
    assert steps(due_work(at_work(over, course(cohort(), left), jobs=[almost]))) == [("cohort 1", "close", 0)]
    failed = tried("cohort 1", NOW, over, 10)
    again = due_work(at_work(over, course(cohort(), left), jobs=[failed]))
    assert [one.after for one in again.due] == [over + HOUR], "closing has failed, and waits as well"


def test_a_venue_that_is_down_is_asked_again_after_a_pause() -> None:
    down = tried("cohort 1", NOW, NOW + HOUR, 2)
    found = due_work(at_work(NOW + HOUR, course(cohort()), jobs=[down]))
    assert [(one.step, one.after) for one in found.due] == [("play", NOW + HOUR + timedelta(minutes=2))]
    next_week = due_work(at_work(NOW + WEEK, course(cohort(), played(1)), jobs=[down]))
    assert [one.after for one in next_week.due] == [None], "another round has no pauses to keep"


def test_turns_that_are_missing_are_played_at_once_and_live_ones_not_on_old_prices() -> None:
    broken = played(1, done=False, pending=2)
    soon = NOW + HOUR
    late = NOW + 7 * HOUR
    assert steps(due_work(at_work(soon, course(cohort(), broken)))) == [("cohort 1", "play", 0)]
    assert steps(due_work(at_work(late, course(cohort(), broken)))) == [("cohort 1", "close", 0)]
    made_up = course(cohort(real=False), broken)
    assert steps(due_work(at_work(late, made_up, real=False))) == [("cohort 1", "play", 0)]
    tried_all = course(cohort(real=False), played(1, done=False, failed=1))
    assert steps(due_work(at_work(late, tried_all, real=False))) == [("cohort 1", "close", 0)]


def test_a_round_that_waits_gives_way_to_the_next_one() -> None:
    left = played(1, done=False, failed=1, taken=WEEK - HOUR)
    jobs = [tried("cohort 1", NOW, NOW + WEEK)]
    found = due_work(at_work(NOW + WEEK, course(cohort(), left), jobs=jobs))
    assert steps(found) == [("cohort 1", "play", 7)]


def test_a_round_that_waits_does_not_give_way_to_a_mere_look() -> None:
    """A look would close it, and its failed turns have six hours from their own prices on."""
    left = played(1, done=False, failed=1, taken=WEEK - HOUR)
    jobs = [tried("cohort 1", NOW, NOW + WEEK, failures=5)]
    both = course(cohort(), left), course(cohort(2))
    found = due_work(at_work(NOW + WEEK + HOUR / 60, *both, count=2, keep=1, jobs=jobs))
    first = next(step for step in found.due if step.name == "cohort 1")
    assert (first.step, first.at, first.after is not None) == ("play", NOW, True)


def test_a_round_that_failed_before_the_clock_went_back_is_played_at_once() -> None:
    begun = course(cohort(), played(1, done=False, failed=1))
    failed = tried("cohort 1", NOW, NOW + DAY)
    [step] = due_work(at_work(NOW + HOUR, begun, jobs=[failed])).due
    assert not step.rests(NOW + HOUR)


def test_whatever_fails_rests_before_it_is_tried_again() -> None:
    """A round of a made-up world whose time is long over, and two rounds of a cohort that both fail."""
    made_up = cohort(real=False)
    first = played(1, done=False, pending=2)
    two_live = course(cohort(), played(1, done=False, failed=1, taken=WEEK - HOUR))
    for one, real in ((course(made_up, first), False), (two_live, True)):
        now = NOW + WEEK + HOUR
        jobs = dict[str, JobState]()
        tries = list[datetime]()
        for _ in range(4):
            while ready := [x for x in due_work(at_work(now, one, jobs=[*jobs.values()], real=real)).due
                            if x.after is None or x.after <= now]:  # fmt: skip
                tries.append(ready[0].at)
                assert len(tries) < 10, "it is tried without a pause"
                jobs[ready[0].name] = tried(ready[0].name, ready[0].at, now, len(tries))
            now += HOUR
        assert {*tries} == ({NOW, NOW + WEEK} if real else {NOW}), "a made-up season plays in order"


def test_a_try_that_was_broken_off_is_made_again_at_once() -> None:
    soon = NOW + HOUR
    failed = tried("cohort 1", NOW, NOW + HOUR / 2, failures=5)
    broken_off = replace(failed, started_at=soon, ended_at=None)
    for one in (course(cohort()), course(cohort(), played(1, done=False, failed=1))):
        waits, goes_on = (due_work(at_work(soon, one, jobs=[job])) for job in (failed, broken_off))
        assert [due.after for due in waits.due] == [NOW + HOUR / 2 + 16 * HOUR / 60]
        assert [due.after for due in goes_on.due] == [None]


def test_a_paused_cohort_is_tracked_and_a_stopped_one_asks_nobody_any_more() -> None:
    at = NOW + WEEK
    for state in (course(cohort(), played(1), paused=NOW), course(cohort(), played(1), stopped=NOW)):
        assert steps(due_work(at_work(at, state))) == [("cohort 1", "track", 7)]
    broken = played(1, done=False, pending=1)
    soon = NOW + HOUR
    halted = due_work(at_work(soon, course(cohort(), broken, stopped=soon)))
    assert steps(halted) == [("cohort 1", "close", 0)]
    rests = due_work(at_work(soon, course(cohort(), broken, paused=soon)))
    assert [(one.step, (one.after or NOW) > NOW + 6 * HOUR) for one in rests.due] == [("close", True)]


def test_a_look_that_was_broken_off_is_finished_first() -> None:
    found = due_work(at_work(NOW + 2 * WEEK, course(cohort(), played(1), looked=NOW + DAY, marked=False)))
    assert steps(found) == [("cohort 1", "track", 1)]


def test_while_anything_earlier_is_to_be_done_a_cohort_is_not_marked() -> None:
    due = [Due(NOW, "play", course(cohort()).stored, 1, after=NOW + DAY), Due(NOW, "start")]
    assert blocked_cohorts(due, NOW + HOUR) == {1}
    assert blocked_cohorts(due, NOW - HOUR) == frozenset()


def test_it_is_over_when_no_cohort_is_open_and_none_will_start() -> None:
    ended = course(cohort(), ended=NOW + 5 * WEEK)
    assert due_work(at_work(NOW + 6 * WEEK, ended)).over
    assert not due_work(at_work(NOW + 6 * WEEK, ended, count=None)).over
    assert not due_work(at_work(NOW + 6 * WEEK, course(cohort(), played(5)))).over


def test_what_is_coming_is_said_by_time() -> None:
    found = upcoming_work(at_work(NOW + HOUR, course(cohort(rounds=3), played(1)), count=2), 5)
    assert [((at - NOW).days, what) for at, what in found] == [
        (7, "a cohort starts, cohort 1 decides"),
        (14, "cohort 1 decides"),
    ]
    now = upcoming_work(at_work(NOW, course(cohort(rounds=1))), 5)
    assert now == [(NOW, "cohort 1 decides, due now")]
    ahead = course(cohort(real=False), played(1), played(2), looked=NOW + WEEK)
    coming = upcoming_work(at_work(NOW - DAY, ahead, count=3, real=False), 1)
    assert coming == [(NOW + 2 * WEEK, "a cohort starts, cohort 1 decides")], "what was played is not to come"


@given(
    weeks=st.integers(0, 12),
    hours=st.integers(0, 167),
    begun=st.integers(0, 5),
    policy=st.sampled_from(["latest", "all", "none"]),
    real=st.booleans(),
)
def test_whatever_is_due_is_due_by_now_and_after_all_that_was_looked_at(
    weeks: int, hours: int, begun: int, policy: CatchUp, real: bool
) -> None:
    now = NOW + weeks * WEEK + hours * HOUR
    rounds = [played(number) for number in range(1, begun + 1) if NOW + (number - 1) * WEEK <= now]
    found = due_work(at_work(now, course(cohort(real=real), *rounds), catch_up=policy, real=real))
    last = max((one.at for one in rounds), default=NOW - DAY)
    assert all(last < one.at <= now for one in found.due)
    assert all(last < one.at <= now for one in found.missed)
    assert len(found.due) <= 1
    coming = next_time_of_any(found.schedules, now)
    assert coming is None or coming > now
    if not found.due:
        left = [at for at in map(cohort().calendar.time, range(1, 6)) if last < at <= now]
        assert not left or (real and policy == "none")


@pytest.mark.parametrize("real", [True, False])
def test_a_time_at_which_a_cohort_was_started_by_hand_is_taken(real: bool) -> None:
    """The schedule that has it was written later: nothing would ever come of starting one there again."""
    by_hand = replace(cohort(real=real), by_hand=True)
    found = due_work(at_work(NOW, course(by_hand), real=real))
    assert steps(found) == [("cohort 1", "play", 0)]
    assert found.missed == ()


@pytest.mark.parametrize(("policy", "passed_over"), [("latest", [2, 3]), ("all", []), ("none", [2, 3])])
def test_within_the_window_nothing_was_missed_whatever_the_policy(
    policy: CatchUp, passed_over: list[int]
) -> None:
    """A cohort that decides every hour, and an arena that was away for nine of them."""
    hourly = replace(cohort(rounds=10), every=HOUR)
    found = due_work(at_work(NOW + 9 * HOUR, course(hourly, played(1)), catch_up=policy))
    assert [one.number for one in found.missed] == passed_over
    assert [one.number for one in found.due] == [4 if passed_over else 2]


MARKS = Job("marks", Cadence(WEEK))
NEXT_MARKS = MARKS.latest(NOW + WEEK)


def tasks_of(due: tuple[Due, ...], now: datetime, real: bool) -> list[str]:
    """Return what may be done of this, and of marks, which are due too."""
    done = {"marks": JobState("marks", NEXT_MARKS - WEEK, NOW, NOW)}
    return [task.name for task in due_tasks(DueWork(due, {}, None, (), over=False), [MARKS], done, now, real)]


@pytest.mark.parametrize(
    ("real", "paused", "later", "may"),
    [
        (False, False, HOUR * 0, []),
        (False, False, HOUR, ["cohort 1", "cohort 2", "marks"]),
        (False, True, HOUR * 0, ["cohort 2", "marks"]),
        (True, False, HOUR * 0, ["cohort 2", "marks"]),
    ],
)
def test_a_made_up_world_waits_for_a_cohort_that_is_tried_again_later(
    real: bool, paused: bool, later: timedelta, may: list[str]
) -> None:
    resting = course(cohort(1, real=real), paused=NOW if paused else None).stored
    other = course(cohort(2, real=real)).stored
    due = Due(NEXT_MARKS, "play", resting, 2, after=NOW + WEEK + HOUR), Due(NEXT_MARKS, "track", other)
    assert tasks_of(due, NOW + WEEK + later, real) == may


@pytest.mark.parametrize(("real", "may"), [(False, []), (True, ["cohort 1", "marks"])])
def test_a_made_up_world_waits_for_a_start_that_is_tried_again_later(real: bool, may: list[str]) -> None:
    start = Due(NEXT_MARKS, "start", after=NOW + WEEK + HOUR)
    due = start, Due(NEXT_MARKS, "play", course(cohort(1, real=real)).stored, 2)
    assert tasks_of(due, NOW + WEEK, real) == may
    assert tasks_of(due, NOW + WEEK + HOUR, real) == ["start", "cohort 1", "marks"]


@pytest.mark.parametrize("name", ["quotes", "resolutions", "marks", "catalogue", "retention"])
@pytest.mark.parametrize("real", [True, False])
def test_no_job_reads_a_made_up_world_later_than_a_round_that_is_tried_again(name: str, real: bool) -> None:
    """Whatever does not look at the venue, such as a backup, goes on."""
    jobs = [Job(name, Cadence(HOUR)), Job("backup", Cadence(HOUR))]
    waits = Due(NOW, "play", course(cohort(real=real)).stored, 1, after=LATE + HOUR)
    found = due_tasks(DueWork((waits,), {}, None, (), over=False), jobs, {}, LATE, real)
    assert [task.name for task in found] == ([name, "backup"] if real else ["backup"])


def test_no_job_reads_a_made_up_world_later_than_marks_that_are_tried_again() -> None:
    """They settle by what was known at their own time."""
    jobs = [Job("resolutions", Cadence(HOUR)), Job("marks", Cadence(DAY))]
    failed = {"marks": tried("marks", jobs[1].latest(LATE), LATE, failures=3)}
    for real, may in ((True, ["resolutions"]), (False, [])):
        found = due_tasks(DueWork((), {}, None, (), over=False), jobs, failed, LATE, real)
        assert [task.name for task in found] == may


UNANSWERED = BegunRound(1, NOW, NOW, done=False, failed=2, unanswered=1)


@pytest.mark.parametrize(
    ("real", "leaves", "step"), [(False, False, "play"), (False, True, "close"), (True, False, "close")]
)
def test_only_where_no_time_passes_a_round_waits_for_models_that_gave_no_answer(
    real: bool, leaves: bool, step: str
) -> None:
    situation = at_work(NOW + 7 * HOUR, course(cohort(real=real), UNANSWERED), real=real)
    assert steps(due_work(replace(situation, leaves_failed=leaves))) == [("cohort 1", step, 0)]


RETRIED = BegunRound(1, NOW, NOW, done=False, failed=1, retried=1)


@pytest.mark.parametrize(("real", "step"), [(False, "play"), (True, "close")])
def test_where_no_time_passes_a_turn_that_was_broken_off_as_it_was_tried_again_is_played(
    real: bool, step: str
) -> None:
    """Its answers may be in the record: they are paid for, and a turn must rest on them."""
    situation = at_work(NOW + 7 * HOUR, course(cohort(real=real), RETRIED), real=real)
    for leaves in (False, True):
        assert steps(due_work(replace(situation, leaves_failed=leaves))) == [("cohort 1", step, 0)]
