"""Slices of a season: the same rows by what they are about, when they were, or what they cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arena.record.model.columns import UNKNOWN, ForecastColumns, Ints, take_rows
from arena.scores.comparisons import gains
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.reliability.calibration_slices import HORIZON_DAYS, HORIZONS, PRICE_BANDS
from markets.millionths import ONE

DAY = 86_400
AGES = ((90, "within 90 days of its release"), (365, "within a year of it"))
Labels = tuple[Sequence[str], Ints]
"""Names of slices, and the place among them of each row."""


@dataclass(frozen=True, slots=True)
class Slice:
    """One agent on some of the rows."""

    slice: str
    gain: Gain


def slice_gains(rows: ForecastColumns, by: str) -> list[Slice]:
    """Every agent against the market in each slice that holds something of its own, slice by slice."""
    names, place = BY[by](rows)
    found = list[Slice]()
    for number, name in enumerate(names):
        some = gains(take_rows(rows, np.flatnonzero(place == number)))
        found += [Slice(name, gain) for gain in some if gain.rows]
    return found


def category(rows: ForecastColumns) -> Labels:
    """What markets are about, by their venue's word."""
    order = sorted(range(len(rows.categories)), key=lambda place: rows.categories[place])
    rank = np.argsort(np.array(order, dtype=np.int64))
    return [rows.categories[place] or "none" for place in order], rank[rows.category]


def horizon(rows: ForecastColumns) -> Labels:
    """How long it was until the market was to close."""
    edges = [DAY * days for days in HORIZON_DAYS]
    return HORIZONS, np.searchsorted(edges, rows.closes - rows.at, side="right")


def price(rows: ForecastColumns) -> Labels:
    """What a share of YES cost: tenths, half-open but for the last."""
    return PRICE_BANDS, np.minimum(rows.mid // (ONE // 10), 9)


def cohort(rows: ForecastColumns) -> Labels:
    """In which cohort it was said."""
    numbers, place = np.unique(rows.cohort, return_inverse=True)
    return [f"cohort {number}" for number in numbers.tolist()], place


def release(rows: ForecastColumns) -> Labels:
    """How long ago the model was released when it said so."""
    names = [*(name for _, name in AGES), "later", "release unknown"]
    known = np.where(rows.released == UNKNOWN, 0, rows.released)
    age = np.searchsorted([DAY * days for days, _ in AGES], rows.at - known, side="right")
    return names, np.where(rows.released == UNKNOWN, len(names) - 1, age)


BY: Mapping[str, Callable[[ForecastColumns], Labels]] = {
    each.__name__: each for each in (category, horizon, price, cohort, release)
}
"""What rows can be sliced by."""
