"""Effective events, and values gathered by market and by event."""

import random
from collections import defaultdict
from collections.abc import Sequence
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.comparisons.events import Information, information, sum_by_event


def known(prices: Sequence[float], apart: Sequence[float], events: Sequence[int]) -> Information:
    """Return the information of one row a market."""
    return information(np.array(apart), np.array(prices), np.arange(len(prices)), np.array(events))


def worth(prices: Sequence[float], apart: Sequence[float], events: Sequence[int]) -> float:
    """Return the effective events of one row a market."""
    return known(prices, apart, events).effective


def test_an_event_on_which_both_say_the_same_tells_nothing() -> None:
    assert worth([0.5] * 40, [0.1, 0.005] * 20, range(40)) == pytest.approx(20)
    assert worth([0.5] * 40, [0.0] * 40, range(40)) == pytest.approx(40), "who copies the price everywhere"


def test_without_a_market_or_an_open_price_there_is_no_event() -> None:
    assert worth([], [], []) == 0
    assert worth([0.0, 1.0], [0.1, 0.1], [0, 1]) == 0
    none = np.zeros(0, dtype=np.int64)
    assert sum_by_event(np.zeros(0), none, none, 3).total.tolist() == [0] * 3


def test_who_moves_coins_by_a_cent_and_bets_it_all_on_long_shots_has_no_interval() -> None:
    """In such seasons an interval of 95% holds the truth in 69%: none of the long shots happens in 36%."""
    found = known([0.5] * 30 + [0.05] * 20, [0.006] * 30 + [-0.049] * 20, range(50))
    assert (found.equal, found.effective >= 20, found.symmetry < 2) == (50, True, True)
    assert found.missing is not None
    assert found.missing.startswith("50 events so far, but most hangs on outcomes that seldom happen; ")


def test_the_skewness_is_that_of_what_chance_makes_of_the_sum() -> None:
    """Of 60 alike it is (1 − 2p) / √(60·p·(1 − p)), by the binomial distribution."""
    p = 0.03
    found = known([p] * 60, [0.02] * 60, range(60))
    assert found.symmetry == pytest.approx(60 * p * (1 - p) / (1 - 2 * p) ** 2)
    assert known([0.5] * 60, [0.02] * 60, range(60)).symmetry == float("inf")


@pytest.mark.parametrize(
    ("prices", "events", "missing"),
    [
        ([0.5] * 12, range(12), "12 events so far; an interval takes about 8 more"),
        ([0.5], [0], "1 event so far; an interval takes about 19 more"),
        (
            [0.5] * 24,
            [*range(20), 0, 1, 2, 3],
            "20 events so far of uneven sizes count as 18.0; an interval takes about 3 more",
        ),
        (
            [0.1, 0.9] * 20,
            range(40),
            "40 events so far that tell little (4.9 coin tosses of 10); an interval takes about 42 more",
        ),
        ([0.0] * 30, range(30), "30 events so far at prices that leave nothing open"),
        ([0.5] * 20, range(20), None),
    ],
)
def test_what_is_missing_is_said_in_plain_words(
    prices: list[float], events: Sequence[int], missing: str | None
) -> None:
    found = known(prices, [0.1] * len(prices), events)
    assert found.missing == missing
    assert found.is_enough == (missing is None)


some_markets = st.lists(
    st.tuples(
        st.integers(1, 99).map(lambda cents: cents / 100),
        st.sampled_from([0.0, 0.1, -0.3]),
        st.integers(0, 40),
    ),
    min_size=1,
    max_size=200,
)


@given(some_markets)
def test_the_gate_never_opens_below_20_events_nor_below_what_10_coin_tosses_tell(
    markets: list[tuple[float, float, int]],
) -> None:
    found = known(*zip(*markets, strict=True))
    differing = {event for _, apart, event in markets if apart} or {event for *_, event in markets}
    assert found.events == len(differing)
    assert max(found.equal, found.effective) <= found.events + 1e-9
    if found.is_enough:
        assert found.events >= 20
        assert found.effective >= 10 - 1e-6
        assert found.symmetry >= 20 - 1e-6
    else:
        assert found.missing


@given(some_markets, st.randoms(use_true_random=False))
def test_names_and_order_of_events_and_markets_change_nothing(
    markets: list[tuple[float, float, int]], chance: random.Random
) -> None:
    names = chance.sample(range(41), 41)
    renamed = [(price, apart, names[event]) for price, apart, event in markets]
    chance.shuffle(renamed)
    one = known(*zip(*markets, strict=True))
    other = known(*zip(*renamed, strict=True))
    assert other.events == one.events
    assert other.equal == pytest.approx(one.equal)
    assert other.effective == pytest.approx(one.effective)
    assert other.is_enough == one.is_enough


@given(some_markets)
def test_with_as_many_more_events_of_this_kind_as_it_says_the_gate_opens(
    markets: list[tuple[float, float, int]],
) -> None:
    """All that there is, repeated under new names often enough, is enough; and once less often is not."""
    found = known(*zip(*markets, strict=True))
    short = max(20 / found.equal, 10 / found.effective, 20 / found.symmetry)
    times = ceil(short * (1 - 1e-9))
    again = [(p, a, e + 41 * k) for k in range(times) for p, a, e in markets]
    assert known(*zip(*again, strict=True)).is_enough
    assert not known(*zip(*again[: -len(markets)], strict=True)).is_enough if times > 1 else True


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
    total = [0.0] * 4
    count = [0] * 4
    for market, values in within.items():
        total[event_of[market]] += sum(values) / len(values)
        count[event_of[market]] += 1
    markets = np.array([row[0] for row in rows], dtype=np.int64)
    found = sum_by_event(np.array([row[1] / 1000 for row in rows]), markets, np.array(event_of), 4)
    assert found.total.tolist() == pytest.approx(total, abs=1e-12)
    assert found.count.tolist() == count
