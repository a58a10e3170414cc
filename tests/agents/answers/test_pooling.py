"""Several probabilities made one: held against fractions, and against logarithms with a hundred digits."""

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from math import floor
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answers import decisions
from markets.millionths import ONE

PRECISE = Context(prec=100)
HALF = Fraction(1, 2)
PROBABILITIES = st.lists(st.integers(0, ONE), min_size=1, max_size=30)
POOLS: dict[str, Callable[[Sequence[int]], int]] = {
    "mean": decisions.mean,
    "median": decisions.median,
    "trimmed_mean": lambda ps: decisions.trimmed_mean(ps, ONE // 10),
    "geometric_mean": decisions.geometric_mean,
    "geometric_mean_of_odds": decisions.geometric_mean_of_odds,
}


def nearest(value: Fraction) -> int:
    """The nearest whole number, a half upwards."""
    return floor(value + HALF)


def average_log(values: Sequence[Decimal]) -> Decimal:
    total = Decimal(0)
    for value in values:
        total = PRECISE.add(total, PRECISE.ln(value))
    return PRECISE.divide(total, Decimal(len(values)))


def is_nearest(found: int, exact: Decimal) -> bool:
    """Whether it is the nearest millionth, where a hundred digits can tell."""
    return abs(PRECISE.subtract(exact, Decimal(found))) <= Decimal("0.5") + Decimal(10) ** -80


@given(PROBABILITIES)
def test_mean_and_median_are_those_of_exact_fractions(ps: list[int]) -> None:
    assert decisions.mean(ps) == nearest(Fraction(sum(ps), len(ps)))
    assert decisions.median(ps) == nearest(median([Fraction(p) for p in ps]))


@given(PROBABILITIES, st.integers(0, ONE // 2 - 1))
def test_a_trimmed_mean_leaves_out_as_many_at_each_end(ps: list[int], trim: int) -> None:
    left, out = sorted(ps), floor(Fraction(trim, ONE) * len(ps))
    for _ in range(out):
        left.remove(min(left))
        left.remove(max(left))
    assert decisions.trimmed_mean(ps, trim) == nearest(Fraction(sum(left), len(left)))


@given(st.lists(st.integers(1, ONE), min_size=1, max_size=30))
def test_a_geometric_mean_is_that_of_logarithms(ps: list[int]) -> None:
    exact = PRECISE.exp(average_log([Decimal(p) for p in ps]))
    assert is_nearest(decisions.geometric_mean(ps), exact)


@given(PROBABILITIES)
def test_a_geometric_mean_of_odds_is_that_of_log_odds(ps: list[int]) -> None:
    inside = [min(max(p, 1), ONE - 1) for p in ps]
    odds = PRECISE.exp(average_log([PRECISE.divide(Decimal(p), Decimal(ONE - p)) for p in inside]))
    exact = PRECISE.divide(PRECISE.multiply(odds, Decimal(ONE)), PRECISE.add(odds, Decimal(1)))
    assert is_nearest(decisions.geometric_mean_of_odds(ps), exact)


@pytest.mark.parametrize("name", POOLS)
@given(ps=PROBABILITIES)
def test_no_pool_leaves_the_range_of_what_it_is_made_from_or_minds_its_order(
    name: str, ps: list[int]
) -> None:
    pooled = POOLS[name](ps)
    inside = [min(max(p, 1), ONE - 1) for p in ps] if name.endswith("odds") else ps
    assert min(inside) <= pooled <= max(inside)
    assert POOLS[name](sorted(ps)) == POOLS[name](ps[::-1]) == pooled


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("p", [1, 333_333, 500_000, ONE - 1])
def test_agents_that_agree_are_taken_at_their_word(name: str, p: int) -> None:
    assert [POOLS[name]([p] * n) for n in (1, 2, 7, 200)] == [p] * 4


@given(PROBABILITIES)
def test_the_geometric_mean_of_odds_treats_yes_and_no_alike(ps: list[int]) -> None:
    no = decisions.geometric_mean_of_odds([ONE - p for p in ps])
    assert abs(decisions.geometric_mean_of_odds(ps) - (ONE - no)) <= 1  # 1 where an exact half goes up twice


@pytest.mark.parametrize(
    ("name", "ps", "pooled"),
    [
        ("mean", [1, 2], 2),
        ("mean", [0, 1, 1], 1),
        ("median", [0, ONE, 400_000], 400_000),
        ("median", [100_000, 200_001], 150_001),
        ("trimmed_mean", [0, *[400_000] * 8, 900_000], 400_000),
        ("trimmed_mean", [0, *[400_000] * 7, 900_000], 411_111),  # a tenth of nine is none
        ("geometric_mean", [ONE, ONE], ONE),
        ("geometric_mean", [0, 900_000], 0),
        ("geometric_mean", [250_000, ONE], 500_000),
        ("geometric_mean_of_odds", [0], 1),
        ("geometric_mean_of_odds", [ONE], ONE - 1),
        ("geometric_mean_of_odds", [0, ONE], 500_000),
        ("geometric_mean_of_odds", [200_000, 500_000], 333_333),  # odds 1/4 and 1: 1/2
    ],
)
def test_pools_by_hand(name: str, ps: list[int], pooled: int) -> None:
    assert POOLS[name](ps) == pooled
