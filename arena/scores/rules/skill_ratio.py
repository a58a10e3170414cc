"""Brier skill score: the share of the reference's error that the forecasts take away.

- Formula: BSS = 1 − BS / BS_reference. The reference is a column of forecasts on the same rows, or else
  0.5 throughout (Brier score 0.25).
- Direction: higher is better; 0 is the reference.
- Range: −∞ to 1 (no error left).
- Edge cases: NaN when nothing is resolved, and when the reference makes no error.
- Source: seed 002 section 1.5.
"""

import math

from numpy.typing import ArrayLike

from arena.scores.rules import brier

TITLE = "Brier skill score"
DIRECTION = "higher"
RANGE = (-math.inf, 1.0)

COIN = 0.25
"""What a forecast of 0.5 scores, whatever happens."""


def ratio(score: float, reference: float = COIN) -> float:
    """Return 1 − score / reference. Seed 002's example, 40% better than random:

    >>> ratio(0.15)
    0.4
    """
    if reference <= 0:
        return math.nan
    return 1 - score / reference


def score(
    forecast: ArrayLike,
    outcome: ArrayLike,
    reference: ArrayLike | None = None,
    market: ArrayLike | None = None,
) -> float:
    """Return the Brier skill score of a column of forecasts.

    >>> score([1.0, 0.5], [1, 0])
    0.5
    """
    against = COIN if reference is None else brier.score(reference, outcome, market)
    return ratio(brier.score(forecast, outcome, market), against)
