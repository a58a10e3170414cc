"""What an agent gains on the market, worked by hand, and the reasons for saying nothing."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.scores.rules.comparisons.gain import NOTHING, Gain, gains
from arena.scores.rules.comparisons.season_rows import check_season
from tests.arena.scores.rules.comparisons.few_rows import Row, drawn, numbered, season_of


def gain_of(rows: list[Row]) -> Gain:
    return next(gain for gain in gains(season_of(rows)) if gain.agent == "ann")


def test_two_rounds_of_one_market_count_once() -> None:
    """Rain: the market's errors .36 and .16, ann's .09 and .01, so .27 and .15; snow: .04 − .01."""
    found = gain_of(
        [
            ("ann", "weather/rain", 1, 0.7, 0.4, 1),
            ("ann", "weather/rain", 2, 0.9, 0.6, 1),
            ("ann", "weather/snow", 1, 0.1, 0.2, 0),
        ]
    )
    assert found.skill == pytest.approx((0.21 + 0.03) / 2)
    assert (found.rows, found.markets, found.events) == (3, 2, 1)
    assert 0 < found.effective < 1
    assert (found.low, found.high, found.p) == (None, None, None)
    assert found.reason is not None
    assert found.reason.startswith("1 event so far")


def first_events(rows: list[Row], events: int) -> Gain:
    return gain_of([row for row in rows if int(row[1][1:].partition("/")[0]) < events])


def test_with_enough_events_an_interval_is_given() -> None:
    rows = drawn(1, 60, {"ann": 0.05})
    found = next(gain for events in range(1, 60) if (gain := first_events(rows, events)).reason is None)
    before = first_events(rows, found.events - 1)
    assert found.events >= 20
    assert found.effective >= 10
    assert (before.low, before.p) == (None, None)
    assert before.reason is not None
    assert found.low is not None
    assert found.high is not None
    assert found.skill is not None
    assert found.low < found.skill < found.high


def test_20_events_of_which_one_is_large_are_not_enough() -> None:
    rows = drawn(1, 20, {"ann": 0.05}, markets=8)
    found = gain_of([row for row in rows if row[1].endswith("/0") or row[1].startswith("e1/")])
    assert (found.events, found.low) == (20, None)
    assert found.effective < 2
    assert found.reason is not None
    assert found.reason.startswith("20 events so far that tell little (")


def test_the_market_against_itself_gains_exactly_nothing() -> None:
    rows: list[Row] = [(name, market, at, price, price, end) for name, market, at, _, price, end in
                       drawn(2, 60, {"ann": 0.1})]  # fmt: skip
    found = gain_of(rows)
    assert (found.skill, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_nothing_resolved_is_said_and_is_not_0() -> None:
    rows: list[Row] = [("ann", "rain", 1, 0.5, 0.5, -1), ("ann", "snow", 1, 0.5, 0.5, -2)]
    found = gain_of(rows)
    assert (found.skill, found.error, found.p, found.reason) == (None, None, None, NOTHING)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(seed: int, chance: random.Random) -> None:
    """Numbers stand for the names, as in the record; only the rows are shuffled."""
    rows = drawn(seed, 22, {"ann": 0.1, "bob": 0.2})
    events, event = numbered(row[1].partition("/")[0] for row in rows)
    _, market = numbered(row[1] for row in rows)

    def found(order: list[int]) -> list[Gain]:
        names, _, instant, *rest = (np.array(column)[order] for column in zip(*rows, strict=True))
        columns = dict(zip(("forecast", "reference", "outcome"), rest, strict=True))
        place = (names == "bob").astype(int)
        of_market = {"market": market[order], "event": event[order]}
        return gains(
            check_season(("ann", "bob"), events, agent=place, instant=instant, **of_market, **columns)
        )

    order = list(range(len(rows)))
    assert found(order) == found(chance.sample(order, len(order)))


@pytest.mark.parametrize(("said", "price", "wrong"), [(1.5, 0.5, 1.5), (0.5, float("nan"), "nan")])
def test_what_is_no_probability_is_refused_by_row(said: float, price: float, wrong: object) -> None:
    with pytest.raises(ValueError, match=f"row 1: {wrong} is not a probability"):
        season_of([("ann", "rain", 1, 0.5, 0.5, 1), ("ann", "snow", 1, said, price, 1)])
