"""Our scores beside those of libraries that others have written for the same."""

import numpy as np
import pytest
from errorbars import cluster_robust_se
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.comparisons import gains
from arena.scores.rules import brier
from markets.millionths import ONE
from tests.arena.stated_rows import a_season
from tests.oracles.scoring_bets import recalibrate

PAIRS = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 1)), min_size=1, max_size=40)


@pytest.mark.parametrize("markets", [1, 5])
@pytest.mark.parametrize("seed", range(5))
def test_the_error_of_a_gain_is_the_cluster_robust_one(markets: int, seed: int) -> None:
    rows = a_season({"ann": 0.4}, events=30, markets=markets, seed=seed)
    [gain] = gains(rows)
    own, price = (brier.each(said / ONE, rows.outcome) for said in (rows.forecast, rows.mid))
    assert gain.skill == pytest.approx((price - own).mean(), abs=1e-12)
    assert gain.error == pytest.approx(cluster_robust_se(price - own, rows.event), rel=1e-9)


@given(PAIRS)
def test_brier_and_the_isotonic_curve_are_those_of_scores(pairs: list[tuple[int, int]]) -> None:
    from scores.probability import brier_score, isotonic_fit
    from xarray import DataArray

    forecast, outcome = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    f = DataArray(forecast / 100, dims="row")
    o = DataArray(outcome, dims="row")
    assert brier.score(forecast / 100, outcome) == pytest.approx(float(brier_score(f, o)), abs=1e-12)
    theirs = isotonic_fit(f, o)
    curve = dict(zip(theirs["fcst_sorted"], theirs["regression_values"], strict=True))
    ours = recalibrate(forecast / 100, outcome)
    assert ours.tolist() == pytest.approx([curve[value] for value in forecast / 100], abs=1e-9)
