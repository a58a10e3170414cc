"""Return: what the play money earned, in percent of what was given.

- Formula: 100 · Σ P/L ÷ Σ bankroll over all accounts of an agent, where P/L = value − bankroll, open
  positions at mid.
- Direction: higher is better.
- Range: −100 (all lost) upward; below only while a venue's correction is outstanding.
- Edge cases: no account, or no bankroll, gives NaN.
- Source: seed 002 section 2.4 and appendix A, bands from its appendix B.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import above_floor, band_name

TITLE = "Return"
DIRECTION = "higher"
RANGE = (-math.inf, math.inf)

BANDS = (
    (-math.inf, "Very Poor"),
    (-20.0, "Poor"),
    (-5.0, "Neutral"),
    (5.0, "Good"),
    (20.0, "Excellent"),
    (above_floor(50.0), "Exceptional"),
)


def score(pnl: ArrayLike, bankroll: ArrayLike) -> float:
    """Return the return in percent. Seed 002, section 2.4:

    >>> score([700], [10_000])
    7.0
    """
    earned = math.fsum(np.ravel(pnl).tolist())
    given = math.fsum(np.ravel(bankroll).tolist())
    if given <= 0:
        return math.nan
    return 100 * earned / given


def band(percent: float) -> str | None:
    """Return the seed's word for a return. Bands are half-open, except that +50 is still Excellent.

    >>> band(7.0)
    'Good'
    """
    return band_name(percent, BANDS)
