"""Log score: the logarithm of the probability given to what happened.

- Formula: LS = ln(P), P = f if YES happened, else 1 − f, f the forecast of YES; averaged as in `brier`.
- Direction: higher is better.
- Range: −∞ (certain and wrong) to 0 (certain and right); a forecast of 0.5 always scores ln 0.5 = −0.693.
- Edge cases: a forecast of 0 for what happened, or of 1 for what did not, scores −∞, and so does any mean
  with such a row in it: nothing is clipped here (`metaculus.limits` clips as that site does). Rows
  without an outcome of 0 or 1 are left out; no row at all gives NaN; a forecast outside [0, 1] is an error.
- Source: seed 000, "What is the log score?"; Good (1952).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats, as_floats, check_probabilities, is_scored, mean

TITLE = "Log score"
DIRECTION = "higher"
RANGE = (-math.inf, 0.0)


def natural(values: ArrayLike) -> Floats:
    """Return natural logarithms; their last digit may differ between machines."""
    logarithms: Floats = np.log(values)
    return logarithms


def each(forecast: ArrayLike, outcome: ArrayLike) -> Floats:
    """Return ln P row by row; NaN where the outcome is neither 0 nor 1.

    Seed 000's example, 99% and 99.9%:

    >>> each([0.99, 0.999, 0.99, 0.999, 0.5], [1, 1, 0, 0, -1]).round(3).tolist()
    [-0.01, -0.001, -4.605, -6.908, nan]
    """
    outcomes = as_floats(outcome)
    forecasts = check_probabilities(forecast)
    chance = np.where(outcomes == 1, forecasts, 1 - forecasts)
    with np.errstate(divide="ignore"):
        return np.where(is_scored(outcomes), np.log(chance), np.nan)


def score(forecast: ArrayLike, outcome: ArrayLike, market: ArrayLike | None = None) -> float:
    """Return the mean of ln P; with markets, within each market first.

    >>> round(score([0.5, 0.8], [1, 0]), 4)
    -1.1513
    """
    counted = is_scored(outcome)
    if market is not None:
        market = np.asarray(market)[counted]
    return mean(each(forecast, outcome)[counted], market)
