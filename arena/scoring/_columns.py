"""What the rules share: columns checked, rows that count, and means that no order of rows can change."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


def chances(column: ArrayLike) -> Floats:
    """Probabilities, checked: one outside [0, 1] is an error, never scored in silence."""
    values = np.atleast_1d(np.asarray(column, dtype=np.float64))
    right = (values >= 0) & (values <= 1)
    if not right.all():
        wrong = np.flatnonzero(~right)
        raise ValueError(f"row {wrong[0]}: {values[wrong[0]]} is not a probability from 0 to 1")
    return values


def scored(outcome: ArrayLike) -> Flags:
    """The rows that ended in YES or NO; open ones, fractions and refunds give no score.

    >>> scored([1, 0, -1, 0.5])
    array([ True,  True, False, False])
    """
    values = np.atleast_1d(np.asarray(outcome))
    found: Flags = (values == 0) | (values == 1)
    return found


def kept(values: Floats, counted: Flags) -> Floats:
    """The values of rows that count, without a copy where all do."""
    return values if counted.all() else values[counted]


FEW = 2_000
"""Up to here a loop is as fast as anything."""
CHUNK = 1 << 14
LIMB = 39
LIMBS = 4
"""2¹⁴ whole numbers of 39 bits add up to no more than 2⁵³, up to which floats are exact."""


def total(values: Floats) -> float:
    """The exact sum, rounded once: the order of values changes nothing, not even the last digit.

    >>> total(np.array([1e16, 1.0, -1e16] * 1000))
    1000.0
    """
    found = _in_limbs(values) if values.size > FEW else None
    return math.fsum(values.tolist()) if found is None else found


def _in_limbs(values: Floats) -> float | None:
    """The exact sum by whole numbers, the highest bits first; None where there are too many bits.

    Values are scaled to 39 bits before the point and cut there; what is left is moved up by 39 bits, and so
    on until nothing is left.
    """
    top = max(float(values.max()), -float(values.min()))
    shift = LIMB - math.frexp(top)[1]
    if not (math.isfinite(top) and -900 < shift < 900):
        return None
    sums, room = [0] * LIMBS, np.empty((2, CHUNK))
    for start in range(0, values.size, CHUNK):
        part = values[start : start + CHUNK]
        rest, whole = room[:, : part.size]
        np.multiply(part, 2.0**shift, out=rest)
        for limb in range(LIMBS):
            np.rint(rest, out=whole)
            sums[limb] += int(np.add.reduce(whole))
            np.subtract(rest, whole, out=rest)
            if limb and not rest.any():
                break
            np.multiply(rest, 2.0**LIMB, out=rest)
        else:
            return None
    exact = sum(part << LIMB * (LIMBS - 1 - limb) for limb, part in enumerate(sums))
    places = shift + LIMB * (LIMBS - 1)
    return exact / (1 << places) if places >= 0 else float(exact << -places)


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
        return total(values) / values.size
    place, counts = _numbered(np.asarray(market))
    return total(values / counts[place]) / int(np.count_nonzero(counts))


def _numbered(labels: NDArray[np.generic]) -> tuple[Counts, Counts]:
    """A number for each row's label, and how many rows have it; labels that are small numbers keep theirs."""
    if labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < FEW + 4 * labels.size:
        place = labels.astype(np.int64)
        return place, np.bincount(place)
    _, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return place, counts
