"""Forecasters of a file that repeat the price or another forecaster, and on how many forecasts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from arena.forms.csv_columns import Ints
from arena.scores.files.forecasts import ForecastTable
from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.comparisons.events import NEAR


@dataclass(frozen=True, slots=True)
class FileCopy:
    """A forecaster that repeats another, or the price: of `common` forecasts, `near` agree."""

    forecaster: str
    of: str
    near: int
    common: int

    @property
    def sentence(self) -> str:
        """Return who copies whom, and how often they agree.

        >>> FileCopy("bob", "the price", near=39, common=40).sentence
        'bob copies the price: within half a cent of it on 39 of 40 forecasts.'
        """
        how = f"within half a cent of it on {self.near:,} of {self.common:,} forecasts"
        if self.of != PRICE:
            how = f"within 0.005 on {self.near:,} of {self.common:,} common forecasts"
        return f"{self.forecaster} copies {self.of}: {how}."


def file_copies(table: ForecastTable, copies: Mapping[str, str]) -> tuple[FileCopy, ...]:
    """Return how often copies agree with those they copy, on what has ended.

    A multiple choice forecast, with a row for each option, agrees if each of them does.
    """
    if not copies:
        return ()

    cell = _cells(table, table.question)
    found = []
    for name, source in copies.items():
        own = table.ended_rows(name)
        if source == PRICE and table.market is not None:
            apart = table.probability[own] - table.market[own]
        else:
            other = table.ended_rows(source)
            _, own_rows, other_rows = np.intersect1d(cell[own], cell[other], return_indices=True)
            own = own[own_rows]
            apart = table.probability[own] - table.probability[other[other_rows]]

        common = _count(table, own[~np.isnan(apart)])
        far = _count(table, own[np.abs(apart) > NEAR])
        found.append(FileCopy(name, source, common - far, common))
    return tuple(found)


def _count(table: ForecastTable, rows: Ints) -> int:
    """Return the number of forecasts with some of these rows."""
    if table.option_of is None:
        return rows.size
    return np.unique(_cells(table, table.option_of)[rows]).size


def _cells(table: ForecastTable, question: Ints) -> Ints:
    """Return the number of each row's question and time."""
    instant = np.zeros(question.size, dtype=np.int64)
    if table.time is not None:
        instant = np.unique(table.time, return_inverse=True)[1]
    return question * (int(instant.max(initial=0)) + 1) + instant
