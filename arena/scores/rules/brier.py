"""Brier score: how far a probability lay from what happened, squared.

- Formula: BS = (f − o)², f the forecast of YES, o = 1 if YES happened, else 0; averaged over rows, or
  within markets and then over markets.
- Direction: lower is better.
- Range: 0 (certain and right) to 1 (certain and wrong); 0.5 always scores 0.25.
- Edge cases: rows without an outcome of 0 or 1 are left out; no row at all gives NaN; a forecast
  outside [0, 1] is an error.
- Source: seed 002 sections 1.1 and 1.4, bands from its appendix B; Brier (1950), in the one-sided form.
"""

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import (
    Floats,
    above_floor,
    as_floats,
    band_name,
    check_probabilities,
    is_scored,
    mean,
    select_rows,
)

TITLE = "Brier score"
DIRECTION = "lower"
RANGE = (0.0, 1.0)

BANDS = (
    (0.0, "Perfect"),
    (above_floor(0.0), "Excellent"),
    (0.10, "Good"),
    (0.20, "Fair"),
    (0.25, "Poor"),
    (0.40, "Very Poor"),
)


def each(forecast: ArrayLike, outcome: ArrayLike) -> Floats:
    """Return (f − o)² row by row; NaN where the outcome is neither 0 nor 1."""
    outcomes = as_floats(outcome)
    squares = (check_probabilities(forecast) - outcomes) ** 2
    return np.where(is_scored(outcomes), squares, np.nan)


def score(forecast: ArrayLike, outcome: ArrayLike, market: ArrayLike | None = None) -> float:
    """Return the mean of (f − o)²; with markets, within each market first.

    >>> score([0.5, 0.5, 1.0], [1, 0, 0])
    0.5
    """
    counted = is_scored(outcome)
    forecasts = select_rows(check_probabilities(forecast), counted)
    outcomes = select_rows(np.atleast_1d(np.asarray(outcome)), counted)
    if market is not None:
        market = np.asarray(market)[counted]

    differences = forecasts - outcomes
    return mean(np.square(differences, out=differences), market)


def band(brier: float) -> str | None:
    """Return the seed's word for a score. Bands are half-open: 0.10 is Good, 0.25 is Poor."""
    return band_name(brier, BANDS)
