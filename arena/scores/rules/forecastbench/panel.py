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
MOST_CELLS = 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Forecasters in rows, questions in columns.

    `stratum` and `cluster` number the questions: a bootstrap by question draws within strata. What is in one
    cluster moves together; a bootstrap by cluster draws whole ones, each within its `family`.
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
        """The cells of one forecaster."""
        if forecaster not in self.forecasters:
            raise ValueError(f"no forecaster is called {forecaster!r}, only {', '.join(self.forecasters)}")
        values: Floats = self.brier[self.forecasters.index(forecaster)]
        return values


def panel(
    forecaster: Sequence[str],
    question: Sequence[str],
    forecast: ArrayLike,
    outcome: ArrayLike,
    *,
    fits: ArrayLike = True,
    stratum: Sequence[str] | None = None,
    cluster: Sequence[str] | None = None,
    family: Sequence[str] | None = None,
    forecasters: Sequence[str] | None = None,
) -> Panel:
    """The table from columns, a row a forecast.

    Without strata or families all questions are in one; without clusters each is its own. `forecasters` fixes
    who has a row, so that the tables of both types have the same ones.
    """
    p, o = check_probabilities(forecast), check_probabilities(outcome)
    flags = np.asarray(fits, dtype=np.bool_)
    flags = flags if flags.ndim else np.full(p.size, flags)
    names, who = _numbered(forecaster, forecasters)
    titles, what = _numbered(question)
    if len(names) * len(titles) > MOST_CELLS:
        raise ValueError(f"{len(names)} forecasters × {len(titles)} questions are too many for one table")
    _once(who, what, forecaster, question)
    brier = np.full((len(names), len(titles)), np.nan)
    brier[who, what] = (p - o) ** 2
    fit = np.zeros(brier.shape, dtype=np.bool_)
    fit[who, what] = flags
    return Panel(
        names,
        titles,
        outcome=_of_question(what, o, question, "outcomes"),
        brier=brier,
        fits=fit,
        stratum=_labels(what, stratum, question, "strata"),
        cluster=np.arange(len(titles)) if cluster is None else _labels(what, cluster, question, "clusters"),
        family=_labels(what, family, question, "families"),
    )


def _labels(what: Ints, column: Sequence[str] | None, question: Sequence[str], name: str) -> Ints:
    """A number for each question's label; all the same without labels."""
    rows = np.zeros(what.size) if column is None else _numbered(column)[1].astype(np.float64)
    return _of_question(what, rows, question, name).astype(np.int64)


def _numbered(column: Sequence[str], labels: Sequence[str] | None = None) -> tuple[tuple[str, ...], Ints]:
    """The labels, sorted unless they are given, and each row's place among them."""
    labels = sorted(set(column)) if labels is None else labels
    places = {label: place for place, label in enumerate(labels)}
    return tuple(labels), np.fromiter((places[label] for label in column), dtype=np.int64, count=len(column))


def _once(who: Ints, what: Ints, forecaster: Sequence[str], question: Sequence[str]) -> None:
    cells = who * (int(what.max(initial=0)) + 1) + what
    order = np.argsort(cells, kind="stable")
    again = np.flatnonzero(np.diff(cells[order]) == 0)
    if again.size:
        first, second = sorted(order[again[0] : again[0] + 2].tolist())
        raise ValueError(
            f"rows {first} and {second}: {forecaster[first]!r} forecast {question[first]!r} twice, keep one"
        )


def _of_question(what: Ints, column: Floats, question: Sequence[str], name: str) -> Floats:
    """The one value of each question in a column that has a value in every row."""
    values = np.zeros(int(what.max(initial=-1)) + 1)
    values[what] = column
    wrong = np.flatnonzero(values[what] != column)
    if wrong.size:
        raise ValueError(f"row {wrong[0]}: question {question[wrong[0]]!r} has two {name}, it can have one")
    return values
