"""Log-odds that every machine agrees on."""

import decimal
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.millionths import ONE
from markets.odds import bell, log_odds, probability, softmax_millionths

probabilities = st.integers(1, ONE - 1)


@given(probabilities)
def test_a_probability_survives_the_way_there_and_back(p: int) -> None:
    assert probability(log_odds(p)) == p


@given(probabilities | st.integers(499_990, 500_010))
def test_log_odds_are_the_nearest_float(p: int) -> None:
    with decimal.localcontext(prec=60):
        assert log_odds(p) == float((decimal.Decimal(p) / (ONE - p)).ln())


@given(probabilities | st.integers(499_990, 500_010))
def test_yes_and_no_mirror_each_other(p: int) -> None:
    assert log_odds(ONE - p) == -log_odds(p)


@given(st.floats(-20, 20), st.floats(0, 5))
def test_higher_log_odds_never_mean_a_lower_probability(x: float, more: float) -> None:
    assert probability(x) <= probability(x + more)


@pytest.mark.parametrize(("x", "p"), [(-math.inf, 1), (-1e9, 1), (14.0, 999_999), (math.inf, 999_999)])
def test_nothing_is_certain(x: float, p: int) -> None:
    assert probability(x) == p


def test_a_price_of_0_or_1_is_the_nearest_possible_probability() -> None:
    assert log_odds(0) == log_odds(1)
    assert log_odds(ONE) == log_odds(ONE - 1)


def test_not_a_number_is_no_log_odds() -> None:
    with pytest.raises(ValueError, match="nan"):
        probability(math.nan)


def test_the_last_bit_is_pinned() -> None:
    assert log_odds(1).hex() == "-0x1.ba18a78020f45p+3"
    assert log_odds(630_000).hex() == "0x1.107eb8e2da1e4p-1"
    assert probability(0.3) == 574_443


def test_the_surrounding_decimal_context_does_not_matter() -> None:
    free = [(log_odds(p), probability(p / 99_999)) for p in (1, 123_456, 999_998)]
    with decimal.localcontext(prec=2, rounding=decimal.ROUND_UP):
        assert [(log_odds(p), probability(p / 99_999)) for p in (1, 123_456, 999_998)] == free


def test_a_bell_is_nearly_normal() -> None:
    rng = random.Random("bell")
    draws = [bell(rng) for _ in range(20_000)]
    assert abs(sum(draws) / len(draws)) < 0.03
    assert sum(x * x for x in draws) / len(draws) == pytest.approx(1, abs=0.04)
    assert sum(abs(x) < 1.96 for x in draws) / len(draws) == pytest.approx(0.95, abs=0.01)


def test_a_bell_is_pinned_too() -> None:
    assert bell(random.Random("bell")).hex() == "0x1.73e1b6fa2ddc9p-1"


weights = st.lists(st.floats(-20, 20), min_size=2, max_size=8)


@given(weights)
def test_what_is_split_sums_to_one_and_leaves_nobody_out(powers: list[float]) -> None:
    found = softmax_millionths(powers)
    assert sum(found) == ONE
    assert min(found) >= 1


@given(weights)
def test_it_is_split_as_the_textbook_says(powers: list[float]) -> None:
    """Each part to the millionth, but for the largest, which makes up for what rounding did to the others."""
    total = math.fsum(math.exp(power) for power in powers)
    for part, power in zip(softmax_millionths(powers), powers, strict=True):
        assert abs(part - ONE * math.exp(power) / total) <= len(powers)


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_two_are_split_by_the_odds_between_them(x: float, y: float) -> None:
    assert abs(softmax_millionths([x, y])[0] - probability(x - y)) <= 1


def test_too_little_to_be_seen_is_the_least_possible() -> None:
    assert softmax_millionths([500.0, 0.0, -500.0]) == (999_998, 1, 1)
