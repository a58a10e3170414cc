"""When cohorts decide, in which order their entrants play, and which of them still decide."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from arena.cohorts.cohort import (
    CohortState,
    cohort_state,
    deciding_cohort_numbers,
    newest_cohort_numbers,
    next_round_number,
    play_waves,
    seed_for,
)
from arena.record.model.cohort import Cohort, Entrant
from markets.universe import Universe
from portfolio.rules import REALISTIC
from tests.records.little_world import as_stored

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
    assert [a_cohort().calendar.number_at(at) for at in times] == [None, 1, 2, 5, None]


def test_entrants_wait_for_those_they_are_made_from() -> None:
    names = [
        [entrant.name for entrant in wave]
        for wave in play_waves(
            [an_entrant("k", "a"), an_entrant("a"), an_entrant("kk", "k", "b"), an_entrant("b")]
        )
    ]
    assert names == [["a", "b"], ["k"], ["kk"]]


def test_a_ring_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="x, y"):
        play_waves([an_entrant("x", "y"), an_entrant("a"), an_entrant("y", "x")])


def starting(number: int, week: int | None = None) -> Cohort:
    """Return a cohort that starts in a week, by default its own."""
    return a_cohort(number, SUNDAY + (number - 1 if week is None else week) * WEEK)


def test_the_newest_cohorts_decide() -> None:
    cohorts = [as_stored(starting(number)) for number in range(1, 8)]
    assert deciding_cohort_numbers(cohorts, SUNDAY + 5 * WEEK, keep=3) == {4, 5, 6}


def test_one_that_is_paused_or_stopped_decides_nothing_and_makes_no_room_for_an_older_one() -> None:
    cohorts = [
        as_stored(starting(1)),
        as_stored(starting(2), paused_at=SUNDAY),
        as_stored(starting(3), stopped_at=SUNDAY),
        as_stored(starting(4), ended_at=SUNDAY),
    ]
    assert newest_cohort_numbers(cohorts, SUNDAY + 9 * WEEK, keep=3) == {2, 3, 4}
    assert deciding_cohort_numbers(cohorts, SUNDAY + 9 * WEEK, keep=3) == set()
    assert deciding_cohort_numbers(cohorts, SUNDAY + 9 * WEEK, keep=4) == {1}


def test_the_newest_are_those_that_started_last_whatever_their_numbers() -> None:
    cohorts = [as_stored(starting(1, week=0)), as_stored(starting(2, week=3)), as_stored(starting(3, week=2))]
    assert newest_cohort_numbers(cohorts, SUNDAY + 2 * WEEK, keep=1) == {3}
    assert newest_cohort_numbers(cohorts, SUNDAY + 3 * WEEK, keep=1) == {2}


@pytest.mark.parametrize(
    ("stood", "among", "to_come", "expected"),
    [
        ({}, {1}, True, "playing"),
        ({}, {1}, False, "tracked"),
        ({}, {2}, True, "tracked"),
        ({"paused_at": SUNDAY}, {1}, True, "paused"),
        ({"paused_at": SUNDAY}, {2}, True, "tracked"),
        ({"paused_at": SUNDAY}, {1}, False, "tracked"),
        ({"paused_at": SUNDAY, "stopped_at": SUNDAY}, {1}, True, "stopped"),
        ({"stopped_at": SUNDAY, "ended_at": SUNDAY}, {1}, False, "ended"),
    ],
)
def test_a_cohort_is_doing_one_thing(
    stood: dict[str, Any], among: set[int], to_come: bool, expected: CohortState
) -> None:
    assert cohort_state(as_stored(starting(1), **stood), among, to_come) == expected


def test_the_next_round_is_the_first_that_is_not_over_and_was_not_passed_by() -> None:
    cohort = a_cohort()
    times = [SUNDAY + week * WEEK for week in range(5)]
    assert next_round_number(cohort, {}, None, None) == 1
    assert next_round_number(cohort, {1: True}, times[0], times[0]) == 2
    assert next_round_number(cohort, {1: True, 2: False}, times[1], times[1]) == 2
    assert (
        next_round_number(cohort, {1: True}, times[1], times[1]) == 3
    )  # it was only tracked in the second week
    assert next_round_number(cohort, {1: False}, times[0], times[2]) == 3  # what was broken off is history
    assert next_round_number(cohort, {1: True}, times[0], times[3]) == 4
    assert next_round_number(cohort, {1: True, 5: True}, times[4], times[4]) is None


def test_seeds_are_the_same_on_every_machine() -> None:
    assert seed_for(1, "draw", 3) == 1597115519
    assert seed_for(1, "draw", 3) != seed_for(1, "draw", 4)
