"""Sums that no order can change, against the standard library's exact one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules._columns import FEW, mean, total

finite = st.floats(-1e200, 1e200)
short = st.integers(-(10**6), 10**6).map(lambda n: n / 1000)


def many(values: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Repeat the values until no loop over them would be fast."""
    return np.resize(np.array(values), FEW + 20_000)


@given(st.lists(st.one_of(finite, short), min_size=1, max_size=50))
def test_a_sum_is_the_exact_one_rounded_once(values: list[float]) -> None:
    assert total(np.array(values)) == math.fsum(values)
    assert total(many(values)) == math.fsum(many(values).tolist())


@pytest.mark.parametrize(
    "values",
    [
        [0.0],
        [-0.0],
        [5e-324],
        [1e300, 1.0, -1e300],
        [1.0, 1e-200],  # more bits than there is room for
        [1.0, 2.0**-150, -1.0],
        [2.0**-1000],
        [1e16, 1.0, -1e16, 0.1],
        [math.inf, 1.0],
    ],
)
def test_however_far_apart_the_values_are(values: list[float]) -> None:
    assert total(many(values)) == math.fsum(many(values).tolist())


def test_the_sum_of_nan_is_nan() -> None:
    assert math.isnan(total(many([1.0, math.nan])))


def test_the_order_of_a_million_changes_no_digit() -> None:
    chance = np.random.default_rng(1)
    values = chance.standard_normal(1_000_000) * 10.0 ** chance.integers(-12, 12, 1_000_000)
    assert total(values) == total(chance.permutation(values)) == math.fsum(values.tolist())


@given(st.lists(st.tuples(short, st.integers(-1, 5)), min_size=1))
def test_a_market_counts_once_whatever_it_is_called(rows: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in rows])
    market = [label for _, label in rows]
    by_market = [[value for value, label in rows if label == one] for one in set(market)]
    wanted = math.fsum(math.fsum(part) / len(part) for part in by_market) / len(by_market)
    names = [f"m{label}" for label in market]
    far = [label * 10**12 for label in market]
    for labels in (market, names, far, np.array(market) + 1):
        assert mean(values, labels) == pytest.approx(wanted, abs=1e-9)
    assert mean(values, market) == mean(values, names) == mean(values[::-1], far[::-1])
