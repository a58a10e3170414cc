"""Forecasts by their distinct values: what reliability curves and decompositions are made of."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.scoring._columns import Floats, chances, scored

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Counted:
    """The rows that count, by forecast, lowest first; their shares sum to 1.

    `value` are the distinct forecasts, `weight` what lies on each of them, and `start` where the rows of
    each begin. `market` numbers the markets of the rows: a row is a market of its own where none was named.
    `together` numbers what is drawn as one.
    """

    forecast: Floats
    outcome: Floats
    share: Floats
    market: Places
    together: Places
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
        return by_value(self, self.share * self.outcome)


def counted(
    forecast: ArrayLike,
    outcome: ArrayLike,
    market: ArrayLike | None = None,
    together: ArrayLike | None = None,
) -> Counted:
    """The resolved rows. Each weighs the same; with markets, each market does, spread over its rows.

    They are put in an order of their own, so that the order they came in changes no digit.

    >>> counted([0.7, 0.2, 0.7], [1, 0, 0]).came.round(3)
    array([0.   , 0.333])
    """
    o = np.atleast_1d(np.asarray(outcome, dtype=np.float64))
    f = chances(forecast) if o.size else np.empty(0)
    there = np.flatnonzero(scored(o)) if o.size else np.empty(0, np.intp)
    number = _labels("market", np.arange(f.size) if market is None else market, f.size)[there]
    group = number if together is None else _labels("together", together, f.size)[there]
    same_length(f.size, outcome=o.size)
    f, o, number, group = f[there], o[there], numbered(number), numbered(group)
    size = np.bincount(number)
    share = 1 / size[number] / size.size if f.size else f
    order = np.lexsort((number, group, o, share, f))
    f, o, share = f[order], o[order], share[order]
    value, start = np.unique(f, return_index=True)
    weight = np.add.reduceat(share, start) if f.size else share
    return Counted(f, o, share, number[order], group[order], start, value, weight)


def numbered(labels: ArrayLike) -> Places:
    """Labels as numbers from 0 on.

    >>> numbered(["b", "a", "b"])
    array([1, 0, 1])
    """
    return np.unique(np.asarray(labels), return_inverse=True)[1]


def by_value(rows: Counted, column: Floats) -> Floats:
    """The sums of a column of the rows, or of many such columns, for each distinct forecast."""
    if not rows.value.size:
        return column
    summed: Any = np.add.reduceat(column, rows.start, axis=-1)
    return np.asarray(summed, dtype=np.float64)


def same_length(rows: int, **columns: int) -> None:
    """Columns of one table have one length; what does not is an error that names the column."""
    for name, size in columns.items():
        if size != rows:
            raise ValueError(f"column {name!r} has {size} rows, where the first column has {rows}")


def _labels(name: str, column: ArrayLike, rows: int) -> Places:
    labels = np.atleast_1d(np.asarray(column))
    same_length(rows, **{name: labels.size})
    return numbered(labels)
