"""The community's forecast: a median of all who stand, at every time that something changes.

- Formula: `median` is the plain one of what the standing forecasts give to what happened.
  `recency_weighted` is the site's: of n standing forecasts, oldest first, the i-th weighs
  e^(√i − √n), all the same if they are two or fewer; the value where the sorted weights pass a half,
  or the mean of two if they meet it exactly. With several options each has its median, and the medians
  less 0.001 are scaled so that all add up to 1; of numbers it is the weighted mean instead.
- Direction: none.
- Range: that of the forecasts.
- Edge cases: while nothing stands there is no community (NaN); forecasts of one age count by name.
  The text of the site calls all of this "the median".
- Source: seed 000, "What is the Relative score?"; seed 001, the tables; the site's code for weights.
"""

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats, quotients
from arena.scores.rules.metaculus._timeline import Steps, instants, pieces, row_medians, sorted_standing
from arena.scores.rules.metaculus.forecasts import Forecasts, rows_of
from arena.scores.rules.metaculus.limits import LOWEST


def recency_weights(count: ArrayLike, age: ArrayLike) -> Floats:
    """Return e^(√i − √n) for the i-th oldest of n, or 1 for each if there are at most two.

    >>> recency_weights(4, [1, 2, 3, 4]).round(3)
    array([0.368, 0.557, 0.765, 1.   ])
    """
    counts = np.asarray(count, dtype=np.float64)
    ages = np.asarray(age, dtype=np.float64)
    n, i = np.broadcast_arrays(counts, ages)
    weights = np.exp(np.sqrt(i) - np.sqrt(n))
    return np.where(n > 2, weights, 1.0)


def median(forecasts: Forecasts) -> Steps:
    """Return the ln of the plain median of the base, from each change until the next."""
    base = rows_of(forecasts, forecasts.base)
    times = instants(base)

    medians = []
    for piece in pieces(base, times):
        packed, count = sorted_standing(base.chance, piece.stands)
        medians.append(row_medians(packed, count))
    return _log_steps(times, medians)


def recency_weighted(forecasts: Forecasts) -> Steps:
    """Return the ln of the site's community forecast of what happened, from each change until the next."""
    base = rows_of(forecasts, forecasts.base)
    by_age = np.lexsort((base.forecaster, base.start))
    base = rows_of(base, by_age)
    times = instants(base)

    values_of_pieces = []
    for piece in pieces(base, times):
        count = piece.stands.sum(axis=1, keepdims=True)
        age = np.cumsum(piece.stands, axis=1)
        weights = recency_weights(count, age) * piece.stands
        values_of_pieces.append(_community_values(base, weights))
    return _log_steps(times, values_of_pieces)


def _community_values(base: Forecasts, weights: Floats) -> Floats:
    """Return the site's combination of forecasts under each row of weights."""
    if base.mean:
        total = weights.sum(axis=1)
        return quotients(weights @ base.chance, total)

    if base.options is None:
        return _weighted_median(base.chance, weights)
    return _normalised_median(base.options, weights, base.happened)


def _weighted_median(values: Floats, weights: Floats) -> Floats:
    """Return the median of `values` under each row of weights; NaN if all weights are 0."""
    order = np.argsort(values, kind="stable")
    return median_of_rising(values[order], weights[:, order])


def median_of_rising(values: Floats, weights: Floats) -> Floats:
    """Return the weighted median of sorted values, for all rows of weights or row by row."""
    total = weights.sum(axis=1, keepdims=True)
    is_empty = total <= 0
    total = np.where(is_empty, np.nan, total)
    cumulative_share = np.cumsum(weights, axis=1) / total
    # They differ only where the weights meet one half exactly.
    left = np.argmax(cumulative_share >= 0.5, axis=1)
    right = np.argmax(cumulative_share > 0.5, axis=1)

    row = np.arange(len(weights))
    values = np.broadcast_to(values, weights.shape)
    middle = (values[row, left] + values[row, right]) / 2
    return np.where(is_empty[:, 0], np.nan, middle)


def _normalised_median(options: Floats, weights: Floats, happened: int) -> Floats:
    """Return the scaled median of the option that happened.

    The medians of every option over those who had it, minus the least allowed, are scaled to add up to 1.
    """
    medians = np.stack([_median_of_option(column, weights) for column in options.T], axis=1)
    above = medians - LOWEST
    count = np.count_nonzero(~np.isnan(medians), axis=1)
    total = np.nansum(above, axis=1)
    scale = quotients(1 - count * LOWEST, total)

    scaled = above * scale[:, None] + LOWEST
    # Where nobody had the option yet, it is read from "Other", the last.
    other = scaled[:, -1]
    happened_value: Floats = scaled[:, happened]
    return np.where(np.isnan(happened_value), other, happened_value)


def _median_of_option(column: Floats, weights: Floats) -> Floats:
    """Return the median of one option over those who had it."""
    has_option = ~np.isnan(column)
    if not has_option.any():
        return np.full(weights.shape[0], np.nan)
    return _weighted_median(column[has_option], weights[:, has_option])


def _log_steps(times: Floats, parts: list[Floats]) -> Steps:
    """Return values as steps, without weight while nobody's forecast stands."""
    values = np.concatenate([np.zeros(0), *parts])
    is_present = ~np.isnan(values)
    levels = np.log(np.where(is_present, values, 1.0))
    return Steps(times, levels, is_present.astype(np.float64))
