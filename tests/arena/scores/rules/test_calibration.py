"""The reliability bins: half-open, absent when empty, with Wilson's interval."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules import brier, calibration


def lows(*forecasts: float) -> list[float]:
    return [found.low for found in calibration.bins(forecasts, [1] * len(forecasts))]


def test_a_bin_holds_its_lower_edge_and_not_its_upper_one() -> None:
    assert lows(0.0) == lows(0.0999) == [0.0]
    assert [lows(k / 10) for k in range(10)] == [[k / 10] for k in range(10)]


def test_a_no_bet_at_80_percent_falls_in_the_bin_that_starts_at_20() -> None:
    assert 1 - 0.8 < 0.2
    assert lows(1 - 0.8) == [0.2]


def test_empty_bins_are_absent() -> None:
    assert lows(0.05, 0.55) == [0.0, 0.5]
    assert calibration.bins([], []) == []


def test_a_bin_shows_count_mean_forecast_and_share_of_yes() -> None:
    (found,) = calibration.bins([0.70, 0.72, 0.74, 0.76, 0.99], [1, 1, 1, 0, -1])
    assert (found.low, found.high, found.count, found.observed) == (0.7, 0.8, 4, 0.75)
    assert found.forecast == pytest.approx(0.73)


rows = st.lists(st.tuples(st.integers(0, 1000), st.sampled_from([0, 1, -1])), min_size=1, max_size=60)


@given(rows)
def test_every_resolved_forecast_is_in_one_bin(rows: list[tuple[int, int]]) -> None:
    forecasts = [f / 1000 for f, _ in rows]
    outcomes = [o for _, o in rows]
    found = calibration.bins(forecasts, outcomes)
    assert sum(b.count for b in found) == sum(o >= 0 for o in outcomes)
    for b in found:
        assert b.low <= b.forecast <= b.high


@given(rows)
def test_the_calibration_error_is_never_above_the_brier_score(rows: list[tuple[int, int]]) -> None:
    forecasts = [f / 1000 for f, _ in rows]
    outcomes = [o for _, o in rows]
    error = calibration.score(forecasts, outcomes)
    whole = brier.score(forecasts, outcomes)
    assert math.isnan(whole) or error <= whole + 1e-12


def test_calling_70_percent_what_happens_half_the_time_is_off_by_a_fifth_squared() -> None:
    assert calibration.score([0.7] * 10, [1, 0] * 5) == pytest.approx(0.04)
