"""What the rules share: columns checked, rows that count, and means that no order of rows can change."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def chances(column: ArrayLike) -> Floats:
    """Probabilities, checked: one outside [0, 1] is an error, never scored in silence."""
    values = np.atleast_1d(np.asarray(column, dtype=np.float64))
    wrong = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if wrong.size:
        raise ValueError(f"row {wrong[0]}: {values[wrong[0]]} is not a probability from 0 to 1")
    return values


def scored(outcome: ArrayLike) -> Flags:
    """The rows that ended in YES or NO; open ones, fractions and refunds give no score.

    >>> scored([1, 0, -1, 0.5])
    array([ True,  True, False, False])
    """
    values = np.atleast_1d(np.asarray(outcome, dtype=np.float64))
    return np.isin(values, (0, 1))


def mean(values: Floats, market: ArrayLike | None = None) -> float:
    """The mean of all rows; with markets, of each market's own mean. NaN when there is no row.

    >>> mean(np.array([0.0, 0.0, 0.0, 0.4]))
    0.1
    >>> mean(np.array([0.0, 0.0, 0.0, 0.4]), market=["a", "a", "a", "b"])
    0.2
    """
    if not values.size:
        return math.nan
    if market is None:
        return math.fsum(values.tolist()) / values.size
    _, place, counts = np.unique(np.asarray(market), return_inverse=True, return_counts=True)
    return math.fsum((values / counts[place]).tolist()) / counts.size
