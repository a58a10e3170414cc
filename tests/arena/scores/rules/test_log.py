"""The log score, with seed 000's tables."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules import log


@pytest.mark.parametrize(
    ("said", "other", "six", "average"),
    [(0.05, -0.05, -3.00, -0.54), (0.17, -0.19, -1.77, -0.45), (0.30, -0.36, -1.20, -0.50)],
)
def test_a_die_that_shows_six(said: float, other: float, six: float, average: float) -> None:
    """At 30% the seed prints −0.37 and −0.51; ln 0.7 is −0.357."""
    assert log.each([said, said], [0, 1]) == pytest.approx([other, six], abs=0.005)
    assert log.score([said] * 6, [0] * 5 + [1]) == pytest.approx(average, abs=0.005)


def test_from_99_to_99_9_percent_little_is_gained_and_much_is_risked() -> None:
    right, wrong = log.each([0.999, 0.99], [1, 1]), log.each([0.999, 0.99], [0, 0])
    assert right[0] - right[1] == pytest.approx(0.009, abs=5e-4)
    assert wrong[0] - wrong[1] == pytest.approx(-2.3, abs=0.05)


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
