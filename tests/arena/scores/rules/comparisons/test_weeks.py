"""The bound by weeks, against the formula written out."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from arena.scores.rules.comparisons.events import EventSums
from arena.scores.rules.comparisons.weeks import RARE, low_by_week, student

WEEKS = st.dictionaries(
    st.integers(2900, 2960), st.tuples(st.integers(-500, 500), st.integers(1, 9)), min_size=8, max_size=40
)


def by_hand(clusters: dict[int, list[tuple[float, float]]]) -> float:
    sums = [(sum(s for s, _ in own), sum(n for _, n in own)) for own in clusters.values()]
    markets = sum(n for _, n in sums)
    mean = sum(s for s, _ in sums) / markets
    square = sum((s - n * mean) ** 2 for s, n in sums)
    return mean - student(RARE, len(sums) - 1) * sqrt(len(sums) / (len(sums) - 1) * square) / markets


@given(WEEKS)
def test_it_is_the_lowest_of_the_bounds_by_one_week_and_by_four(found: dict[int, tuple[int, int]]) -> None:
    weeks = sorted(found)
    total = np.array([found[week][0] / 1000 for week in weeks])
    count = np.array([float(found[week][1]) for week in weeks])
    divisions: list[dict[int, list[tuple[float, float]]]] = [{}, {}, {}, {}, {}]
    for week, row in zip(weeks, zip(total.tolist(), count.tolist(), strict=True), strict=True):
        for phase, clusters in enumerate(divisions[1:]):
            clusters.setdefault((weeks[-1] - week + phase) // 4, []).append(row)
        divisions[0].setdefault(week, []).append(row)
    bound = low_by_week(EventSums(total, count), np.array(weeks))
    assert bound == pytest.approx(min(map(by_hand, divisions)), abs=1e-9)


def test_under_eight_weeks_there_is_none() -> None:
    weeks, ones = np.arange(9), np.ones(9)
    assert low_by_week(EventSums(0.1 * ones, ones), weeks) is not None
    gone = np.where(weeks < 2, 0.0, 1.0)
    assert low_by_week(EventSums(0.1 * gone, gone), weeks) is None


@pytest.mark.parametrize("freedom", [1, 3, 7, 25, 100])
def test_the_point_of_students_distribution_is_close(freedom: int) -> None:
    exact = stats.t.isf(0.008, freedom)
    found = student(RARE, freedom)
    assert found == pytest.approx(exact, rel=0.03) if freedom > 3 else found > exact, "or on the safe side"
