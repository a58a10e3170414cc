"""Effective events, and values gathered by market and by event."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.comparisons.events import effective_events, sum_by_event


@pytest.mark.parametrize("markets", [1.0, 5.0, 10.0])
def test_equal_events_count_each_as_one(markets: float) -> None:
    assert effective_events(np.full(30, markets)) == pytest.approx(30)


def test_one_large_event_among_small_ones_counts_for_most() -> None:
    assert effective_events(np.array([50.0] + [1.0] * 50)) == pytest.approx(100**2 / (2500 + 50))


def test_without_a_market_there_is_no_event() -> None:
    assert effective_events(np.zeros(3)) == 0
    assert (
        sum_by_event(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 3).total.tolist()
        == [0] * 3
    )


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40))
def test_there_are_never_more_effective_events_than_events(counts: list[int]) -> None:
    assert 1 - 1e-9 <= effective_events(np.array(counts, dtype=float)) <= len(counts) + 1e-9


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
