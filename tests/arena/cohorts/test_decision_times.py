"""How often cohorts decide, against a season that is walked through hour by hour."""

from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest

from arena.calls.budget_warnings import round_counts
from arena.cohorts.cohort import deciding_cohort_numbers
from arena.config.sections import CohortsSection
from tests.builders import NOW
from tests.records.little_world import WEEK, a_cohort, as_stored

HOUR = timedelta(hours=1)


def walked(rounds: int, every: timedelta, count: int, keep: int) -> dict[int, list[datetime]]:
    """Return the times at which each cohort of a season decides."""
    shape = replace(a_cohort(["ann"]), rounds=rounds, every=every)
    cohorts = [replace(shape, number=n, starts_at=NOW + (n - 1) * WEEK) for n in range(1, count + 1)]
    end = cohorts[-1].calendar.time(rounds)
    found: dict[int, list[datetime]] = {cohort.number: [] for cohort in cohorts}
    at = NOW
    while at <= end:
        if due := [cohort for cohort in cohorts if cohort.calendar.number_at(at) is not None]:
            newest = deciding_cohort_numbers(map(as_stored, cohorts), at, keep)
            for cohort in due:
                if cohort.number in newest:
                    found[cohort.number].append(at)
        at += HOUR
    return found


def most_on_a_day(times: dict[int, list[datetime]]) -> int:
    return max(Counter(at.date() for mine in times.values() for at in mine).values())


def cohorts(rounds: int, every: timedelta, count: int | None, keep: int) -> CohortsSection:
    shape = {"rounds": rounds, "decide": f"{every // HOUR}h", "count": count, "keep_deciding": keep}
    return CohortsSection.model_validate(shape)


SHAPES = [
    (5, WEEK, 5),
    (17, WEEK, 4),
    (3, WEEK, 5),
    (10, timedelta(days=1), 5),
    (4, timedelta(days=14), 5),
    (20, timedelta(days=2), 2),
    (30, timedelta(hours=12), 3),
    (3, timedelta(days=10), 1),
]


@pytest.mark.parametrize(("rounds", "every", "keep"), SHAPES)
@pytest.mark.parametrize("count", [1, 2, 4, 9])
def test_a_season_that_ends_is_counted_cohort_by_cohort(
    rounds: int, every: timedelta, keep: int, count: int
) -> None:
    times = walked(rounds, every, count, keep)
    for number in range(1, count + 1):
        found = round_counts(cohorts(rounds, every, count, keep), number)
        assert found.cohort == len(times[number])
        assert found.day >= most_on_a_day(times)
        assert found.month <= sum(map(len, times.values()))


@pytest.mark.parametrize(("rounds", "every", "keep"), SHAPES)
def test_cohorts_without_end_are_counted_in_full_swing(rounds: int, every: timedelta, keep: int) -> None:
    times = walked(rounds, every, 26, keep)
    found = round_counts(cohorts(rounds, every, None, keep), 7)
    assert found.cohort == len(times[20])
    middle = NOW + 15 * WEEK, NOW + 25 * WEEK
    swing = {n: [at for at in mine if middle[0] <= at < middle[1]] for n, mine in times.items()}
    assert found.month == Fraction(sum(map(len, swing.values())), 10) * Fraction(304, 70)
    assert found.day >= most_on_a_day(swing)


@pytest.mark.parametrize(
    ("rounds", "every", "count", "cohort", "month", "day"),
    [
        (5, WEEK, None, 5, 5 * 304 / 70, 5),  # five at once, all on Sunday
        (5, WEEK, 1, 5, 304 / 70, 1),
        (2, WEEK, 1, 2, 2, 1),  # over before a month is
        (5, timedelta(days=1), None, 5, 5 * 304 / 70, 1),  # over before the next one starts
        (10, timedelta(days=1), None, 10, 10 * 304 / 70, 2),
        (48, HOUR, None, 48, 48 * 304 / 70, 24),
    ],
)
def test_by_hand(
    rounds: int, every: timedelta, count: int | None, cohort: int, month: float, day: int
) -> None:
    found = round_counts(cohorts(rounds, every, count, keep=5))
    assert (found.cohort, found.day) == (cohort, day)
    assert float(found.month) == pytest.approx(month)


def test_a_day_is_one_of_utc() -> None:
    shape = {"start": "sun 18:00", "decide": "6h", "rounds": 4, "first": date(2026, 1, 4)}
    assert round_counts(CohortsSection.model_validate(shape)).day == 3  # one on Sunday, three on Monday


def test_many_short_rounds_are_counted_at_once() -> None:
    long = cohorts(36_000, timedelta(days=1), None, 1_000_000)
    assert round_counts(long).day == 5_143  # every seventh of so many days, in as many weeks
