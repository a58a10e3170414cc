"""Effective events, and values gathered by market and by event."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.comparisons.events import effective_events, sum_by_event


def worth(prices: Sequence[float], apart: Sequence[float], events: Sequence[int]) -> float:
    """Effective events of one row a market."""
    return effective_events(np.array(apart), np.array(prices), np.arange(len(prices)), np.array(events))


def test_an_event_on_which_both_say_the_same_tells_nothing() -> None:
    assert worth([0.5] * 40, [0.1, 0.005] * 20, range(40)) == pytest.approx(20)
    assert worth([0.5] * 40, [0.0] * 40, range(40)) == pytest.approx(40), "who copies the price everywhere"


def test_without_a_market_or_an_open_price_there_is_no_event() -> None:
    assert worth([], [], []) == 0
    assert worth([0.0, 1.0], [0.1, 0.1], [0, 1]) == 0
    none = np.zeros(0, dtype=np.int64)
    assert sum_by_event(np.zeros(0), none, none, 3).total.tolist() == [0] * 3


chances = st.integers(1, 99).map(lambda cents: cents / 100)


@given(
    st.lists(
        st.tuples(chances, st.sampled_from([0.0, 0.1, -0.3]), st.integers(0, 4)), min_size=1, max_size=12
    )
)
def test_it_is_what_comes_out_coin_by_coin(markets: list[tuple[float, float, int]]) -> None:
    """The moments of every event's number of YES over a fine row of coins, against the formula."""
    differing = [row for row in markets if row[1]] or markets
    variance = fourth = 0.0
    for event in {row[2] for row in differing}:
        own = [price for price, _, of in differing if of == event]
        ends = np.array([sum((coin + 0.5) / 100 < price for price in own) for coin in range(100)])
        variance += float(np.mean((ends - ends.mean()) ** 2))
        fourth += float(np.mean((ends - ends.mean()) ** 4))
    prices, apart, events = zip(*markets, strict=True)
    assert worth(prices, apart, events) == pytest.approx(variance**2 / fourth, rel=1e-9)
    assert variance**2 / fourth <= len(set(events)) + 1e-9


rows = st.lists(st.tuples(st.integers(0, 7), st.integers(-1000, 1000)), max_size=40).map(sorted)


@given(rows, st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_a_value_is_averaged_within_markets_and_added_up_within_events(
    rows: list[tuple[int, int]], event_of: list[int]
) -> None:
    within: dict[int, list[float]] = defaultdict(list)
    for market, value in rows:
        within[market].append(value / 1000)
    total, count = [0.0] * 4, [0] * 4
    for market, values in within.items():
        total[event_of[market]] += sum(values) / len(values)
        count[event_of[market]] += 1
    markets = np.array([row[0] for row in rows], dtype=np.int64)
    found = sum_by_event(np.array([row[1] / 1000 for row in rows]), markets, np.array(event_of), 4)
    assert found.total.tolist() == pytest.approx(total, abs=1e-12)
    assert found.count.tolist() == count
