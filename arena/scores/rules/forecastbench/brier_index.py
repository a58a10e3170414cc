"""Brier Index: a Brier score as a percentage of perfect.

- Formula: 100 · (1 − √s), s a difficulty-adjusted Brier score shifted to always 0.5 = 0.25.
- Direction: higher is better.
- Range: 100 is perfect, 50 is always saying 0.5, 0 is always wrong for certain; below 0 where s is above
  1.
- Edge cases: NaN where s is below 0, which adjusting can bring about and a square root can't answer for.
- Source: the benchmark's leaderboard; overall it is that of the mean of both types' scores.
"""

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats


def index(score: ArrayLike) -> Floats:
    """Return the index of each score.

    >>> index([0.25, 0.0, 1.0, 0.04]).tolist()
    [50.0, 100.0, 0.0, 80.0]
    """
    values = np.asarray(score, dtype=np.float64)
    possible: Floats = np.where(values >= 0, values, np.nan)
    indices: Floats = 100 * (1 - np.sqrt(possible))
    return indices
