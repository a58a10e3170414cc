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
    rows = np.lexsort((forecasts.chance, end, start))
    rows = rows[chosen[rows]]
    over = rows[np.isfinite(end[rows])]
    changes = np.concatenate([start[rows], end[over]])
    time, place = np.unique(changes, return_inverse=True)

    def total(column: Floats) -> Floats:
        change = np.concatenate([column[rows], -column[over]])
        by_time = np.bincount(place, change, minlength=time.size)
        return np.cumsum(by_time)

    unlisted = (~forecasts.listed).astype(np.float64)
    return StandingSums(
        time=time,
        count=total(np.ones(chosen.size)).round(),
        chance=total(np.log(forecasts.chance)),
        other=total(np.log(forecasts.other)),
        unlisted=total(unlisted).round(),
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
    inner = time[(time > opens) & (time < until)]
    knots = np.concatenate([[opens], inner, [until]])
    place = np.searchsorted(time, knots[:-1], side="right") - 1
    length = np.diff(knots) / question.life

    weight = np.zeros(length.size)
    level = weight
    if time.size:
        weight = np.where(place >= 0, steps.weight[place], 0.0)
        level = np.where(weight > 0, steps.level[place], 0.0)

    def between(values: Floats) -> Floats:
        sums = sums_before(values)
        return np.interp(high, knots, sums) - np.interp(low, knots, sums)

    return between(weight * length), between(weight * level * length)


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
    first = np.searchsorted(time, low)
    last = np.searchsorted(time, high)

    def between(values: Floats) -> Floats:
        sums = sums_before(values)
        return np.where(high > low, sums[last] - sums[first], 0.0)

    return between(weight * length), between(weight * level * length), between(length)


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
    place = np.cumsum(stands, axis=1) - 1

    rising = values[order]
    packed = np.full(stands.shape, np.nan)
    packed[rows, place[rows, columns]] = rising[columns]
    return packed, stands.sum(axis=1)


def medians_of_others(ranked: Floats, place: Counts, among: Flags) -> Floats:
    """Return for each row and column the median of the row's other members; NaN without any.

    `ranked` has their values in ascending order and `place` the index of each: those above one's own index
    move down by one.
    """
    none = np.full(len(ranked), np.nan)
    ranked = np.column_stack([ranked, none])
    rest = among.sum(axis=1, keepdims=True) - among
    last = ranked.shape[1] - 1
    own = np.where(among, place, last + 1)

    def at(rank: Counts) -> Floats:
        rank = np.clip(rank, 0, None)
        rank = np.minimum(rank + (rank >= own), last)
        return np.take_along_axis(ranked, rank, axis=1)

    lower = at((rest - 1) // 2)
    upper = at(rest // 2)
    return np.where(rest > 0, (lower + upper) / 2, np.nan)


def row_medians(packed: Floats, count: Counts) -> Floats:
    """Return the median of each row of `sorted_standing`; NaN where the row is empty."""
    if not packed.shape[1]:
        return np.full(packed.shape[0], np.nan)

    row = np.arange(packed.shape[0])
    lower = np.maximum(count - 1, 0) // 2
    upper = count // 2 * (count > 0)
    total: Floats = packed[row, lower] + packed[row, upper]
    return total / 2
