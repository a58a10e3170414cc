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

    question_at_time = _question_at_time(table, table.question)
    agreements = []
    for name, source in copies.items():
        own_rows = table.ended_rows(name)
        if source == PRICE and table.market is not None:
            apart = table.probability[own_rows] - table.market[own_rows]
        else:
            source_rows = table.ended_rows(source)
            _, own_common, source_common = np.intersect1d(
                question_at_time[own_rows], question_at_time[source_rows], return_indices=True
            )
            own_rows = own_rows[own_common]
            apart = table.probability[own_rows] - table.probability[source_rows[source_common]]

        common = _count_forecasts(table, own_rows[~np.isnan(apart)])
        far = _count_forecasts(table, own_rows[np.abs(apart) > NEAR])
        agreements.append(FileCopy(name, source, common - far, common))
    return tuple(agreements)


def _count_forecasts(table: ForecastTable, rows: Ints) -> int:
    """Return the number of forecasts with some of these rows."""
    if table.option_of is None:
        return rows.size
    return np.unique(_question_at_time(table, table.option_of)[rows]).size


def _question_at_time(table: ForecastTable, question: Ints) -> Ints:
    """Return the number of each row's question and time."""
    instant = np.zeros(question.size, dtype=np.int64)
    if table.time is not None:
        instant = np.unique(table.time, return_inverse=True)[1]
    instants = int(instant.max(initial=0)) + 1
    return question * instants + instant
