"""CORP: how reliable probabilities are, by the recalibration that fits outcomes best.

- Formula: x(f) is the isotonic regression of the outcomes on the forecasts: of all curves that never
  fall, the one closest to the outcomes in squares, found by pooling adjacent violators after equal
  forecasts have been pooled. With S̄(·) the mean Brier score and ō the share of YES, miscalibration MCB =
  S̄(f) − S̄(x), discrimination DSC = S̄(ō) − S̄(x), uncertainty UNC = S̄(ō) = ō·(1 − ō), and S̄(f) = MCB
  − DSC + UNC, exactly. With markets, each weighs the same and its rows share that, so that the sum is the
  leaderboard's Brier score.
- Direction: lower is better for MCB, higher for DSC; UNC is the world's.
- Range: MCB 0 to 1, DSC 0 to UNC, UNC 0 to 0.25.
- Edge cases: nothing resolved gives NaN. All forecasts equal give DSC 0; all outcomes equal give UNC and
  DSC 0.
- Limits: chance alone gives an MCB above 0, as `diagram` shows.
- Source: Dimitriadis, Gneiting and Jordan (2021).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import DistinctForecasts, Floats, distinct_forecasts


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """A Brier score and its parts: brier = miscalibration − discrimination + uncertainty."""

    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def decompose(forecast: ArrayLike, outcome: ArrayLike, market: ArrayLike | None = None) -> ScoreParts:
    """Return the parts of a column's Brier score."""
    rows = distinct_forecasts(forecast, outcome, market)
    return score_parts(rows, rows.came)


def isotonic_curve(came: Floats, weight: Floats) -> Floats:
    """Return the isotonic regression at each distinct forecast.

    `came` is the part of each forecast's weight that came true. With several worlds, one a line, it is a
    curve for each.

    >>> isotonic_curve(np.array([[0, 2], [2, 0]]), np.array([4, 4])).tolist()
    [[0.0, 0.5], [0.25, 0.25]]
    """
    from scipy.optimize import isotonic_regression  # slow to load, and pages never need it

    if not came.size:
        return came

    # All worlds are fitted as one column: each lies so far above the one before that none is pooled with it.
    worlds = np.atleast_2d(came)
    world_offset = 2.0 * np.arange(len(worlds))
    shares = worlds / weight + world_offset[:, np.newaxis]
    weights = np.broadcast_to(weight, worlds.shape).ravel()
    blocks = isotonic_regression(shares.ravel(), weights=weights).blocks

    # Each block of rows gets the mean of its shares, by weight.
    starts = blocks[:-1]
    pooled = np.add.reduceat(worlds.ravel(), starts) / np.add.reduceat(weights, starts)
    return np.repeat(pooled, np.diff(blocks)).reshape(came.shape)


def score_parts(rows: DistinctForecasts, came: Floats) -> ScoreParts:
    """Return the decomposition if this weight came true on each distinct forecast."""
    if not rows.value.size:
        return ScoreParts(math.nan, math.nan, math.nan, math.nan)

    base_rate = float(came.sum())
    uncertainty = base_rate * (1 - base_rate)
    recalibrated = isotonic_curve(came, rows.weight)
    brier = float(brier_of(rows, came, rows.value))
    recalibrated_brier = float(brier_of(rows, came, recalibrated))

    return ScoreParts(
        brier=brier,
        miscalibration=max(brier - recalibrated_brier, 0.0),
        discrimination=max(uncertainty - recalibrated_brier, 0.0),
        uncertainty=uncertainty,
    )


def brier_of(rows: DistinctForecasts, came: Floats, forecast: Floats) -> Floats:
    """Return the Brier score of one forecast for each distinct value, if this weight came true on each.

    With several worlds, one a line, it is a score for each.
    """
    yes = came * (1 - forecast) ** 2
    no = (rows.weight - came) * forecast**2
    scores: Floats = (yes + no).sum(axis=-1)
    return scores
