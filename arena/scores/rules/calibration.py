"""Calibration: of all that was called 70% likely, did 70% happen?

- Formula: ten bins [0, .1), [.1, .2) … [.9, 1] show count, mean forecast and share of YES. The score is
  the mean over rows of (mean forecast − share)² of the row's bin.
- Direction: lower is better; it ignores how bold the forecasts were.
- Range: 0 to 1.
- Edge cases: bins without a row are absent; rows without an outcome of 0 or 1 are left out; no row at all
  gives no bins and a score of NaN.
- Limits: few rows score badly by chance.
- Source: Murphy (1973) for the term.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import check_probabilities, is_scored, mean, select_rows

TITLE = "Calibration error"
DIRECTION = "lower"
RANGE = (0.0, 1.0)

BINS = 10
EDGES = tuple(edge / BINS for edge in range(BINS + 1))
DUST = 5e-9


@dataclass(frozen=True, slots=True)
class Bin:
    """Forecasts from `low` up to `high`: their number, their mean, and the number of YES."""

    low: float
    high: float
    count: int
    forecast: float
    observed: float


def bins(forecast: ArrayLike, outcome: ArrayLike) -> list[Bin]:
    """Return the bins that hold a resolved forecast, lowest first."""
    counted = is_scored(outcome)
    forecasts = select_rows(check_probabilities(forecast), counted)
    outcomes = select_rows(np.atleast_1d(np.asarray(outcome)), counted)

    # 1 − 0.8 is slightly below 0.2 in floats and belongs in the bin that starts there; so does 0.2 − 5e-10.
    bin_of_row = np.minimum((forecasts * BINS + DUST).astype(np.uint8), BINS - 1)

    # The bins of NO come first, then those of YES.
    bin_and_outcome = bin_of_row + np.uint8(BINS) * (outcomes == 1)
    no_counts, yes_counts = np.bincount(bin_and_outcome, minlength=2 * BINS).reshape(2, BINS).tolist()

    forecasts_by_bin = forecasts[np.argsort(bin_of_row, kind="stable")]

    occupied = []
    first_row = 0
    for number in range(BINS):
        count = no_counts[number] + yes_counts[number]
        if count:
            own_forecasts = forecasts_by_bin[first_row : first_row + count]
            occupied.append(
                Bin(EDGES[number], EDGES[number + 1], count, mean(own_forecasts), yes_counts[number] / count)
            )
        first_row += count
    return occupied


def score(forecast: ArrayLike, outcome: ArrayLike) -> float:
    """Return the mean squared gap between the bins' mean forecasts and shares of YES."""
    occupied = bins(forecast, outcome)
    if not occupied:
        return math.nan
    gaps = math.fsum(part.count * (part.forecast - part.observed) ** 2 for part in occupied)
    return gaps / sum(part.count for part in occupied)
