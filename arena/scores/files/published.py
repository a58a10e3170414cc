"""Figures that a board publishes, beside ours of the same forecasts, with the cause of each difference.

A cause is computed: each way in which boards make such a figure is tried on the forecasts of the file, and
the first that gives the published digits is the cause. Where none does, that is said.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from math import sqrt
from typing import Any

import numpy as np

from arena.errors import count_text
from arena.forms.csv_columns import Floats
from arena.forms.model import PublishedFigure
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.scores import ForecasterScores
from arena.scores.rules._columns import is_scored

EVEN_ODDS = 0.25
WRONG = 1.0
"""The Brier scores that a missing answer may count as."""
MOST_PLACES = 9
"""So many decimals of a published figure are compared at most."""
DIRECT = ("log", "baseline", "peer", "relative", "spot baseline", "spot peer", "skill", "coverage")
"""Figures that have one definition: they are the same, or can't be explained."""


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """A published figure of a forecaster, ours of that name or None, and why they differ."""

    figure: PublishedFigure
    ours: float | None
    cause: str


def comparison_data(comparison: PublishedComparison) -> dict[str, Any]:
    """Return a comparison for JSON."""
    return asdict(comparison.figure) | {"ours": comparison.ours, "cause": comparison.cause}


@dataclass(frozen=True, slots=True)
class AnswerLosses:
    """What a forecaster lost on the questions that ended: by forecast, by question, and at the last of each.

    `asked` is how many questions ended, for anybody.
    """

    by_forecast: Floats
    by_question: Floats
    last: Floats
    asked: int


@dataclass(frozen=True, slots=True)
class FigureWay:
    """A way in which a board may make a figure: what it comes to, and how that is unlike ours."""

    value: float
    unlike: tuple[str, ...] = ()


def published_comparisons(
    table: ForecastTable, rows: Iterable[ForecasterScores], figures: Iterable[PublishedFigure]
) -> tuple[PublishedComparison, ...]:
    """Return each figure that a board publishes beside ours."""
    scores = {row.forecaster: row for row in rows}
    found = []
    for figure in figures:
        row = scores.get(figure.forecaster)
        ways = [] if row is None else list(_ways(table, row, figure.name.lower()))
        ours = ways[0].value if ways else None
        found.append(PublishedComparison(figure, ours, _cause(figure, ways)))
    return tuple(found)


def _ways(table: ForecastTable, row: ForecasterScores, name: str) -> Iterator[FigureWay]:
    """Yield our figure of a name, if there is one, then other ways to make it from the same forecasts."""
    if "accuracy" in name:
        yield from _accuracy_ways(_losses(table, row.forecaster, is_right=True))
    elif "brier" in name:
        yield from _brier_ways(_losses(table, row.forecaster), is_index="index" in name)
    else:
        for score in DIRECT:
            value = getattr(row, score.replace(" ", "_"))
            if score in name.replace("_", " ") and value is not None:
                yield FigureWay(value)


def _losses(table: ForecastTable, forecaster: str, is_right: bool = False) -> AnswerLosses:
    """Return what a forecaster lost: Brier scores, or 1 where it was on the wrong side of 50%."""
    ended = is_scored(table.outcome)
    own = np.flatnonzero(ended & (table.forecaster == table.forecasters.index(forecaster)))
    apart = np.abs(table.probability[own] - table.outcome[own])
    loss = apart**2
    if is_right:
        loss = np.where(apart == 0.5, 0.5, apart > 0.5)

    # rows are sorted by question and time
    question = table.question[own]
    counts = np.bincount(question, minlength=len(table.questions))
    by_question = np.bincount(question, loss, len(table.questions))[counts > 0] / counts[counts > 0]
    last = loss[np.flatnonzero(np.diff(question, append=-1))]
    asked = np.unique(table.question[ended]).size + len(table.unanswered)
    return AnswerLosses(loss, by_question, last, asked)


def _mean_ways(losses: AnswerLosses, missing: Iterable[tuple[float, str]]) -> Iterator[FigureWay]:
    """Yield means of losses: over all questions, by what a missing answer counts as, then over fewer rows."""
    if not losses.by_forecast.size:
        return
    answered = losses.by_question.size
    total = float(losses.by_question.sum())
    for loss, unlike in missing:
        value = (total + loss * (losses.asked - answered)) / losses.asked
        yield FigureWay(value, (unlike,) if unlike else ())

    rows: tuple[str, ...] = ()
    if answered < losses.asked:
        rows = (f"it is over the {answered:,} that it answered; ours is over all {losses.asked:,} asked",)
        yield FigureWay(total / answered, rows)
    every = f"it is over {count_text(losses.by_forecast.size, 'forecast')}; ours is over questions"
    yield FigureWay(float(losses.by_forecast.mean()), (*rows, every))
    last = "it takes the last forecast of each question; ours the mean of them"
    yield FigureWay(float(losses.last.mean()), (*rows, last))


def _brier_ways(losses: AnswerLosses, is_index: bool) -> Iterator[FigureWay]:
    """Yield the ways to make a Brier score, or the index of one, of which 100 is best."""
    missing = ((WRONG, ""), (EVEN_ODDS, "a missing answer is even odds in it; in ours it is wrong"))
    for way in _mean_ways(losses, missing):
        if is_index:
            yield FigureWay(100 * (1 - sqrt(way.value)), way.unlike)
            continue
        yield way
        yield FigureWay(2 * way.value, ("it adds up both outcomes, twice ours", *way.unlike))
        yield FigureWay(1 - way.value, ("it is 1 less the Brier score", *way.unlike))


def _accuracy_ways(losses: AnswerLosses) -> Iterator[FigureWay]:
    """Yield the ways to make a share of right answers, as a share or in percent."""
    for way in _mean_ways(losses, [(WRONG, "")]):
        yield FigureWay(1 - way.value, way.unlike)
        yield FigureWay(100 * (1 - way.value), ("it is in percent", *way.unlike))


def _cause(figure: PublishedFigure, ways: list[FigureWay]) -> str:
    """Return why a figure differs from the first of these ways, which is ours."""
    if not ways:
        return "there is none of ours to compare it with"
    places = _places(figure.value)
    for way in ways:
        apart = abs(way.value - figure.value)
        if apart > 0.5 * 10**-places * (1 + 1e-6):
            continue
        if way.unlike:
            return "; ".join(way.unlike)
        return "the same" if apart < 10**-MOST_PLACES else f"the same, rounded to {places} decimals"
    nearest = min(ways, key=lambda way: abs(way.value - figure.value))
    return f"no way known here gives it of these forecasts, the nearest {nearest.value:.4g}: {figure.how}"


def _places(value: float) -> int:
    """Return to how many decimals a figure is known; a share of 0.5 may be a rounded 0.50, but no 0.53.

    >>> _places(0.1466), _places(0.5), _places(63.0), _places(1 / 3)
    (4, 2, 1, 9)
    """
    written = -int(Decimal(repr(value)).as_tuple().exponent)
    fewest = 2 if abs(value) <= 1 else 1
    return min(max(written, fewest), MOST_PLACES)
