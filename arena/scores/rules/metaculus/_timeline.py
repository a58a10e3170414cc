"""What forecasts are compared with, as steps in time, and the integrals over them.

Forecasts laid out as a table, an instant a row and a forecast a column, a piece at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Flags, Floats, sums_before
from arena.scores.rules.metaculus.forecasts import Forecasts, MetaculusQuestion, Mode


@dataclass(frozen=True, slots=True)
class Steps:
    """Values that hold from each time until the next: the ln compared with, and a difference's weight."""

    time: Floats
    level: Floats
    weight: Floats


@dataclass(frozen=True, slots=True)
class StandingSums:
    """The number of forecasts that stand from each time until the next, and their summed ln chances."""

    time: Floats
    count: Floats
    chance: Floats
    other: Floats
    unlisted: Floats


def standing_sums(forecasts: Forecasts, chosen: Flags) -> StandingSums:
    """Return a step wherever a chosen forecast starts or ends; the order of rows changes no digit."""
    start = forecasts.start
    end = forecasts.end
    chosen_rows = np.lexsort((forecasts.chance, end, start))
    chosen_rows = chosen_rows[chosen[chosen_rows]]
    ended_rows = chosen_rows[np.isfinite(end[chosen_rows])]
    changes = np.concatenate([start[chosen_rows], end[ended_rows]])
    time, time_number = np.unique(changes, return_inverse=True)

    def running_total(column: Floats) -> Floats:
        # A forecast adds its value when it starts, and takes it away when it ends.
        change = np.concatenate([column[chosen_rows], -column[ended_rows]])
        by_time = np.bincount(time_number, change, minlength=time.size)
        return np.cumsum(by_time)

    unlisted = (~forecasts.listed).astype(np.float64)
    return StandingSums(
        time=time,
        count=running_total(np.ones(chosen.size)).round(),
        chance=running_total(np.log(forecasts.chance)),
        other=running_total(np.log(forecasts.other)),
        unlisted=running_total(unlisted).round(),
    )


def scored_spans(question: MetaculusQuestion, forecasts: Forecasts, mode: Mode) -> tuple[Floats, Floats]:
    """Return the times from and until which each forecast is scored; equal if never."""
    low = np.maximum(forecasts.start, question.opens)
    high = np.minimum(forecasts.end, question.ends(mode))
    return low, np.maximum(high, low)


def integrate(question: MetaculusQuestion, steps: Steps, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return ∫ weight and ∫ weight · level from `low` to `high`, in lifetimes."""
    opens = question.opens
    until = max(opens, min(question.closes, question.scheduled))
    time = steps.time
    inner_times = time[(time > opens) & (time < until)]
    knots = np.concatenate([[opens], inner_times, [until]])
    # The step that holds from each knot on; −1 before the first.
    step_number = np.searchsorted(time, knots[:-1], side="right") - 1
    lengths = np.diff(knots) / question.life

    weight = np.zeros(lengths.size)
    level = weight
    if time.size:
        weight = np.where(step_number >= 0, steps.weight[step_number], 0.0)
        level = np.where(weight > 0, steps.level[step_number], 0.0)

    def integral_between(values: Floats) -> Floats:
        sums = sums_before(values)
        return np.interp(high, knots, sums) - np.interp(low, knots, sums)

    return integral_between(weight * lengths), integral_between(weight * level * lengths)


def integrate_by_step(
    question: MetaculusQuestion, steps: Steps, low: Floats, high: Floats, life: float
) -> tuple[Floats, Floats, Floats]:
    """Return the site's sums of weight, weight · level and 1 over whole steps that begin in the span."""
    closes = question.closes
    time = np.maximum(steps.time, question.opens)
    time = time[time < closes]
    length = np.diff(time, append=closes) / life
    weight = steps.weight[: time.size]
    level = steps.level[: time.size]
    first_step = np.searchsorted(time, low)
    last_step = np.searchsorted(time, high)

    def sum_between(values: Floats) -> Floats:
        sums = sums_before(values)
        return np.where(high > low, sums[last_step] - sums[first_step], 0.0)

    return sum_between(weight * length), sum_between(weight * level * length), sum_between(length)


Counts = NDArray[np.intp]

CELLS = 2_000_000
"""How many cells a piece may have, so that a long question needs no more memory than a short one."""


@dataclass(frozen=True, slots=True)
class TablePiece:
    """Some instants, and which of the forecasts stand at each of them."""

    rows: slice
    stands: Flags


def instants(forecasts: Forecasts) -> Floats:
    """Return every time at which a forecast starts or ends."""
    ends = forecasts.end[np.isfinite(forecasts.end)]
    return np.unique(np.concatenate([forecasts.start, ends]))


def pieces(forecasts: Forecasts, times: Floats) -> Iterator[TablePiece]:
    """Yield the table for these times, cut into pieces of limited size."""
    step = max(CELLS // max(forecasts.start.size, 1), 1)

    for first in range(0, times.size, step):
        rows = slice(first, first + step)
        at = times[rows, None]
        stands = (forecasts.start <= at) & (at < forecasts.end)
        yield TablePiece(rows, stands)


def sorted_standing(values: Floats, stands: Flags) -> tuple[Floats, Counts]:
    """Return the standing values of each row, sorted and moved to the left, and their number."""
    order = np.argsort(values, kind="stable")
    stands = stands[:, order]
    rows, columns = np.nonzero(stands)
    place_in_row = np.cumsum(stands, axis=1) - 1

    sorted_values = values[order]
    packed = np.full(stands.shape, np.nan)
    packed[rows, place_in_row[rows, columns]] = sorted_values[columns]
    return packed, stands.sum(axis=1)


def medians_of_others(ranked: Floats, rank_of: Counts, is_among: Flags) -> Floats:
    """Return for each row and column the median of the row's other members; NaN without any.

    `ranked` has their values in ascending order and `rank_of` the index of each: those above one's own index
    move down by one.
    """
    none = np.full(len(ranked), np.nan)
    ranked = np.column_stack([ranked, none])
    others = is_among.sum(axis=1, keepdims=True) - is_among
    last = ranked.shape[1] - 1
    own_rank = np.where(is_among, rank_of, last + 1)

    def value_at(rank: Counts) -> Floats:
        rank = np.clip(rank, 0, None)
        rank = np.minimum(rank + (rank >= own_rank), last)
        return np.take_along_axis(ranked, rank, axis=1)

    lower = value_at((others - 1) // 2)
    upper = value_at(others // 2)
    return np.where(others > 0, (lower + upper) / 2, np.nan)


def row_medians(packed: Floats, count: Counts) -> Floats:
    """Return the median of each row of `sorted_standing`; NaN where the row is empty."""
    if not packed.shape[1]:
        return np.full(packed.shape[0], np.nan)

    row = np.arange(packed.shape[0])
    lower = np.maximum(count - 1, 0) // 2
    upper = count // 2 * (count > 0)
    total: Floats = packed[row, lower] + packed[row, upper]
    return total / 2
