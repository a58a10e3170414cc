"""The wild event bootstrap-t and its inversion, against the formula read slowly and all sign patterns."""

from itertools import pairwise, product

import numpy as np
import pytest

from arena.scores.rules.comparisons import wild_bootstrap
from arena.scores.rules.comparisons.events import EventSums
from arena.scores.rules.comparisons.interval import intervals
from arena.scores.rules.comparisons.wild_bootstrap import normal_deviate
from tests.arena.scores.rules.comparisons.slow_wild_bootstrap import p_value

NAMES = [f"event {number}" for number in range(12)]


def sums(seed: int, events: int = 12, shift: float = 0.0) -> EventSums:
    """Draw events of one to six markets whose values are skewed."""
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 7, events).astype(float)
    return EventSums(count * (rng.exponential(0.1, events) - 0.1 + shift), count)


def names(found: EventSums) -> list[str]:
    return [f"event {number}" for number in range(found.count.size)]


def p(found: EventSums, seed: int = 0) -> float:
    return float(wild_bootstrap.p_values(wild_bootstrap.signed_sums(names(found), [found], seed))[0])


def test_an_event_has_its_coins_from_its_name_and_the_seed_alone() -> None:
    alone = wild_bootstrap.signs(["rain"], 3)[0]
    assert np.array_equal(alone, wild_bootstrap.signs(["snow", "rain", "vote"], 3)[1])
    assert not np.array_equal(alone, wild_bootstrap.signs(["rain"], 4)[0])
    assert not np.array_equal(alone, wild_bootstrap.signs(["snow"], 3)[0])


def test_coins_are_fair_and_independent() -> None:
    coins = wild_bootstrap.signs([f"e{number}" for number in range(200)], 1)
    assert set(np.unique(coins)) == {-1.0, 1.0}
    assert abs(coins.mean()) < 4 / coins.size**0.5
    together = coins @ coins.T / coins.shape[1]
    assert np.abs(together - np.eye(200)).max() < 5.5 / coins.shape[1] ** 0.5


@pytest.mark.parametrize("seed", range(4))
def test_p_is_what_the_formula_says(seed: int) -> None:
    found = sums(seed, shift=0.03)
    signs = wild_bootstrap.signs(NAMES, seed).T.tolist()
    assert p(found, seed) == p_value(found.total.tolist(), found.count.tolist(), 0.0, signs)


def test_p_comes_near_to_that_of_all_4096_sign_patterns() -> None:
    found = sums(5, shift=0.05)
    exact = p_value(found.total.tolist(), found.count.tolist(), 0.0, list(product((-1.0, 1.0), repeat=12)))
    assert 0.01 < exact < 0.9
    assert p(found) == pytest.approx(exact, abs=4 * (exact * (1 - exact) / wild_bootstrap.DRAWS) ** 0.5)


@pytest.mark.parametrize("seed", range(4))
def test_an_interval_ends_where_the_formula_begins_to_refuse(seed: int) -> None:
    found = sums(seed)
    signs = wild_bootstrap.signs(NAMES, seed).T.tolist()
    span = intervals(wild_bootstrap.signed_sums(NAMES, [found], seed), [True])[0]
    columns = found.total.tolist(), found.count.tolist()
    for end, outward in ((span.low, -1e-6), (span.high, 1e-6)):
        assert (
            p_value(*columns, end + outward, signs)
            <= wild_bootstrap.LEVEL
            < p_value(*columns, end - outward, signs)
        )


def test_the_error_of_events_of_one_market_is_that_of_a_mean() -> None:
    values = np.random.default_rng(2).normal(size=30)
    assert wild_bootstrap.error(EventSums(values, np.ones(30))) == pytest.approx(values.std(ddof=1) / 30**0.5)


def test_a_mean_of_exactly_nothing_is_no_surprise() -> None:
    assert p(EventSums(np.zeros(30), np.ones(30))) == 1.0
    assert p(EventSums(np.array([0.1, -0.1] * 15), np.ones(30))) == 1.0


def test_values_that_are_all_the_same_leave_no_doubt() -> None:
    found = EventSums(np.full(30, 0.5), np.full(30, 5.0))
    assert p(found) == pytest.approx(2.0**-29)
    span = intervals(wild_bootstrap.signed_sums(names(found), [found], 0), [True])[0]
    assert (span.low, span.high) == pytest.approx((0.1, 0.1), abs=1e-9)


TABLE = [(2.093, 19, 1.960), (3.883, 19, 3.291), (2.756, 29, 2.576), (3.460, 60, 3.291)]


@pytest.mark.parametrize(("t", "freedom", "deviate"), TABLE)
def test_a_t_is_as_rare_as_the_normal_deviate_of_its_table(t: float, freedom: int, deviate: float) -> None:
    assert normal_deviate(t, freedom) == pytest.approx(deviate, abs=0.01)


def test_p_falls_without_a_leap_where_the_draws_end() -> None:
    still = sums(1, 60)
    found = [p(EventSums(still.total + 0.001 * step * still.count, still.count)) for step in range(30, 70)]
    assert all(0.5 * before < after <= before for before, after in pairwise(found))
    assert found[0] > 0.03
    assert found[-1] < 1 / 2000


def test_p_of_bell_shaped_events_is_that_of_the_t_test_far_out_too() -> None:
    """A t of 4 with 199 degrees of freedom has a p of 9 in 100,000; draws alone can't go below 50."""
    values = np.random.default_rng(3).normal(size=200)
    values = (values - values.mean()) / values.std(ddof=1) + 4 / 200**0.5
    assert 4.5e-5 < p(EventSums(values, np.ones(200))) < 18e-5


@pytest.mark.parametrize("events", [5, 12, 30])
def test_p_is_never_rarer_than_all_coins_falling_alike(events: int) -> None:
    assert p(EventSums(np.linspace(0.9, 1.1, events), np.ones(events))) >= 2.0 ** (1 - events) * (1 - 1e-6)


def test_without_a_market_nothing_is_said() -> None:
    empty = EventSums(np.zeros(3), np.zeros(3))
    span = intervals(wild_bootstrap.signed_sums(NAMES[:3], [empty], 0), [True])[0]
    assert np.isnan([p(empty), span.low, span.high, wild_bootstrap.error(empty)]).all()


@pytest.mark.parametrize("wanted", [[True, False, True, True, False], [False] * 5, [True] * 5])
def test_only_the_intervals_that_are_wanted_are_looked_for(wanted: list[bool]) -> None:
    several = [sums(seed, shift=0.03) for seed in range(5)]
    found = intervals(wild_bootstrap.signed_sums(NAMES, several, 7), wanted)
    for one, span, is_wanted in zip(several, found, wanted, strict=True):
        alone = intervals(wild_bootstrap.signed_sums(NAMES, [one], 7), [True])[0]
        assert np.isnan([span.low, span.high]).all() != is_wanted
        assert not is_wanted or (span.low, span.high) == pytest.approx((alone.low, alone.high), abs=1e-9)


def test_columns_worked_on_together_are_as_if_alone() -> None:
    several = [sums(seed, shift=0.03) for seed in range(5)]
    found = wild_bootstrap.p_values(wild_bootstrap.signed_sums(NAMES, several, 7))
    assert found.tolist() == pytest.approx([p(one, 7) for one in several])
