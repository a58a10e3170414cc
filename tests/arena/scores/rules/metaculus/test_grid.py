"""Many questions at once come to what each of them does by itself."""

import numpy as np
import pytest

from arena.scores.rules._columns import Floats
from arena.scores.rules.metaculus.forecasts import MetaculusQuestion
from arena.scores.rules.metaculus.grid import ForecastGrid, grid_scores
from arena.scores.rules.metaculus.question_types import binary
from arena.scores.rules.metaculus.table import SCORES, question_scores


def a_grid(seed: int) -> tuple[ForecastGrid, list[MetaculusQuestion]]:
    """Return questions of some rounds each, with gaps, early ends and some outside the base."""
    rng = np.random.default_rng(seed)
    agents = int(rng.integers(2, 7))
    parts = []
    lives = []
    for question in range(6):
        times = np.sort(rng.choice(20, int(rng.integers(1, 6)), replace=False)).astype(np.float64)
        said = np.where(
            rng.random((times.size, agents)) < 0.6, rng.random((times.size, agents)).round(2), np.nan
        )
        said[0, 0] = 0.3  # somebody always begins
        scheduled = times[-1] + float(rng.integers(1, 8))
        ends = min(scheduled, times[0] + float(rng.integers(1, 25)) + 0.5)
        lives.append(MetaculusQuestion(times[0], ends, scheduled, ends))
        parts.append((np.full(times.size, question), times, said, bool(rng.random() < 0.5)))
    base = np.append(True, rng.random(agents - 1) < 0.8)
    number = np.concatenate([part[0] for part in parts])

    def spread(values: list[float]) -> Floats:
        every: Floats = np.array(values, dtype=np.float64)[number]
        return every

    return ForecastGrid(
        number,
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
        spread([life.opens for life in lives]),
        spread([life.closes for life in lives]),
        spread([life.scheduled for life in lives]),
        np.array([part[3] for part in parts])[number],
        base,
    ), lives


@pytest.mark.parametrize("seed", range(8))
def test_each_score_is_that_of_its_question(seed: int) -> None:
    grid, lives = a_grid(seed)
    values = grid_scores(grid).values
    for number, life in enumerate(lives):
        rows = np.flatnonzero(grid.question == number)
        stated = [(row, who) for row in rows for who in np.flatnonzero(~np.isnan(grid.forecast[row]))]
        forecasts = binary(
            [f"{who:02d}" for _, who in stated],
            [grid.time[row] for row, _ in stated],
            [grid.forecast[cell] for cell in stated],
            bool(grid.yes[rows[0]]),
            base=[bool(grid.base[who]) for _, who in stated],
        )
        told = question_scores(life, forecasts, "exact")
        who = sorted({int(who) for _, who in stated})
        for line, name in zip(told, SCORES, strict=True):
            expected = np.where(line > 0, line, np.nan) if name == "coverage" else line
            assert values[name][number, who] == pytest.approx(expected, abs=1e-9, nan_ok=True), name


def test_the_community_is_the_median_of_who_speaks_at_once() -> None:
    said = np.array([[0.2, 0.6, 0.7]])
    one = np.ones(1)
    grid = ForecastGrid(
        np.zeros(1, np.int64), 0 * one, said, 0 * one, one, one, one > 0, np.ones(3, np.bool_)
    )
    values = grid_scores(grid).values
    assert values["baseline"][0, 3] == pytest.approx(100 * (1 + np.log2(0.6)))
    assert values["peer"][0, 3] == pytest.approx(100 * (np.log(0.6) - np.log(said).mean()))
