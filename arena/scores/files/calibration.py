"""How calibrated the forecasters of a file are on its questions of yes or no, and the price that they saw."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arena.forms.csv_columns import Floats, Ints
from arena.scores.files.forecasts import ForecastTable
from arena.scores.rules._columns import is_scored, none_for_nan
from arena.scores.rules.calibration import BINS
from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.reliability.diagram import Decile, ReliabilityDiagram, diagram
from arena.scores.rules.reliability.reading import named_sentence

MOST = 10
"""The calibration of so many forecasters is told, the first of the board."""
LEAST = 20
"""Of fewer forecasts than these nothing is told."""
WORLDS = 250
LEAST_WORLDS = 40
MOST_DRAWN = 2_000_000
"""Of large files chance is drawn in fewer worlds, so many forecasts in all: it bounds the time."""
POINTS = 24
"""The most points of a diagram: more can't be distinguished on a page."""


@dataclass(frozen=True, slots=True)
class FileCalibration:
    """How calibrated a forecaster of a file is, or the price."""

    forecaster: str
    diagram: ReliabilityDiagram = field(repr=False)

    @property
    def forecasts(self) -> int:
        """Return how many forecasts it rests on."""
        return sum(decile.rows for decile in self.diagram.deciles)

    @property
    def is_price(self) -> bool:
        """Return whether it is that of the price."""
        return self.forecaster == PRICE

    @property
    def sentence(self) -> str:
        """Return what pages say of such a diagram, after whose it is."""
        return named_sentence(self.forecaster, self.diagram.sure, self.diagram.null.p_value)


def file_calibrations(table: ForecastTable, names: Iterable[str]) -> tuple[FileCalibration, ...]:
    """Return the calibration of the first of these forecasters, and last that of the price, if it is known.

    Who has fewer than 20 forecasts that are scored is left out.
    """
    ended = is_scored(table.outcome)
    found: list[FileCalibration] = []
    for name in names:
        if name not in table.forecasters:
            continue
        own = np.flatnonzero(ended & (table.forecaster == table.forecasters.index(name)))
        if own.size >= LEAST and len(found) < MOST:
            found.append(_calibration(name, table, own, table.probability))

    if found and table.market is not None:
        priced = _once(table, np.flatnonzero(ended & ~np.isnan(table.market)), table.market)
        if priced.size >= LEAST:
            found.append(_calibration(PRICE, table, priced, table.market))
    return tuple(found)


def _once(table: ForecastTable, rows: Ints, market: Floats) -> Ints:
    """Return one of the rows for each price that a question had, whoever saw it."""
    order = rows[np.lexsort((market[rows], table.question[rows]))]
    is_new = np.ones(order.size, dtype=np.bool_)
    is_new[1:] = (np.diff(table.question[order]) != 0) | (np.diff(market[order]) != 0)
    return order[is_new]


def _calibration(name: str, table: ForecastTable, rows: Ints, said: Floats) -> FileCalibration:
    """Return the calibration of what was said in some rows."""
    drawn = diagram(
        said[rows],
        table.outcome[rows],
        np.random.default_rng(0),
        table.question[rows],
        draws=min(WORLDS, max(LEAST_WORLDS, MOST_DRAWN // rows.size)),
        most=POINTS,
        event=table.event[rows],
    )
    return FileCalibration(name, drawn)


def calibration_data(calibration: FileCalibration) -> dict[str, Any]:
    """Return a calibration for JSON."""
    return {
        "forecaster": calibration.forecaster,
        "forecasts": calibration.forecasts,
        "miscalibration_p": none_for_nan(calibration.diagram.null.p_value),
        "sentence": calibration.sentence,
        "tenths": [_tenth_data(decile) for decile in calibration.diagram.deciles],
    }


def _tenth_data(decile: Decile) -> dict[str, Any]:
    """Return a tenth of the scale for JSON."""
    return {
        "from": decile.place / BINS,
        "to": (decile.place + 1) / BINS,
        "forecasts": decile.rows,
        "said": decile.forecast,
        "came": decile.observed,
        "chance_low": decile.low,
        "chance_high": decile.high,
    }
