"""The log score, with seed 000's tables."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules import log


def test_certain_and_wrong_is_minus_infinity_and_stays_in_the_mean() -> None:
    assert log.score([1.0, 0.5], [0, 1]) == -math.inf
    assert log.score([1.0, 0.5], [0, 1], ["a", "b"]) == -math.inf


def test_open_markets_and_fractions_are_left_out() -> None:
    assert log.score([0.5, 0.0, 1.0], [1, -1, 0.5]) == math.log(0.5)


def test_a_long_lived_market_does_not_drown_the_others() -> None:
    logs = math.log(0.5), math.log(0.8)
    assert log.score([0.5, 0.5, 0.5, 0.8], [1, 1, 1, 1], ["a", "a", "a", "b"]) == pytest.approx(sum(logs) / 2)


@given(st.lists(st.tuples(st.integers(1, 999), st.booleans()), min_size=1, max_size=30))
def test_it_is_the_log_of_the_likelihood_over_the_number(rows: list[tuple[int, bool]]) -> None:
    likelihood = math.prod(f / 1000 if yes else 1 - f / 1000 for f, yes in rows)
    found = log.score([f / 1000 for f, _ in rows], [int(yes) for _, yes in rows])
    assert found == pytest.approx(math.log(likelihood) / len(rows))
