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
from numpy.typing import ArrayLike

from arena.scoring._columns import Floats
from arena.scoring.metaculus import at_once, baseline, limits, peer, relative
from arena.scoring.metaculus._rows import Rows, Times, checked
from arena.scoring.metaculus.forecasts import Labels
from arena.scoring.metaculus.kinds import binary
from arena.scoring.metaculus.question import Mode, Question
from arena.scoring.metaculus.totals import totals

__all__ = ["Line", "Lines", "Times", "score"]

RULES = (baseline.score, peer.score, relative.score)


@dataclass(frozen=True, slots=True)
class Line:
    """A forecaster's means over questions; NaN where there is no such score."""

    forecaster: str
    questions: int
    baseline: float
    peer: float
    relative: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Lines:
    """Everybody by name, and the mode in which they were scored."""

    mode: Mode
    lines: tuple[Line, ...]


def score(
    question: ArrayLike,
    forecaster: ArrayLike,
    probability: ArrayLike,
    outcome: ArrayLike,
    times: Times | None = None,
    mode: Mode = "exact",
) -> Lines:
    """The means of everyone in a table of forecasts.

    >>> found = score(["rain", "rain", "snow"], ["a", "b", "a"], [0.8, 0.4, 0.5], [1, 1, 0])
    >>> [(line.forecaster, line.questions, round(line.peer, 1)) for line in found.lines]
    [('a', 2, 69.3), ('b', 1, -69.3)]
    """
    rows = checked(question, forecaster, probability, outcome, times)
    if times is None and mode == "exact":
        return Lines(mode, _lines(rows.forecaster, _at_once(rows)))
    return Lines(mode, _lines(*_one_by_one(rows, mode)))


def _at_once(rows: Rows) -> Floats:
    """The three scores and the coverage of every row."""
    chance = limits.clip(np.where(rows.outcome == 1, rows.said, 1 - rows.said))
    against = at_once.peers(rows.question, chance), at_once.relatives(rows.question, chance)
    return np.stack([baseline.points(chance), *against, np.ones(chance.size)])


def _one_by_one(rows: Rows, mode: Mode) -> tuple[Labels, Floats]:
    """Who, and the three scores and the coverage, for each question and its forecasters."""
    names, values = [np.zeros(0, dtype=np.str_)], [np.zeros((4, 0))]
    _, starts = np.unique(rows.question, return_index=True)
    for first, last in zip(starts, np.append(starts[1:], rows.row.size)[: starts.size], strict=True):
        own = slice(first, last)
        lived = _question(rows, first)
        said = binary(rows.forecaster[own], rows.time[own], rows.said[own], rows.outcome[first] == 1)
        results = [totals(said, rule(lived, said, mode)) for rule in RULES]
        names.append(np.array(results[0].forecaster))
        values.append(np.stack([*(result.score for result in results), results[0].coverage]))
    return np.concatenate(names), np.concatenate(values, axis=1)


def _question(rows: Rows, first: int) -> Question:
    try:
        times = (rows.opens[first], rows.closes[first], rows.scheduled[first])
        return Question(*(float(time) for time in times))
    except ValueError as error:
        raise ValueError(f"row {rows.row[first]}: {error}") from None


def _lines(names: Labels, values: Floats) -> tuple[Line, ...]:
    """Each forecaster's means over what is known."""
    who, place = np.unique(names, return_inverse=True)
    means = []
    for column in values:
        known = ~np.isnan(column)
        count = np.bincount(place[known], minlength=who.size)
        total = np.bincount(place[known], column[known], minlength=who.size)
        means.append((total / np.where(count, count, np.nan)).tolist())
    return tuple(Line(*line) for line in zip(who.tolist(), np.bincount(place).tolist(), *means, strict=True))
