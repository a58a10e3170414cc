"""The calibration of a file's forecasters, and of the price that they saw.

Each option of a multiple choice question counts as a yes/no forecast; together they weigh as one question.
"""

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
"""The number of forecasters, from the top of the board, whose calibration is reported."""
LEAST = 20
"""The fewest forecasts for which calibration is reported."""
WORLDS = 250
LEAST_WORLDS = 40
MOST_DRAWN = 2_000_000
"""The most forecasts drawn in all worlds together: large files get fewer worlds, which bounds the time."""
POINTS = 24
"""The most points of a diagram: more can't be distinguished on a page."""
OPTIONS = "Each option counts as a forecast of yes or no; all of a question weigh as one."
"""The note on calibration for files with multiple choice questions."""


@dataclass(frozen=True, slots=True)
class FileCalibration:
    """The calibration of a forecaster or of the price; `with_options` if there are options."""

    forecaster: str
    diagram: ReliabilityDiagram = field(repr=False)
    with_options: bool

    @property
    def forecasts(self) -> int:
        """Return the number of forecasts behind it."""
        return sum(decile.rows for decile in self.diagram.deciles)

    @property
    def is_price(self) -> bool:
        """Tell whether it is the calibration of the price."""
        return self.forecaster == PRICE

    @property
    def sentence(self) -> str:
        """Return the sentence that pages show for the diagram, beginning with the forecaster."""
        return named_sentence(self.forecaster, self.diagram.sure, self.diagram.null.p_value)


def file_calibrations(table: ForecastTable, names: Iterable[str]) -> tuple[FileCalibration, ...]:
    """Return the calibration of the first of these forecasters, and last that of the price, if known.

    The table holds compared rows, in which each option has its own. Forecasters with fewer than 20 scored
    forecasts are left out.
    """
    found: list[FileCalibration] = []
    for name in names:
        if len(found) == MOST:
            break
        if name not in table.forecasters:
            continue

        own = table.ended_rows(name)
        if own.size >= LEAST:
            before = _shares_before(table, own, table.probability)
            found.append(_calibration(name, table, own, table.probability, before))

    if found and table.market is not None:
        ended = is_scored(table.outcome)
        priced = np.flatnonzero(ended & ~np.isnan(table.market))
        once = _once(table, priced, table.market)
        if once.size >= LEAST:
            before = _shares_before(table, priced, table.market)
            found.append(_calibration(PRICE, table, once, table.market, before))
    return tuple(found)


def _once(table: ForecastTable, rows: Ints, market: Floats) -> Ints:
    """Return one row for each price that a question had, whoever saw it."""
    order = rows[np.lexsort((market[rows], table.question[rows]))]
    is_new = np.ones(order.size, dtype=np.bool_)
    is_new[1:] = (np.diff(table.question[order]) != 0) | (np.diff(market[order]) != 0)
    return order[is_new]


def _shares_before(table: ForecastTable, rows: Ints, probabilities: Floats) -> Floats | None:
    """Return what each forecast gives to the options before a row's own; None without multiple choice.

    The sum runs across forecasts: each adds 1, which doesn't change the position between 0 and 1.
    """
    option_of = table.option_of
    if option_of is None:
        return None

    time = np.zeros(probabilities.size) if table.time is None else table.time
    keys = [column[rows] for column in (table.question, time, table.forecaster, option_of)]
    order = rows[np.lexsort(keys)]
    is_option = np.isin(option_of[order], option_of[table.question != option_of])
    shares = probabilities[order] * is_option
    before = np.zeros(probabilities.size)
    before[order] = np.cumsum(shares) - shares
    return before


def _calibration(
    name: str, table: ForecastTable, rows: Ints, probabilities: Floats, before: Floats | None
) -> FileCalibration:
    """Return the calibration of the probabilities in some rows."""
    question = table.question if table.option_of is None else table.option_of
    drawn = diagram(
        probabilities[rows],
        table.outcome[rows],
        np.random.default_rng(0),
        question[rows],
        draws=min(WORLDS, max(LEAST_WORLDS, MOST_DRAWN // rows.size)),
        most=POINTS,
        event=table.event[rows],
        before=None if before is None else before[rows],
    )
    return FileCalibration(name, drawn, before is not None)


def calibration_data(calibration: FileCalibration) -> dict[str, Any]:
    """Return a calibration as JSON."""
    return {
        "forecaster": calibration.forecaster,
        "forecasts": calibration.forecasts,
        "miscalibration_p": none_for_nan(calibration.diagram.null.p_value),
        "sentence": calibration.sentence,
        "tenths": [_tenth_data(decile) for decile in calibration.diagram.deciles],
    }


def _tenth_data(decile: Decile) -> dict[str, Any]:
    """Return a tenth of the scale as JSON."""
    return {
        "from": decile.place / BINS,
        "to": (decile.place + 1) / BINS,
        "forecasts": decile.rows,
        "said": decile.forecast,
        "came": decile.observed,
        "chance_low": decile.low,
        "chance_high": decile.high,
    }
