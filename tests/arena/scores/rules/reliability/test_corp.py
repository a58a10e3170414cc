"""CORP and Murphy: the oracle cases, other people's implementations, and what must hold of any forecasts."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from sklearn.isotonic import IsotonicRegression

from arena.scores.rules import brier
from arena.scores.rules.reliability import corp, diagram, murphy
from tests.oracles.scoring_bets import recalibrate

Rows = list[tuple[float, int, int]]
rows = st.lists(
    st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.sampled_from([0, 1, -1]), st.integers(0, 4)),
    min_size=1,
    max_size=40,
)


def columns(rows: Rows) -> tuple[list[float], list[int], list[int]]:
    f, o, m = zip(*rows, strict=True)
    return list(f), list(o), list(m)


@given(rows)
def test_with_markets_the_curve_is_the_weighted_one_of_scikit_learn(rows: Rows) -> None:
    f, o, m = columns([row for row in rows if row[1] >= 0] or [(0.5, 1, 0)])
    weights = 1 / np.bincount(m)[m]
    theirs = IsotonicRegression(y_min=0, y_max=1).fit_transform(f, o, sample_weight=weights)
    assert recalibrate(f, o, m).tolist() == pytest.approx(theirs.tolist())


@pytest.mark.parametrize("seed", range(5))
def test_the_parts_are_those_of_model_diagnostics(seed: int) -> None:
    from model_diagnostics.scoring import SquaredError, decompose

    rng = np.random.default_rng(seed)
    f = rng.integers(0, 101, 300) / 100
    m = rng.integers(0, 60, 300)
    o = (rng.random(300) < f**2).astype(int)
    weights = 1 / np.bincount(m)[m]
    theirs = decompose(y_obs=o, y_pred=f, weights=weights, scoring_function=SquaredError())
    found = corp.decompose(f, o, m)
    for name in ("miscalibration", "discrimination", "uncertainty"):
        assert getattr(found, name) == pytest.approx(theirs[name].item(), abs=1e-12)
    assert found.brier == pytest.approx(theirs["score"].item(), abs=1e-12)


@given(rows)
def test_the_parts_add_up_to_the_brier_score_of_the_leaderboard(rows: Rows) -> None:
    f, o, m = columns(rows)
    whole = brier.score(f, o, m)
    a = corp.decompose(f, o, m)
    b = murphy.decompose(f, o, m)
    sums = (
        a.brier,
        a.miscalibration - a.discrimination + a.uncertainty,
        b.brier,
        b.reliability - b.resolution + b.uncertainty,
    )
    assert sums == pytest.approx((whole,) * 4, abs=1e-12, nan_ok=True)


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(rows: Rows, chance: Any) -> None:
    one = columns(rows)
    other = columns(chance.sample(rows, len(rows)))
    assert repr(corp.decompose(*one)) == repr(corp.decompose(*other))
    assert repr(murphy.decompose(*one)) == repr(murphy.decompose(*other))
    drawn = [
        repr(diagram.null_calibration(f, o, np.random.default_rng(7), m, draws=3)) for f, o, m in (one, other)
    ]
    assert drawn[0] == drawn[1]


@given(rows)
def test_recalibrated_forecasts_are_calibrated_and_score_no_worse(rows: Rows) -> None:
    f, o, m = columns([row for row in rows if row[1] >= 0] or [(0.5, 1, 0)])
    again = corp.decompose(recalibrate(f, o, m).clip(0, 1), o, m)
    assert again.miscalibration == pytest.approx(0, abs=1e-12)
    assert again.brier <= corp.decompose(f, o, m).brier + 1e-12


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_the_curves_of_many_worlds_are_those_of_each_alone(size: int) -> None:
    rng = np.random.default_rng(size)
    weight = rng.integers(1, 4, size) / 7
    came = rng.integers(0, 3, (300, size)) / 2 * weight
    alone = [isotonic_regression(world / weight, weights=weight).x for world in came]
    np.testing.assert_allclose(corp.isotonic_curve(came, weight), alone, rtol=1e-14, atol=0)


@pytest.mark.parametrize("outcome", [[], [-1], [0.5]])
def test_nothing_resolved_is_nan_and_no_points(outcome: list[float]) -> None:
    forecast = [0.5] * len(outcome)
    shown = diagram.diagram(forecast, outcome, np.random.default_rng(1))
    assert shown.points == ()
    assert all(map(math.isnan, (shown.parts.brier, shown.parts.miscalibration, shown.null.expected)))
    assert all(map(math.isnan, (shown.null.p_value, murphy.decompose(forecast, outcome).brier)))
