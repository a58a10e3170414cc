"""The worlds of the calibrated: bands and p-values, held against truths that are known."""

import math

import numpy as np
import pytest

from arena.scores.rules._columns import distinct_forecasts
from arena.scores.rules.reliability import calibration_slices, corp, diagram
from arena.scores.rules.reliability.diagram import draw_outcomes


def season(rng: np.random.Generator, markets: int, rounds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return calibrated forecasts of markets over rounds: one belief a market, repeated every round."""
    belief = rng.integers(1, 20, markets) / 20
    ended = (rng.random(markets) < belief).astype(int)
    return np.repeat(belief, rounds), np.repeat(ended, rounds), np.repeat(np.arange(markets), rounds)


def alarms(seasons: int, draws: int, by_market: bool) -> float:
    """Return how often a calibrated forecaster is called miscalibrated at 10%."""
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(seasons):
        f, o, m = season(rng, markets=40, rounds=5)
        found += diagram.null_calibration(f, o, rng, m if by_market else None, draws=draws).p_value <= 0.1
    return found / seasons


def test_the_calibrated_are_called_miscalibrated_as_seldom_as_the_level_says(thorough: bool) -> None:
    seasons = 1000 if thorough else 150
    assert abs(alarms(seasons, 99, by_market=True) - 0.1) <= 3.5 * math.sqrt(0.09 / seasons)


def test_rounds_of_one_market_taken_for_separate_ones_would_raise_false_alarms() -> None:
    assert alarms(60, 99, by_market=False) > 0.5


def test_the_band_holds_the_curve_of_the_calibrated_nine_times_in_ten() -> None:
    rng = np.random.default_rng(11)
    inside = list[bool]()
    tenths = list[bool]()
    for _ in range(40):
        f, o, m = season(rng, markets=100, rounds=1)
        shown = diagram.diagram(f, o, rng, m, draws=200)
        inside += [p.low <= p.recalibrated <= p.high for p in shown.points]
        tenths += [d.low <= d.observed <= d.high for d in shown.deciles]
    assert 0.85 <= np.mean(inside) <= 0.97
    assert 0.85 <= np.mean(tenths) <= 0.99, (
        "a share of few rows takes few values, and its ends count as inside"
    )


def test_a_diagram_says_what_lies_on_each_point() -> None:
    shown = diagram.diagram([0.2, 0.2, 0.9, 0.5], [0, 1, 1, -1], np.random.default_rng(1), draws=50)
    assert [(p.forecast, p.rows, p.observed) for p in shown.points] == [(0.2, 2, 0.5), (0.9, 1, 1.0)]
    assert sum(p.weight for p in shown.points) == pytest.approx(1)
    assert [(d.place, d.rows, round(d.forecast, 9), d.observed) for d in shown.deciles] == [
        (2, 2, 0.2, 0.5),
        (9, 1, 0.9, 1.0),
    ]


def test_many_distinct_forecasts_are_shown_by_a_part_and_counted_whole() -> None:
    rng = np.random.default_rng(6)
    f = rng.random(3000)
    shown = diagram.diagram(f, rng.random(3000) < f, rng, draws=3, most=50)
    assert len(shown.points) == 50
    assert sum(decile.rows for decile in shown.deciles) == 3000
    assert (shown.points[0].forecast, shown.points[-1].forecast) == (f.min(), f.max())


@pytest.mark.parametrize("grouped", [False, True])
def test_in_each_world_every_forecast_comes_true_as_often_as_it_says(grouped: bool) -> None:
    f = [0.1, 0.1, 0.6, 1.0, 0.0]
    label = [0, 1, 0, 2, 2] if grouped else None
    rows = distinct_forecasts(f, [1, 0, 1, 1, 0], label)
    came = np.concatenate(list(draw_outcomes(rows, 20_000, np.random.default_rng(8)))) / rows.weight
    assert came.mean(axis=0).tolist() == pytest.approx([0, 0.1, 0.6, 1.0], abs=0.015)


def test_equal_forecasts_of_one_market_end_alike_in_every_world() -> None:
    rows = distinct_forecasts([0.4] * 4, [1, 1, 0, 0], ["a", "a", "b", "b"])
    came = np.concatenate(list(draw_outcomes(rows, 1000, np.random.default_rng(8))))
    assert set(came.round(9).ravel().tolist()) == {0.0, 0.5, 1.0}


def test_of_the_options_of_one_market_one_comes_true_in_every_world() -> None:
    f = [0.5, 0.2, 0.3]
    # whole numbers above what the options before have change nothing
    rows = distinct_forecasts(f, [1, 0, 0], ["a"] * 3, np.array([0, 1.5, 2.7]))
    came = 3 * np.concatenate(list(draw_outcomes(rows, 20_000, np.random.default_rng(8))))
    assert set(came.sum(axis=1).round(9).tolist()) == {1.0}
    assert came.mean(axis=0).tolist() == pytest.approx(sorted(f), abs=0.015)


def test_slices_are_the_rows_of_each_label_scored_alone() -> None:
    f, o, m = season(np.random.default_rng(2), 60, 2)
    label = np.where(m % 3 == 0, "sport", "news")
    found = {
        one.label: one
        for one in calibration_slices.calibration_by_label(label, f, o, seed=1, market=m, draws=20)
    }
    assert set(found) == {"sport", "news"}
    assert found["sport"].parts == corp.decompose(f[m % 3 == 0], o[m % 3 == 0], m[m % 3 == 0])
    assert (found["sport"].forecasts, found["sport"].markets) == (40, 20)


def test_what_is_drawn_for_a_label_does_not_depend_on_the_others() -> None:
    f, o, _ = season(np.random.default_rng(2), 40, 1)
    label = np.where(np.arange(40) < 20, "early", "late")
    both = calibration_slices.calibration_by_label(label, f, o, seed=1, draws=50)
    assert calibration_slices.calibration_by_label(label[20:], f[20:], o[20:], seed=1, draws=50) == both[1:]
    assert calibration_slices.calibration_by_label(label, f, o, seed=2, draws=50) != both
