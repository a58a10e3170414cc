"""Holm's correction: p-values of many questions, so that one false alarm among them all stays rare.

- Formula: with m p-values in rising order p₁ ≤ … ≤ p_m, the adjusted one of place i is the largest of
  (m − j + 1)·p_j over j ≤ i, and at most 1.
- Direction: lower is better evidence.
- Range: 0 to 1, never below the p-value itself.
- Edge cases: NaN stays NaN and does not count among the m; equal p-values are adjusted alike.
- Source: Holm (1979).
"""

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats


def holm_adjusted(p_values: ArrayLike) -> Floats:
    """Each p-value after Holm."""
    p = np.atleast_1d(np.asarray(p_values, dtype=np.float64))
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    adjusted = np.full(p.shape, np.nan)
    weights = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(weights * p[order]), 1.0)
    return adjusted
