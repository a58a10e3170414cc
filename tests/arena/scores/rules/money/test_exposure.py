"""Drawdown, and what an event can still do to an account."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.record.model.trades import EventTie
from arena.scores.rules.money.drawdown import drawdown
from arena.scores.rules.money.event_exposure import HeldShares, event_exposure
from markets.millionths import ONE


def slow(values: list[int]) -> float:
    """Return the largest fall over every pair of a peak and a later value."""
    pairs = [(s, t) for t in range(len(values)) for s in range(t + 1)]
    return max((values[s] - values[t]) / max(values[: s + 1]) for s, t in pairs)


@given(st.lists(st.integers(1, 10**12), min_size=2, max_size=30))
def test_drawdown_is_the_deepest_of_all_falls(values: list[int]) -> None:
    found = drawdown(values)
    assert found is not None
    assert found.share == pytest.approx(max(slow(values), 0))
    assert values[found.peak] - values[found.trough] == found.amount
    assert found.peak <= found.trough


def test_before_the_first_mark_there_is_no_drawdown() -> None:
    assert drawdown([]) is None
    assert drawdown([10_000]) is None


def lot(market: str, mid: float, yes: bool = True, shares: int = 100, event: str = "e") -> HeldShares:
    return HeldShares(market, event, yes, shares, round(mid * ONE))


def test_yes_and_no_of_one_market_cancel_out() -> None:
    (found,) = event_exposure([lot("a", 0.5), lot("a", 0.5, yes=False)], {}, 1000)
    assert (found.value, found.worst, found.best) == (100, 0, 0)


def test_the_event_that_can_cost_most_comes_first() -> None:
    found = event_exposure([lot("a", 0.2, event="small"), lot("b", 0.9, event="large")], {}, 1000)
    assert [event.event for event in found] == ["large", "small"]
    assert event_exposure([], {}, 1000) == []
    assert math.isnan(event_exposure([lot("a", 0.2)], {}, 0)[0].share)


@given(
    st.lists(st.tuples(st.integers(1, 99), st.booleans(), st.integers(1, 50)), min_size=1, max_size=4),
    st.sampled_from(["exclusive", "nested", "unknown"]),
)
def test_worst_and_best_are_those_of_all_states_that_can_be(
    rows: list[tuple[int, bool, int]], tie: EventTie
) -> None:
    lots = [lot(f"m{i}", mid / 100, yes, shares) for i, (mid, yes, shares) in enumerate(rows)]
    by_price = sorted(lots, key=lambda x: (-x.mid, x.market))
    totals = []
    for state in product([0, 1], repeat=len(lots)):
        possible = {
            "exclusive": sum(state) <= 1,
            "nested": list(state) == sorted(state, reverse=True),
            "unknown": True,
        }
        if possible[tie]:
            pays = [x.shares * (y if x.yes else 1 - y) for x, y in zip(by_price, state, strict=True)]
            totals.append(sum(pays))
    (found,) = event_exposure(lots, {"e": tie}, 10_000)
    assert (found.value + found.worst, found.value + found.best) == pytest.approx((min(totals), max(totals)))
