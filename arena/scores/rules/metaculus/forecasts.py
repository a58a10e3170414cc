"""The forecasts of one question: whose they are, how long they stood, what they gave to what happened.

Of a forecast, whatever its kind (see `question_types`), a rule takes its forecaster, the time from `start`
until before `end` for which it stood, and the probability or density that it gave to what happened, which is
above 0. Without an end it stands until the same forecaster's next one. Times that contradict each other are
refused where they are read. A score is the integral of the scores at each instant over a question's life,
divided by that life. What an early close leaves of it scores 0: averaging over the time that a question
really lasted would reward saying YES early to what can only end early by a YES.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.scores.rules._columns import Flags, Floats

Labels = NDArray[np.str_]
Mode = Literal["exact", "metaculus"]


@dataclass(frozen=True, slots=True)
class MetaculusQuestion:
    """When a question opened, really closed, was to close, and the instant of its spot scores, if any."""

    opens: float
    closes: float
    scheduled: float
    spot: float | None = None

    @property
    def life(self) -> float:
        """How long the question was to be open."""
        return self.scheduled - self.opens

    def ends(self, mode: Mode) -> float:
        """When scoring ends. The site goes on to a close that comes late; its text does not."""
        return self.closes if mode == "metaculus" else min(self.closes, self.scheduled)

    def instant(self) -> float:
        """When the spot scores are taken: at the spot, or at the close if that comes first."""
        if self.spot is None:
            raise ValueError("the question has no spot: give the time at which its spot scores are taken")
        return min(self.spot, self.closes)


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """What each forecast adds to its forecaster's score and coverage, in the order of the forecasts.

    `compared` is the share of the life for which there was something to compare it with.
    """

    mode: Mode
    score: Floats
    coverage: Floats
    compared: Floats


def no_scores(count: int, mode: Mode) -> ForecastScores:
    """No score for anyone."""
    return ForecastScores(mode, *(np.zeros(count) for _ in range(3)))


COLUMNS = (
    "forecaster", "start", "end", "chance", "base", "other", "listed", "ignorance", "own_points",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Forecasts:
    """One row a forecast; made by `given`, or by the maker of its kind.

    `points` is what a step of e in probability earns against others; `own_points` is that against a
    baseline that knows nothing, `ignorance`. `other` is what was given to "Other", `listed` whether
    the option that happened existed. `options` are all of a forecast's, where there are several, and
    `happened` the one that did. `mean` says that a community's forecast is a mean, as of numbers.
    """

    forecaster: Labels
    start: Floats
    end: Floats
    chance: Floats
    base: Flags
    other: Floats
    listed: Flags
    ignorance: Floats
    own_points: Floats
    points: float = 100.0
    options: Floats | None = None
    happened: int = 0
    mean: bool = False


def rows_of(forecasts: Forecasts, rows: NDArray[np.generic]) -> Forecasts:
    """Some of the forecasts, chosen by flags or in an order."""
    columns = {name: getattr(forecasts, name) for name in COLUMNS}
    options = None if forecasts.options is None else forecasts.options[rows]
    return replace(forecasts, **{name: column[rows] for name, column in columns.items()}, options=options)


def chance_forecasts(
    forecaster: ArrayLike,
    start: ArrayLike,
    chance: ArrayLike,
    end: ArrayLike | None = None,
    base: ArrayLike | None = None,
) -> Forecasts:
    """Forecasts of which only the value at the outcome is known. They have no baseline.

    >>> chance_forecasts(["a", "b", "a"], [0, 0, 2], [0.1, 0.4, 0.2]).end
    array([ 2., inf, inf])
    """
    names = np.atleast_1d(np.asarray(forecaster)).astype(np.str_)
    begun, values = (np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in (start, chance))
    wrong = np.flatnonzero(~((values > 0) & (values < np.inf)))
    if wrong.size:
        raise ValueError(
            f"row {wrong[0]}: chance {values[wrong[0]]} of what happened is not above 0; "
            "limits.with_floor gives a density the floor that the site gives it"
        )
    until = _until_next(names, begun) if end is None else np.atleast_1d(np.asarray(end, dtype=np.float64))
    until = np.where(np.isnan(until), np.inf, until)
    counted = np.ones(names.size, dtype=np.bool_) if base is None else np.asarray(base, dtype=np.bool_)
    nan = np.full(names.size, np.nan)
    return Forecasts(names, begun, until, values, counted, values, np.ones(names.size, np.bool_), nan, nan)


def _until_next(names: Labels, start: Floats) -> Floats:
    order = np.lexsort((start, names))
    ends = np.full(names.size, np.inf)
    same = names[order][1:] == names[order][:-1]
    ends[order[:-1]] = np.where(same, start[order][1:], np.inf)
    return ends


@dataclass(frozen=True, slots=True)
class Totals:
    """The same added up by forecaster, names in order.

    In mode `exact` the score is NaN for those who could never be compared: too late, or alone.
    """

    mode: Mode
    forecaster: tuple[str, ...]
    score: Floats
    coverage: Floats

    def of(self, name: str) -> tuple[float, float]:
        """One forecaster's score and coverage."""
        place = self.forecaster.index(name)
        return float(self.score[place]), float(self.coverage[place])


def totals(forecasts: Forecasts, scores: ForecastScores) -> Totals:
    """The scores of each forecaster's forecasts added up."""
    names, place = np.unique(forecasts.forecaster, return_inverse=True)
    order = np.lexsort((forecasts.start, place))

    def total(column: Floats) -> Floats:
        return np.bincount(place[order], column[order], minlength=names.size).astype(np.float64)

    score, compared = total(scores.score), total(scores.compared)
    if scores.mode == "exact":
        score = np.where(compared > 0, score, np.nan)
    return Totals(scores.mode, tuple(names.tolist()), score, total(scores.coverage))
