"""Who repeats the price or another forecaster of a file, and on how many of their forecasts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from arena.forms.csv_columns import Flags, Floats, Ints
from arena.scores.files.forecasts import ForecastTable
from arena.scores.rules._columns import is_scored
from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.comparisons.events import NEAR


@dataclass(frozen=True, slots=True)
class FileCopy:
    """A forecaster that repeats another, or the price: of `common` forecasts `near` say the same."""

    forecaster: str
    of: str
    near: int
    common: int

    @property
    def sentence(self) -> str:
        """Return who copies whom, and how often it says the same.

        >>> FileCopy("bob", "the price", near=39, common=40).sentence
        'bob copies the price: within half a cent of it on 39 of 40 forecasts.'
        >>> FileCopy("bob", "ann", near=0, common=0).sentence  # of options, which are not counted
        'bob copies ann.'
        """
        if not self.common:
            return f"{self.forecaster} copies {self.of}."
        how = f"within half a cent of it on {self.near:,} of {self.common:,} forecasts"
        if self.of != PRICE:
            how = f"within 0.005 on {self.near:,} of {self.common:,} common forecasts"
        return f"{self.forecaster} copies {self.of}: {how}."


def file_copies(table: ForecastTable, copies: Mapping[str, str]) -> tuple[FileCopy, ...]:
    """Return how near those who copy, by name, are to whom they copy, on what has ended."""
    ended = is_scored(table.outcome)
    found = []
    for name, source in copies.items():
        own = _rows_of(table, name, ended)
        if source == PRICE and table.market is not None:
            apart = table.probability[own] - table.market[own]
        else:
            apart = _apart(table, own, _rows_of(table, source, ended))
        known = apart[~np.isnan(apart)]
        found.append(FileCopy(name, source, int(np.count_nonzero(np.abs(known) <= NEAR)), known.size))
    return tuple(found)


def _rows_of(table: ForecastTable, name: str, ended: Flags) -> Ints:
    """Return the rows of a forecaster that have ended."""
    return np.flatnonzero(ended & (table.forecaster == table.forecasters.index(name)))


def _apart(table: ForecastTable, own: Ints, other: Ints) -> Floats:
    """Return how far two forecasters lie apart, question by question and time by time."""
    instant = np.zeros(table.question.size, dtype=np.int64)
    if table.time is not None:
        instant = np.unique(table.time, return_inverse=True)[1]
    cell = table.question * (int(instant.max(initial=0)) + 1) + instant
    _, mine, theirs = np.intersect1d(cell[own], cell[other], return_indices=True)
    apart: Floats = table.probability[own[mine]] - table.probability[other[theirs]]
    return apart
