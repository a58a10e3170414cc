"""What forecasts are compared with, as steps in time, and the integrals over them.

Forecasts laid out as a table, an instant a row and a forecast a column, a piece at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Flags, Floats
from arena.scores.rules.metaculus.forecasts import Forecasts, MetaculusQuestion, Mode


@dataclass(frozen=True, slots=True)
class Steps:
    """From each time until the next: the ln of what is compared with, and what a difference counts."""

    time: Floats
    level: Floats
    weight: Floats


@dataclass(frozen=True, slots=True)
class StandingSums:
    """How many forecasts stood from each time until the next, and the sums of their ln chances."""

    time: Floats
    count: Floats
    chance: Floats
    other: Floats
    unlisted: Floats


def standing_sums(forecasts: Forecasts, chosen: Flags) -> StandingSums:
    """One step wherever a chosen forecast starts or ends. The order of the rows changes no digit."""
    rows = np.flatnonzero(chosen)
    rows = rows[np.lexsort((forecasts.chance[rows], forecasts.end[rows], forecasts.start[rows]))]
    over = rows[np.isfinite(forecasts.end[rows])]
    time, place = np.unique(np.concatenate([forecasts.start[rows], forecasts.end[over]]), return_inverse=True)

    def total(column: Floats) -> Floats:
        change = np.bincount(place, np.concatenate([column[rows], -column[over]]), minlength=time.size)
        return np.cumsum(change)

    count = total(np.ones(chosen.size)).round()
    chance, other = total(np.log(forecasts.chance)), total(np.log(forecasts.other))
    return StandingSums(time, count, chance, other, total((~forecasts.listed).astype(np.float64)).round())


def scored_spans(question: MetaculusQuestion, forecasts: Forecasts, mode: Mode) -> tuple[Floats, Floats]:
    """From when until when each forecast is scored; an end at its start if never."""
    low = np.maximum(forecasts.start, question.opens)
    return low, np.maximum(np.minimum(forecasts.end, question.ends(mode)), low)


def integrate(question: MetaculusQuestion, steps: Steps, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """∫ weight and ∫ weight · level from `low` to `high`, in lives."""
    until = max(question.opens, min(question.closes, question.scheduled))
    inner = steps.time[(steps.time > question.opens) & (steps.time < until)]
    knots = np.concatenate([[question.opens], inner, [until]])
    place = np.searchsorted(steps.time, knots[:-1], side="right") - 1
    length = np.diff(knots) / question.life
    weight = np.where(place >= 0, steps.weight[place], 0.0) if steps.time.size else np.zeros(length.size)
    level = np.where(weight > 0, steps.level[place], 0.0) if steps.time.size else weight
    sums = (np.concatenate([[0.0], np.cumsum(part)]) for part in (weight * length, weight * level * length))
    first, second = (np.interp(high, knots, total) - np.interp(low, knots, total) for total in sums)
    return first, second


def integrate_by_step(
    question: MetaculusQuestion, steps: Steps, low: Floats, high: Floats, life: float
) -> tuple[Floats, Floats, Floats]:
    """The site's sums of weight, weight · level and 1 over whole steps: those that begin in between."""
    time = np.maximum(steps.time, question.opens)
    time = time[time < question.closes]
    length = np.diff(time, append=question.closes) / life
    weight, level = steps.weight[: time.size], steps.level[: time.size]
    parts = (weight * length, weight * level * length, length)
    first, last = np.searchsorted(time, low), np.searchsorted(time, high)
    sums = (np.concatenate([[0.0], np.cumsum(part)]) for part in parts)
    weights, levels, coverage = (np.where(high > low, total[last] - total[first], 0.0) for total in sums)
    return weights, levels, coverage


Counts = NDArray[np.intp]

CELLS = 2_000_000
"""How many cells a piece may have, so that a long question needs no more memory than a short one."""


@dataclass(frozen=True, slots=True)
class TablePiece:
    """Some instants, and which of the forecasts stand at each of them."""

    rows: slice
    stands: Flags


def instants(forecasts: Forecasts) -> Floats:
    """Every time at which a forecast starts or ends."""
    return np.unique(np.concatenate([forecasts.start, forecasts.end[np.isfinite(forecasts.end)]]))


def pieces(forecasts: Forecasts, times: Floats) -> Iterator[TablePiece]:
    """The table for these times, cut so that no piece grows too large."""
    step = max(CELLS // max(forecasts.start.size, 1), 1)
    for first in range(0, times.size, step):
        at = times[first : first + step, None]
        yield TablePiece(slice(first, first + step), (forecasts.start <= at) & (at < forecasts.end))


def sorted_standing(values: Floats, stands: Flags) -> tuple[Floats, Counts]:
    """The values that stand, row by row in rising order and to the left, and how many they are."""
    order = np.argsort(values, kind="stable")
    stands = stands[:, order]
    packed = np.full(stands.shape, np.nan)
    rows, columns = np.nonzero(stands)
    packed[rows, (np.cumsum(stands, axis=1) - 1)[rows, columns]] = values[order][columns]
    return packed, stands.sum(axis=1)


def medians_of_others(ranked: Floats, place: Counts, among: Flags) -> Floats:
    """For each row and column the median of all others among those of the row; NaN without any.

    `ranked` has their values in rising order and `place` where each is: whoever stands above one's own place
    moves down by one.
    """
    ranked = np.column_stack([ranked, np.full(len(ranked), np.nan)])
    rest = among.sum(axis=1, keepdims=True) - among
    last = ranked.shape[1] - 1
    own = np.where(among, place, last + 1)

    def at(rank: Counts) -> Floats:
        rank = np.clip(rank, 0, None)
        return np.take_along_axis(ranked, np.minimum(rank + (rank >= own), last), axis=1)

    return np.where(rest > 0, (at((rest - 1) // 2) + at(rest // 2)) / 2, np.nan)


def row_medians(packed: Floats, count: Counts) -> Floats:
    """The median of each row of `sorted_standing`; NaN where the row is empty."""
    if not packed.shape[1]:
        return np.full(packed.shape[0], np.nan)
    lower, upper = (np.maximum(count - 1, 0) // 2, count // 2 * (count > 0))
    row = np.arange(packed.shape[0])
    medians: Floats = (packed[row, lower] + packed[row, upper]) / 2
    return medians
