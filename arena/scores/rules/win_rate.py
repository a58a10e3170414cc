"""Win rate: how often the side that was bet on came true.

- Formula: winning bets ÷ resolved bets; a bet wins if its side is the outcome.
- Direction: higher is better.
- Range: 0 to 1.
- Edge cases: only outcomes 0 and 1 count, so fractions and refunds are neither won nor lost; no resolved
  bet gives NaN.
- Limits: sure bets win often and earn nothing; a bet sold early counts by the outcome.
- Source: seed 002 section 3.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import is_scored

TITLE = "Win rate"
DIRECTION = "higher"
RANGE = (0.0, 1.0)


def score(yes: ArrayLike, outcome: ArrayLike) -> float:
    """Return the share of resolved bets that won.

    >>> score([True, True, False, False], [1, 0, 0, -1]) == 2 / 3
    True
    """
    side = np.atleast_1d(np.asarray(yes, dtype=np.bool_))
    happened = np.atleast_1d(np.asarray(outcome)) == 1
    counted = is_scored(outcome)
    won = counted & (side == happened)

    bets = int(np.count_nonzero(counted))
    if not bets:
        return math.nan
    return int(np.count_nonzero(won)) / bets
