"""The forecasts of a file's leaders that were furthest from the outcome."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from arena.forms.csv_columns import Ints
from arena.scores.files.by_question import KNOWS_NOTHING
from arena.scores.files.forecasts import ForecastTable
from arena.scores.rules._columns import none_for_nan

EACH = 3
"""The number of forecasts listed for each forecaster."""
DUST = 1e-9
"""How far rounding may raise the loss of even odds on several options."""


@dataclass(frozen=True, slots=True)
class WorstForecast:
    """A forecast on the wrong side: the probability, the price, and the outcome.

    `loss` is its Brier score, and `reason` the forecaster's text, if the file has one. For a multiple choice
    question, `option` is the one that came true, and probability and price are those of it.
    """

    forecaster: str
    question: str
    title: str
    said: float
    price: float | None
    outcome: int
    loss: float
    reason: str
    option: str = ""

    @property
    def came_to(self) -> str:
        """Return the outcome of the question in words."""
        return self.option or ("YES" if self.outcome else "NO")


def worst_forecasts(table: ForecastTable, names: Iterable[str]) -> tuple[WorstForecast, ...]:
    """Return the three worst forecasts of each forecaster, one a question, the worst first."""
    worst_of_all: list[WorstForecast] = []
    for name in names:
        ended_rows = table.ended_rows(name)
        own_worst = [_worst_forecast(table, name, row) for row in _worst_rows(table, ended_rows)]
        own_worst += _worst_on_choice_questions(table, name)
        own_worst.sort(key=attrgetter("loss"), reverse=True)
        worst_of_all += own_worst[:EACH]
    return tuple(worst_of_all)


def _worst_rows(table: ForecastTable, rows: Ints) -> list[int]:
    """Return the rows with the largest losses, each of another question."""
    loss = (table.probability[rows] - table.outcome[rows]) ** 2
    is_wrong = loss > KNOWS_NOTHING
    wrong_rows = rows[is_wrong]
    worst_first = wrong_rows[np.argsort(-loss[is_wrong], kind="stable")]
    # Several forecasts of one question count as one: its worst.
    first_of_question = np.unique(table.question[worst_first], return_index=True)[1]
    worst: list[int] = worst_first[np.sort(first_of_question)[:EACH]].tolist()
    return worst


def _worst_forecast(table: ForecastTable, name: str, row: int) -> WorstForecast:
    """Return the forecast of a row."""
    probability = float(table.probability[row])
    outcome = int(table.outcome[row])
    question = table.questions[table.question[row]]
    return WorstForecast(
        forecaster=name,
        question=question,
        title=table.titles.get(question, ""),
        said=probability,
        price=None if table.market is None else none_for_nan(float(table.market[row])),
        outcome=outcome,
        loss=(probability - outcome) ** 2,
        reason="" if table.reason is None else table.reasons[table.reason[row]],
    )


def _worst_on_choice_questions(table: ForecastTable, name: str) -> Iterator[WorstForecast]:
    """Yield the worst forecast on each multiple choice question that was worse than knowing nothing."""
    for form in table.forms:
        options = form.options
        if options is None or options.answer is None or name not in form.who:
            continue

        own_rows = np.flatnonzero(np.array(form.who) == name)
        worst_row = int(own_rows[np.argmax(form.brier[own_rows])])
        if form.brier[worst_row] <= form.blank + DUST:
            continue
        yield WorstForecast(
            forecaster=name,
            question=form.name,
            title=table.titles.get(form.name, ""),
            said=float(options.shares[worst_row, options.answer]),
            price=none_for_nan(float(options.odds[worst_row, options.answer])),
            outcome=1,
            loss=float(form.brier[worst_row]),
            reason=options.reasons[worst_row],
            option=options.names[options.answer],
        )
