"""Expected calibration error, for those who ask; never without what chance alone would give.

- Formula: the forecasts fall into ten half-open bins [0, .1), [.1, .2) … [.9, 1]; ECE = Σ w(b)·|mean
  forecast of the bin − share of YES in it|, with the share w(b) of all weight in the bin. `expected`,
  `low` and `high` are the mean and the middle 90% of the ECE in `draws` worlds in which the forecasts are
  calibrated (`worlds`), and `p_value` = (1 + worlds with an ECE at least as large) ÷ (1 + draws).
- Direction: lower is better, though only what lies above the band says anything at all.
- Range: 0 to 1.
- Edge cases: nothing resolved gives NaN throughout. The perfectly calibrated score well above 0 where
  rows are few, and those who always say the base rate score 0. Other bins give other figures: this is
  why `corp`, which needs none, is what the arena shows.
- Source: Naeini, Cooper and Hauskrecht (2015) for the score; the band is the consistency resampling of
  Bröcker and Smith (2007).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import DistinctForecasts, Floats, distinct_forecasts
from arena.scores.rules.calibration import EDGES
from arena.scores.rules.reliability.null_worlds import p_value, worlds

BAND = (0.05, 0.95)


@dataclass(frozen=True, slots=True)
class Ece:
    """The error, and what it would be by chance alone."""

    ece: float
    expected: float
    low: float
    high: float
    p_value: float


def ece(
    forecast: ArrayLike,
    outcome: ArrayLike,
    rng: np.random.Generator,
    market: ArrayLike | None = None,
    together: ArrayLike | None = None,
    draws: int = 1_000,
) -> Ece:
    """The expected calibration error with its null band.

    >>> found = ece([0.7] * 10, [1, 0] * 5, np.random.default_rng(1))
    >>> round(found.ece, 9), found.low <= found.ece <= found.high
    (0.2, True)
    """
    rows = distinct_forecasts(forecast, outcome, market, together)
    if not rows.value.size:
        return Ece(math.nan, math.nan, math.nan, math.nan, math.nan)
    found = float(_errors(rows, rows.came[np.newaxis])[0])
    drawn = np.concatenate([_errors(rows, batch) for batch in worlds(rows, draws, rng)])
    low, high = np.quantile(drawn, BAND)
    return Ece(found, float(drawn.mean()), float(low), float(high), p_value(found, drawn))


def _errors(rows: DistinctForecasts, came: Floats) -> Floats:
    """The error of each world, given what came true on each distinct value in it."""
    bins = np.searchsorted(EDGES[1:-1], rows.value.round(9), side="right")
    starts = np.unique(bins, return_index=True)[1]
    gaps = np.add.reduceat(came - rows.weight * rows.value, starts, axis=-1)
    summed: Floats = np.abs(gaps).sum(axis=-1)
    return summed
