"""The table of one type of question: how far off each forecaster was on each question.

Outcomes may be fractions, which is how the paper scores a market that hasn't resolved (against its price).
Rows come in any order; forecasters and questions are sorted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.scores.rules._columns import Flags, Floats, check_probabilities

Ints = NDArray[np.int64]
Names = Sequence[str]
MOST_CELLS = 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Brier scores with forecasters in rows and questions in columns.

    `stratum` and `cluster` number the questions: a bootstrap by question draws within strata. Errors within a
    cluster are correlated; a bootstrap by cluster draws whole ones, within their `family`.
    """

    forecasters: tuple[str, ...]
    questions: tuple[str, ...]
    outcome: Floats
    brier: Floats
    fits: Flags
    stratum: Ints
    cluster: Ints
    family: Ints

    def row(self, forecaster: str) -> Floats:
        """Return the scores of one forecaster."""
        if forecaster not in self.forecasters:
            raise ValueError(f"no forecaster is called {forecaster!r}, only {', '.join(self.forecasters)}")
        values: Floats = self.brier[self.forecasters.index(forecaster)]
        return values


def panel(
    forecaster: Names,
    question: Names,
    forecast: ArrayLike,
    outcome: ArrayLike,
    *,
    fits: ArrayLike = True,
    stratum: Names | None = None,
    cluster: Names | None = None,
    family: Names | None = None,
    forecasters: Names | None = None,
) -> Panel:
    """Return the panel of columns with one row a forecast.

    Without strata or families all questions are in one; without clusters each is its own. `forecasters` fixes
    the rows, so that the panels of both types have the same ones.
    """
    forecasts = check_probabilities(forecast)
    outcomes = check_probabilities(outcome)
    names, forecaster_number = _labels_and_numbers(forecaster, forecasters)
    questions, question_number = _labels_and_numbers(question)
    if len(names) * len(questions) > MOST_CELLS:
        raise ValueError(f"{len(names)} forecasters × {len(questions)} questions are too many for one table")
    _check_no_repeats(forecaster_number, question_number, forecaster, question)

    brier = np.full((len(names), len(questions)), np.nan)
    brier[forecaster_number, question_number] = (forecasts - outcomes) ** 2
    is_in_sample = np.zeros(brier.shape, dtype=np.bool_)
    is_in_sample[forecaster_number, question_number] = fits

    clusters = np.arange(len(questions))
    if cluster is not None:
        clusters = _label_number_of_question(question_number, cluster, question, "clusters")

    return Panel(
        forecasters=names,
        questions=questions,
        outcome=_value_of_question(question_number, outcomes, question, "outcomes"),
        brier=brier,
        fits=is_in_sample,
        stratum=_label_number_of_question(question_number, stratum, question, "strata"),
        cluster=clusters,
        family=_label_number_of_question(question_number, family, question, "families"),
    )


def _label_number_of_question(
    question_number: Ints, labels: Names | None, question: Names, name: str
) -> Ints:
    """Return the number of each question's label; the same for all without labels."""
    label_numbers = np.zeros(question_number.size)
    if labels is not None:
        _, numbers = _labels_and_numbers(labels)
        label_numbers = numbers.astype(np.float64)
    return _value_of_question(question_number, label_numbers, question, name).astype(np.int64)


def _labels_and_numbers(column: Names, labels: Names | None = None) -> tuple[tuple[str, ...], Ints]:
    """Return the labels, sorted unless they are given, and the index of each row's label."""
    if labels is None:
        labels = sorted(set(column))
    places = {label: place for place, label in enumerate(labels)}
    numbers = np.fromiter(map(places.__getitem__, column), dtype=np.int64, count=len(column))
    return tuple(labels), numbers


def _check_no_repeats(
    forecaster_number: Ints, question_number: Ints, forecaster: Names, question: Names
) -> None:
    """Raise `ValueError` if a forecaster has two forecasts of a question."""
    width = int(question_number.max(initial=0)) + 1
    cells = forecaster_number * width + question_number
    order = np.argsort(cells, kind="stable")
    repeats = np.flatnonzero(np.diff(cells[order]) == 0)

    if repeats.size:
        repeat = repeats[0]
        first, second = sorted(order[repeat : repeat + 2].tolist())
        who = forecaster[first]
        raise ValueError(f"rows {first} and {second}: {who!r} forecast {question[first]!r} twice, keep one")


def _value_of_question(question_number: Ints, row_values: Floats, question: Names, name: str) -> Floats:
    """Return the one value of each question in a column with a value in every row."""
    size = int(question_number.max(initial=-1)) + 1
    question_values = np.zeros(size)
    question_values[question_number] = row_values
    differing = np.flatnonzero(question_values[question_number] != row_values)
    if differing.size:
        row = differing[0]
        raise ValueError(f"row {row}: question {question[row]!r} has two {name}, it can have one")
    return question_values
