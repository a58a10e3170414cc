"""Helpers that the rules share: checked columns, the rows that count, and means independent of row order.

Also: forecasts by their distinct values, which reliability curves and decompositions use, and words for a
score: bands with a floor each.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


def as_floats(column: ArrayLike) -> Floats:
    """Return a column as floats, and a single number as a column of one."""
    return np.atleast_1d(np.asarray(column, dtype=np.float64))


def check_probabilities(column: ArrayLike) -> Floats:
    """Return probabilities, raising `ValueError` for one outside [0, 1] rather than scoring it."""
    values = as_floats(column)
    is_valid = (values >= 0) & (values <= 1)

    if not is_valid.all():
        wrong = np.flatnonzero(~is_valid)[0]
        raise ValueError(f"row {wrong}: {values[wrong]} is not a probability from 0 to 1")
    return values


def is_scored(outcome: ArrayLike) -> Flags:
    """Return which rows ended in YES or NO; open ones, fractions and refunds give no score.

    >>> is_scored([1, 0, -1, 0.5])
    array([ True,  True, False, False])
    """
    values = np.atleast_1d(np.asarray(outcome))
    is_known: Flags = (values == 0) | (values == 1)
    return is_known


def select_rows(values: Floats, counted: Flags) -> Floats:
    """Return the values of rows that count; without a copy if all do."""
    if counted.all():
        return values
    return values[counted]


FEW = 2_000
"""Of more values than these the sum is found in limbs: "1,000,000 forecasts, five scores" in
`benchmarks/scoring.py` take an eighth of the CPU of a loop."""
CHUNK = 1 << 14
LIMB = 39
LIMBS = 4
"""2¹⁴ whole numbers of 39 bits add up to no more than 2⁵³, up to which floats are exact."""


def total(values: Floats) -> float:
    """Return the exact sum, rounded once, so that the order of values doesn't change the last digit.

    >>> total(np.array([1e16, 1.0, -1e16] * 1000))
    1000.0
    """
    exact = None
    if values.size > FEW:
        exact = _exact_sum_in_limbs(values)
    if exact is None:
        exact = math.fsum(values.tolist())
    return exact


def _exact_sum_in_limbs(values: Floats) -> float | None:
    """Return the exact sum through integers, the highest bits first; None if there are too many bits.

    Values are scaled to 39 bits before the point and cut there; the remainder is scaled up by 39 bits, and so
    on until nothing remains.
    """
    largest = max(float(values.max()), -float(values.min()))
    # So many binary places make the largest value a number of 39 bits before the point.
    shift = LIMB - math.frexp(largest)[1]
    if not (math.isfinite(largest) and -900 < shift < 900):
        return None

    limb_sums = [0] * LIMBS
    buffers = np.empty((2, CHUNK))
    for start in range(0, values.size, CHUNK):
        part = values[start : start + CHUNK]
        remainder, whole = buffers[:, : part.size]
        np.multiply(part, 2.0**shift, out=remainder)

        for limb in range(LIMBS):
            np.rint(remainder, out=whole)
            limb_sums[limb] += int(np.add.reduce(whole))
            np.subtract(remainder, whole, out=remainder)
            if limb and not remainder.any():
                break
            np.multiply(remainder, 2.0**LIMB, out=remainder)
        else:
            return None

    exact_sum = 0
    # The limbs as one whole number, which Python keeps exactly.
    for part_sum in limb_sums:
        exact_sum = (exact_sum << LIMB) + part_sum

    shift_back = shift + LIMB * (LIMBS - 1)
    if shift_back >= 0:
        # Python rounds the quotient of two whole numbers once.
        return exact_sum / (1 << shift_back)
    return float(exact_sum << -shift_back)


def mean(values: Floats, market: ArrayLike | None = None) -> float:
    """Return the mean of all rows; with markets, of each market's mean. NaN without a row.

    >>> mean(np.array([0.0, 0.0, 0.0, 0.4]))
    0.1
    >>> mean(np.array([0.0, 0.0, 0.0, 0.4]), market=["a", "a", "a", "b"])
    0.2
    """
    if not values.size:
        return math.nan
    if market is None:
        return total(values) / values.size

    market_number, market_sizes = _label_numbers_and_sizes(np.asarray(market))
    # Each row has the weight of 1 over the rows of its market.
    return total(values / market_sizes[market_number]) / int(np.count_nonzero(market_sizes))


def _label_numbers_and_sizes(labels: NDArray[np.generic]) -> tuple[Counts, Counts]:
    """Return the number of each row's label, and how many rows have it; small integers are kept."""
    is_small = labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < FEW + 4 * labels.size
    if is_small:
        numbers = labels.astype(np.int64)
        return numbers, np.bincount(numbers)

    _, label_number, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return label_number, sizes


def quotients(values: Floats, total: Floats) -> Floats:
    """Return the values divided by their totals; NaN where a total isn't above 0.

    >>> quotients(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    array([0.25,  nan])
    """
    none = np.full(total.shape, np.nan)
    divided: Floats = np.divide(values, total, out=none, where=total > 0)
    return divided


def none_for_nan(value: float) -> float | None:
    """Return a number, or None for NaN, which JSON lacks."""
    return None if math.isnan(value) else float(value)


def negative_or_none(value: float | None) -> float | None:
    """Return the negative of a value, None for None."""
    return None if value is None else -value


def highest_first(value: float | None) -> float:
    """Return a sort key: high values first, None last."""
    return math.inf if value is None else -value


Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class DistinctForecasts:
    """The rows that count, by forecast, lowest first; their weights sum to 1.

    `value` are the distinct forecasts, `weight` is the weight of each, and `start` the first row of each.
    `market` numbers the markets of the rows; by default each row is a market of its own. If rows are options
    of a market, `before` is what each forecast gives to the options before its own.
    """

    forecast: Floats
    outcome: Floats
    share: Floats
    market: Places
    start: Places
    value: Floats
    weight: Floats
    before: Floats | None = None

    @property
    def markets(self) -> int:
        """Return the number of markets."""
        return int(self.market.max(initial=-1)) + 1

    @property
    def came(self) -> Floats:
        """Return the weight of what came true, for each distinct forecast."""
        return sum_by_value(self, self.share * self.outcome)


def distinct_forecasts(
    forecast: ArrayLike,
    outcome: ArrayLike,
    market: ArrayLike | None = None,
    before: Floats | None = None,
) -> DistinctForecasts:
    """Return the resolved rows with equal weights; with markets, a market's rows share one weight.

    The rows are sorted, so that their former order changes no digit.

    >>> distinct_forecasts([0.7, 0.2, 0.7], [1, 0, 0]).came.round(3)
    array([0.   , 0.333])
    """
    outcomes = as_floats(outcome)
    if not outcomes.size:
        no_values = np.empty(0)
        no_rows = np.empty(0, np.intp)
        return DistinctForecasts(no_values, no_values, no_values, no_rows, no_rows, no_values, no_values)

    forecasts = check_probabilities(forecast)
    labels = np.arange(forecasts.size) if market is None else np.asarray(market)
    scored = np.flatnonzero(is_scored(outcomes))
    forecasts = forecasts[scored]
    outcomes = outcomes[scored]
    market_numbers = number_labels(labels[scored])
    sizes = np.bincount(market_numbers)
    # The rows of a market share its weight, and the weights of all markets add up to 1.
    shares = 1 / sizes[market_numbers] / max(sizes.size, 1)

    order = np.lexsort((market_numbers, outcomes, shares, forecasts))
    forecasts = forecasts[order]
    shares = shares[order]
    value, start = np.unique(forecasts, return_index=True)
    weight = np.add.reduceat(shares, start) if start.size else shares

    return DistinctForecasts(
        forecast=forecasts,
        outcome=outcomes[order],
        share=shares,
        market=market_numbers[order],
        start=start,
        value=value,
        weight=weight,
        before=None if before is None else before[scored][order],
    )


def number_labels(labels: ArrayLike) -> Places:
    """Return labels as numbers from 0.

    >>> number_labels(["b", "a", "b"])
    array([1, 0, 1])
    """
    return np.unique(np.asarray(labels), return_inverse=True)[1]


def sum_by_value(rows: DistinctForecasts, column: Floats) -> Floats:
    """Return the sums of a column of the rows, or of several columns, for each distinct forecast."""
    if not rows.value.size:
        return column
    summed: Any = np.add.reduceat(column, rows.start, axis=-1)
    return np.asarray(summed, dtype=np.float64)


Bands = tuple[tuple[float, str], ...]


def above_floor(floor: float) -> float:
    """Return the floor of a band whose own edge belongs to the band below."""
    return math.nextafter(floor, math.inf)


def band_name(value: float, bands: Bands) -> str | None:
    """Return the band of a value, None for NaN; rounding errors don't cross an edge.

    >>> band_name(0.1 + 0.2, ((0.0, "low"), (0.3, "high"))), band_name(0.1, ((0.0, "low"), (0.3, "high")))
    ('high', 'low')
    """
    if math.isnan(value):
        return None
    floors = [floor for floor, _ in bands]
    bands_reached = bisect_right(floors, round(value, 9))
    # A value below all floors is in the first band.
    return bands[max(bands_reached - 1, 0)][1]


def runs(*columns: NDArray[Any]) -> tuple[Counts, Counts]:
    """Return the start and the length of each run of rows that are equal in all of these columns.

    >>> runs(np.array([4, 4, 4, 7]), np.array([0.5, 0.5, 0.7, 0.7]))
    (array([0, 2, 3]), array([2, 1, 1]))
    """
    size = columns[0].size
    is_new = np.ones(size, dtype=np.bool_)
    is_new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    starts = np.flatnonzero(is_new)
    return starts, np.diff(starts, append=size)


def run_ends(*columns: NDArray[Any]) -> Counts:
    """Return the last row of each run of rows that are equal in all of these columns."""
    starts, lengths = runs(*columns)
    return starts + lengths - 1


Number = TypeVar("Number", np.float64, np.int64)


def sums_before(values: NDArray[Number]) -> NDArray[Number]:
    """Return the sum of all values before each index, and the total at the end."""
    *lines, size = values.shape
    sums = np.zeros((*lines, size + 1), dtype=values.dtype)
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def different(numbers: Counts) -> tuple[Counts, Counts]:
    """Return the distinct numbers, sorted, and the index of each; dense ones need no sort.

    >>> different(np.array([5, 2, 5]))
    (array([2, 5]), array([1, 0, 1]))
    """
    span = int(numbers.max(initial=-1)) + 1
    # A table of all numbers up to the largest is faster than a sort, unless most of them are unused.
    if span > 4 * numbers.size:
        values, places = np.unique(numbers, return_inverse=True)
        return values, places
    used = np.flatnonzero(np.bincount(numbers, minlength=span))
    index_of = np.zeros(span, dtype=np.int64)
    index_of[used] = np.arange(used.size)
    return used, index_of[numbers]
