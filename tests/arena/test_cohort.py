"""When cohorts decide, in which order their entrants play, and which of them still decide."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cohort import deciding, leaders, number_at, seed_for, waves
from arena.model import Cohort, Entrant
from markets.universe import Universe
from portfolio.rules import REALISTIC

SUNDAY = datetime(2026, 1, 4, tzinfo=UTC)
WEEK = timedelta(weeks=1)


def a_cohort(number: int = 1, starts_at: datetime = SUNDAY, rounds: int = 5) -> Cohort:
    universe = Universe(show=4, per_event=2, closes_within=1, min_volume=0, max_spread=1)
    return Cohort(
        number, starts_at, rounds, WEEK, 1, REALISTIC, universe, 1, "simulator", {}, "simulated", {}, ()
    )


def an_entrant(name: str, *of: str) -> Entrant:
    return Entrant(0, name, "kelly" if of else "market", {"of": list(of)} if of else {})


def test_rounds_count_from_one_and_end() -> None:
    times = [SUNDAY - WEEK, SUNDAY, SUNDAY + WEEK, SUNDAY + 4 * WEEK, SUNDAY + 5 * WEEK]
    assert [number_at(a_cohort(), at) for at in times] == [None, 1, 2, 5, None]


def test_between_decision_times_nothing_is_decided() -> None:
    assert number_at(a_cohort(), SUNDAY + timedelta(hours=1)) is None


@given(st.integers(1, 50))
def test_the_number_at_a_decision_time_is_its_own(number: int) -> None:
    cohort = a_cohort(rounds=50)
    assert number_at(cohort, cohort.decides_at(number)) == number


def test_entrants_wait_for_those_they_are_made_from() -> None:
    names = [
        [entrant.name for entrant in wave]
        for wave in waves(
            [an_entrant("k", "a"), an_entrant("a"), an_entrant("kk", "k", "b"), an_entrant("b")]
        )
    ]
    assert names == [["a", "b"], ["k"], ["kk"]]


def test_a_ring_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="x, y"):
        waves([an_entrant("x", "y"), an_entrant("a"), an_entrant("y", "x")])


def test_an_agent_may_name_one_or_several() -> None:
    assert leaders({"of": "a"}) == ("a",)
    assert leaders({"of": ["a", "b"]}) == ("a", "b")
    assert leaders({}) == ()


def test_the_newest_cohorts_decide() -> None:
    cohorts = [a_cohort(number, SUNDAY + (number - 1) * WEEK) for number in range(1, 8)]
    assert deciding(cohorts, SUNDAY + 5 * WEEK, keep=3) == {4, 5, 6}


def test_seeds_are_the_same_on_every_machine() -> None:
    assert seed_for(1, "draw", 3) == 1597115519
    assert seed_for(1, "draw", 3) != seed_for(1, "draw", 4)
