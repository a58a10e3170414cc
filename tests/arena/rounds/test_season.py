"""When a season's cohorts start and decide."""

from datetime import UTC, datetime, timedelta

import pytest

from arena.cohorts.schedule import Plan
from arena.record.model.calendar import Cadence
from arena.record.model.cohort import Cohort
from arena.rounds.season import season_times

SUNDAY = datetime(2026, 1, 4, tzinfo=UTC)
WEEK = timedelta(weeks=1)


def a_plan(rounds: int = 5, count: int | None = 3, decide: timedelta = WEEK) -> Plan:
    def freeze(number: int, at: datetime) -> tuple[Cohort, dict[str, str]]:
        raise AssertionError("nobody starts in this test")

    return Plan(SUNDAY, Cadence(decide), rounds, count, keep_deciding=5, freeze=freeze)


def test_three_cohorts_of_five_rounds_make_seven_decision_times() -> None:
    times = a_plan().decision_times()
    assert len(times) == 7
    assert times[-1] == SUNDAY + 6 * WEEK


def test_cohorts_start_weekly_however_often_they_decide() -> None:
    times = a_plan(rounds=2, count=2, decide=timedelta(days=3)).decision_times()
    assert [(at - SUNDAY).days for at in times] == [0, 3, 7, 10]


def test_a_bound_cuts_a_season_short_and_makes_an_endless_one_finite() -> None:
    assert len(season_times(a_plan(), 2)) == 2
    assert len(season_times(a_plan(count=None), 30)) == 30
    assert season_times(a_plan(), 100) == a_plan().decision_times()


def test_an_endless_plan_without_a_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="has no end"):
        a_plan(count=None).decision_times()


def test_the_next_decision_is_found_from_any_instant() -> None:
    assert a_plan().next_after(SUNDAY - timedelta(hours=1)) == SUNDAY
    assert a_plan().next_after(SUNDAY) == SUNDAY + WEEK
    assert a_plan().next_after(SUNDAY - 50 * WEEK) == SUNDAY
    assert a_plan().next_after(SUNDAY + 6 * WEEK) is None
    assert a_plan(count=None).next_after(SUNDAY + 300 * WEEK) == SUNDAY + 301 * WEEK
