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
    calibrations: list[FileCalibration] = []
    for name in names:
        if len(calibrations) == MOST:
            break
        if name not in table.forecasters:
            continue

        own_rows = table.ended_rows(name)
        if own_rows.size >= LEAST:
            shares_before = _shares_before(table, own_rows, table.probability)
            calibrations.append(_calibration(name, table, own_rows, table.probability, shares_before))

    if calibrations and table.market is not None:
        is_ended = is_scored(table.outcome)
        priced = np.flatnonzero(is_ended & ~np.isnan(table.market))
        price_rows = _one_row_per_price(table, priced, table.market)
        if price_rows.size >= LEAST:
            shares_before = _shares_before(table, priced, table.market)
            calibrations.append(_calibration(PRICE, table, price_rows, table.market, shares_before))
    return tuple(calibrations)


def _one_row_per_price(table: ForecastTable, rows: Ints, market: Floats) -> Ints:
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
    # The options of each forecast follow each other.
    in_order = rows[np.lexsort(keys)]

    # The options of a question are numbered from that question on; only the first has its number.
    choice_questions = option_of[table.question != option_of]
    is_of_choice = np.isin(option_of[in_order], choice_questions)
    option_shares = probabilities[in_order] * is_of_choice
    shares_before = np.zeros(probabilities.size)
    shares_before[in_order] = np.cumsum(option_shares) - option_shares
    return shares_before


def _calibration(
    name: str, table: ForecastTable, rows: Ints, probabilities: Floats, shares_before: Floats | None
) -> FileCalibration:
    """Return the calibration of the probabilities in some rows."""
    question = table.question if table.option_of is None else table.option_of
    draws = min(WORLDS, max(LEAST_WORLDS, MOST_DRAWN // rows.size))
    reliability = diagram(
        probabilities[rows],
        table.outcome[rows],
        np.random.default_rng(0),
        question[rows],
        draws=draws,
        most=POINTS,
        event=table.event[rows],
        before=None if shares_before is None else shares_before[rows],
    )
    return FileCalibration(name, reliability, shares_before is not None)


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
