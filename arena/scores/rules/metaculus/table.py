"""Many yes/no questions at once: a table of forecasts in, one line for each forecaster out.

- Formula: `baseline`, `peer` and `relative` of every question, each averaged over the questions on which
  the forecaster has that score; coverage is averaged over the questions that the forecaster forecast.
- Direction: higher is better.
- Range: those of the rules.
- Edge cases: questions without an outcome of 0 or 1 are left out. Without times a forecast stands from the
  opening to the close of its question; with them a question opens with its first forecast unless it
  says when, and was to close when it closed. Who was never compared has NaN.
- Source: the rules' own.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.scores.rules._columns import Floats, check_probabilities, is_scored
from arena.scores.rules.metaculus import baseline, limits, peer, relative, single_instant
from arena.scores.rules.metaculus.forecasts import Labels
from arena.scores.rules.metaculus.question import MetaculusQuestion, Mode
from arena.scores.rules.metaculus.question_types import binary
from arena.scores.rules.metaculus.totals import totals

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class TableTimes:
    """When each row's forecast was made, and when its question opened, closed and was to close."""

    time: ArrayLike
    closes: ArrayLike
    opens: ArrayLike | None = None
    scheduled: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class ResolvedRows:
    """The rows of resolved questions; `row` is where each was in the table, `question` is numbered."""

    row: Places
    question: Places
    forecaster: Labels
    probability: Floats
    outcome: Floats
    time: Floats
    opens: Floats
    closes: Floats
    scheduled: Floats


def check_rows(
    question: ArrayLike,
    forecaster: ArrayLike,
    probability: ArrayLike,
    outcome: ArrayLike,
    times: TableTimes | None,
) -> ResolvedRows:
    """The rows that count, if all is well with the table."""
    chances, ended = check_probabilities(probability), np.atleast_1d(np.asarray(outcome, dtype=np.float64))
    names = np.atleast_1d(np.asarray(forecaster)).astype(np.str_)
    _, asked = np.unique(np.atleast_1d(np.asarray(question)).astype(np.str_), return_inverse=True)
    moments = _moments(times, asked)
    for name, column in (("forecaster", names), ("probability", chances), ("outcome", ended)):
        if column.size != asked.size:
            raise ValueError(f"column {name} has {column.size} rows, not {asked.size}")
    order = np.lexsort((moments[0], names, asked))
    row = order[is_scored(ended)[order]]
    rows = ResolvedRows(
        row, asked[row], names[row], chances[row], ended[row], *(column[row] for column in moments)
    )
    _one_life(rows)
    _no_doubles(rows)
    return rows


def _moments(times: TableTimes | None, asked: Places) -> tuple[Floats, Floats, Floats, Floats]:
    """When each forecast was made, and its question's opening, close and planned close."""
    if times is None:
        start, end = np.zeros(asked.size), np.ones(asked.size)
        return start, start, end, end
    time, closes = _column(times.time, "time", asked), _column(times.closes, "closes", asked)
    scheduled = closes if times.scheduled is None else _column(times.scheduled, "scheduled", asked)
    if times.opens is not None:
        return time, _column(times.opens, "opens", asked), closes, scheduled
    first = np.full(asked.size, np.inf)
    np.minimum.at(first, asked, time)
    return time, first[asked], closes, scheduled


def _column(column: ArrayLike, name: str, asked: Places) -> Floats:
    values = np.atleast_1d(np.asarray(column, dtype=np.float64))
    if values.size != asked.size:
        raise ValueError(f"column {name} has {values.size} rows, not {asked.size}")
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise ValueError(f"row {wrong[0]}: {name} {values[wrong[0]]} is not a time")
    return values


def _one_life(rows: ResolvedRows) -> None:
    """A question ends one way, and has one opening and one close."""
    same = rows.question[1:] == rows.question[:-1]
    for name in ("outcome", "opens", "closes", "scheduled"):
        column = getattr(rows, name)
        for place in np.flatnonzero(same & (column[1:] != column[:-1]))[:1]:
            one, other = sorted(zip(rows.row[place : place + 2], column[place : place + 2], strict=True))
            raise ValueError(
                f"row {other[0]}: {name} {other[1]:g}, but row {one[0]} of the same question has {one[1]:g}"
            )


def _no_doubles(rows: ResolvedRows) -> None:
    """Nobody says two things at once."""
    columns = (rows.question, rows.forecaster, rows.time)
    same = [column[1:] == column[:-1] for column in columns]
    twice = np.flatnonzero(np.logical_and.reduce(same)) + 1
    if twice.size:
        row, first = sorted(rows.row[twice[0] - 1 : twice[0] + 1], reverse=True)
        name = rows.forecaster[twice[0]]
        raise ValueError(f"row {row}: {name} has forecast the same question at the same time in row {first}")


__all__ = ["ForecasterMeans", "TableScores", "TableTimes", "score"]

RULES = (baseline.score, peer.score, relative.score)


@dataclass(frozen=True, slots=True)
class ForecasterMeans:
    """A forecaster's means over questions; NaN where there is no such score."""

    forecaster: str
    questions: int
    baseline: float
    peer: float
    relative: float
    coverage: float


@dataclass(frozen=True, slots=True)
class TableScores:
    """Everybody by name, and the mode in which they were scored."""

    mode: Mode
    lines: tuple[ForecasterMeans, ...]


def score(
    question: ArrayLike,
    forecaster: ArrayLike,
    probability: ArrayLike,
    outcome: ArrayLike,
    times: TableTimes | None = None,
    mode: Mode = "exact",
) -> TableScores:
    """The means of everyone in a table of forecasts.

    >>> means = score(["rain", "rain", "snow"], ["a", "b", "a"], [0.8, 0.4, 0.5], [1, 1, 0])
    >>> [(line.forecaster, line.questions, round(line.peer, 1)) for line in means.lines]
    [('a', 2, 69.3), ('b', 1, -69.3)]
    """
    rows = check_rows(question, forecaster, probability, outcome, times)
    if times is None and mode == "exact":
        return TableScores(mode, _lines(rows.forecaster, _at_once(rows)))
    return TableScores(mode, _lines(*_one_by_one(rows, mode)))


def _at_once(rows: ResolvedRows) -> Floats:
    """The three scores and the coverage of every row."""
    chance = limits.clip(np.where(rows.outcome == 1, rows.probability, 1 - rows.probability))
    against = single_instant.peers(rows.question, chance), single_instant.relatives(rows.question, chance)
    return np.stack([baseline.points(chance), *against, np.ones(chance.size)])


def _one_by_one(rows: ResolvedRows, mode: Mode) -> tuple[Labels, Floats]:
    """Who, and the three scores and the coverage, for each question and its forecasters."""
    names, values = [np.zeros(0, dtype=np.str_)], [np.zeros((4, 0))]
    _, starts = np.unique(rows.question, return_index=True)
    for first, last in zip(starts, np.append(starts[1:], rows.row.size)[: starts.size], strict=True):
        own = slice(first, last)
        lived = _question(rows, first)
        forecasts = binary(
            rows.forecaster[own], rows.time[own], rows.probability[own], rows.outcome[first] == 1
        )
        results = [totals(forecasts, rule(lived, forecasts, mode)) for rule in RULES]
        names.append(np.array(results[0].forecaster))
        values.append(np.stack([*(result.score for result in results), results[0].coverage]))
    return np.concatenate(names), np.concatenate(values, axis=1)


def _question(rows: ResolvedRows, first: int) -> MetaculusQuestion:
    try:
        times = (rows.opens[first], rows.closes[first], rows.scheduled[first])
        return MetaculusQuestion(*(float(time) for time in times))
    except ValueError as error:
        raise ValueError(f"row {rows.row[first]}: {error}") from None


def _lines(names: Labels, values: Floats) -> tuple[ForecasterMeans, ...]:
    """Each forecaster's means over what is known."""
    who, place = np.unique(names, return_inverse=True)
    means = []
    for column in values:
        present = ~np.isnan(column)
        count = np.bincount(place[present], minlength=who.size)
        total = np.bincount(place[present], column[present], minlength=who.size)
        means.append((total / np.where(count, count, np.nan)).tolist())
    return tuple(
        ForecasterMeans(*line) for line in zip(who.tolist(), np.bincount(place).tolist(), *means, strict=True)
    )
