"""What the rules share: columns checked, rows that count, and means that no order of rows can change.

Beside them forecasts by their distinct values, of which reliability curves and decompositions are made, and
words for a score: bands with a floor each.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


def check_probabilities(column: ArrayLike) -> Floats:
    """Probabilities, checked: one outside [0, 1] is an error, never scored in silence."""
    values = np.atleast_1d(np.asarray(column, dtype=np.float64))
    right = (values >= 0) & (values <= 1)
    if not right.all():
        wrong = np.flatnonzero(~right)
        raise ValueError(f"row {wrong[0]}: {values[wrong[0]]} is not a probability from 0 to 1")
    return values


def is_scored(outcome: ArrayLike) -> Flags:
    """The rows that ended in YES or NO; open ones, fractions and refunds give no score.

    >>> is_scored([1, 0, -1, 0.5])
    array([ True,  True, False, False])
    """
    values = np.atleast_1d(np.asarray(outcome))
    found: Flags = (values == 0) | (values == 1)
    return found


def select_rows(values: Floats, counted: Flags) -> Floats:
    """The values of rows that count, without a copy where all do."""
    return values if counted.all() else values[counted]


FEW = 2_000
"""Of more values than these the sum is found in limbs: "1,000,000 forecasts, five scores" in
`benchmarks/scoring.py` take an eighth of the CPU of a loop."""
CHUNK = 1 << 14
LIMB = 39
LIMBS = 4
"""2¹⁴ whole numbers of 39 bits add up to no more than 2⁵³, up to which floats are exact."""


def total(values: Floats) -> float:
    """The exact sum, rounded once: the order of values changes nothing, not even the last digit.

    >>> total(np.array([1e16, 1.0, -1e16] * 1000))
    1000.0
    """
    exact = _in_limbs(values) if values.size > FEW else None
    return math.fsum(values.tolist()) if exact is None else exact


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


def none_for_nan(value: float) -> float | None:
    """A number, or None for NaN, which JSON does not have."""
    return None if math.isnan(value) else float(value)


Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class DistinctForecasts:
    """The rows that count, by forecast, lowest first; their shares sum to 1.

    `value` are the distinct forecasts, `weight` what lies on each of them, and `start` where the rows of
    each begin. `market` numbers the markets of the rows: a row is a market of its own where none was named.
    """

    forecast: Floats
    outcome: Floats
    share: Floats
    market: Places
    start: Places
    value: Floats
    weight: Floats

    @property
    def markets(self) -> int:
        """How many markets there are."""
        return int(self.market.max()) + 1 if self.market.size else 0

    @property
    def came(self) -> Floats:
        """The weight of what came true, for each distinct forecast."""
        return sum_by_value(self, self.share * self.outcome)


def distinct_forecasts(
    forecast: ArrayLike, outcome: ArrayLike, market: ArrayLike | None = None
) -> DistinctForecasts:
    """The resolved rows. Each weighs the same; with markets, each market does, spread over its rows.

    They are put in an order of their own, so that the order they came in changes no digit.

    >>> distinct_forecasts([0.7, 0.2, 0.7], [1, 0, 0]).came.round(3)
    array([0.   , 0.333])
    """
    o = np.atleast_1d(np.asarray(outcome, dtype=np.float64))
    f = check_probabilities(forecast) if o.size else np.empty(0)
    there = np.flatnonzero(is_scored(o)) if o.size else np.empty(0, np.intp)
    labels = np.arange(f.size) if market is None else np.asarray(market)
    f, o, number = f[there], o[there], number_labels(labels[there])
    size = np.bincount(number)
    share = 1 / size[number] / size.size if f.size else f
    order = np.lexsort((number, o, share, f))
    f, o, share = f[order], o[order], share[order]
    value, start = np.unique(f, return_index=True)
    weight = np.add.reduceat(share, start) if f.size else share
    return DistinctForecasts(f, o, share, number[order], start, value, weight)


def number_labels(labels: ArrayLike) -> Places:
    """Labels as numbers from 0 on.

    >>> number_labels(["b", "a", "b"])
    array([1, 0, 1])
    """
    return np.unique(np.asarray(labels), return_inverse=True)[1]


def sum_by_value(rows: DistinctForecasts, column: Floats) -> Floats:
    """The sums of a column of the rows, or of many such columns, for each distinct forecast."""
    if not rows.value.size:
        return column
    summed: Any = np.add.reduceat(column, rows.start, axis=-1)
    return np.asarray(summed, dtype=np.float64)


Bands = tuple[tuple[float, str], ...]


def above_floor(floor: float) -> float:
    """The floor of a band that leaves its own edge to the band below."""
    return math.nextafter(floor, math.inf)


def band_name(value: float, bands: Bands) -> str | None:
    """The band that a value falls in, None for NaN. Dust of floats moves nothing over an edge.

    >>> band_name(0.1 + 0.2, ((0.0, "low"), (0.3, "high"))), band_name(0.1, ((0.0, "low"), (0.3, "high")))
    ('high', 'low')
    """
    if math.isnan(value):
        return None
    place = bisect_right([floor for floor, _ in bands], round(value, 9))
    return bands[max(place - 1, 0)][1]


def runs(*columns: NDArray[Any]) -> tuple[Counts, Counts]:
    """Where each run of rows that are alike in all of these columns begins, and how long it is.

    >>> runs(np.array([4, 4, 4, 7]), np.array([0.5, 0.5, 0.7, 0.7]))
    (array([0, 2, 3]), array([2, 1, 1]))
    """
    size = columns[0].size
    is_new = np.ones(size, dtype=np.bool_)
    is_new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    starts = np.flatnonzero(is_new)
    return starts, np.diff(starts, append=size)


def different(numbers: Counts) -> tuple[Counts, Counts]:
    """The different numbers among these from 0 on, sorted, and the place of each: without a sort if dense.

    >>> different(np.array([5, 2, 5]))
    (array([2, 5]), array([1, 0, 1]))
    """
    span = int(numbers.max(initial=-1)) + 1
    if span > 4 * numbers.size:
        values, places = np.unique(numbers, return_inverse=True)
        return values, places
    used = np.flatnonzero(np.bincount(numbers, minlength=span))
    place = np.zeros(span, dtype=np.int64)
    place[used] = np.arange(used.size)
    return used, place[numbers]
