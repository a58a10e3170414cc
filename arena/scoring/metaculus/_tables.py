"""Forecasts laid out as a table, an instant a row and a forecast a column, a piece at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.scoring._columns import Flags, Floats
from arena.scoring.metaculus.forecasts import Forecasts

Counts = NDArray[np.intp]

CELLS = 2_000_000
"""How many cells a piece may have, so that a long question needs no more memory than a short one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some instants, and which of the forecasts stand at each of them."""

    rows: slice
    stands: Flags


def instants(forecasts: Forecasts) -> Floats:
    """Every time at which a forecast starts or ends."""
    return np.unique(np.concatenate([forecasts.start, forecasts.end[np.isfinite(forecasts.end)]]))


def pieces(forecasts: Forecasts, times: Floats) -> Iterator[Piece]:
    """The table for these times, cut so that no piece grows too large."""
    step = max(CELLS // max(forecasts.start.size, 1), 1)
    for first in range(0, times.size, step):
        at = times[first : first + step, None]
        yield Piece(slice(first, first + step), (forecasts.start <= at) & (at < forecasts.end))


def ranked(values: Floats, stands: Flags) -> tuple[Floats, Counts]:
    """The values that stand, row by row in rising order and to the left, and how many they are."""
    order = np.argsort(values, kind="stable")
    stands = stands[:, order]
    packed = np.full(stands.shape, np.nan)
    rows, columns = np.nonzero(stands)
    packed[rows, (np.cumsum(stands, axis=1) - 1)[rows, columns]] = values[order][columns]
    return packed, stands.sum(axis=1)


def middle(packed: Floats, count: Counts) -> Floats:
    """The median of each row of `ranked`; NaN where the row is empty."""
    if not packed.shape[1]:
        return np.full(packed.shape[0], np.nan)
    lower, upper = (np.maximum(count - 1, 0) // 2, count // 2 * (count > 0))
    row = np.arange(packed.shape[0])
    found: Floats = (packed[row, lower] + packed[row, upper]) / 2
    return found
