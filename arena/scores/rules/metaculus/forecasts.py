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

from arena.scores.rules._columns import Flags, Floats, as_floats

Labels = NDArray[np.str_]
Mode = Literal["exact", "metaculus"]


@dataclass(frozen=True, slots=True)
class MetaculusQuestion:
    """When a question opened, closed and was to close, and the instant of its spot scores, if any."""

    opens: float
    closes: float
    scheduled: float
    spot: float | None = None

    @property
    def life(self) -> float:
        """Return how long the question was scheduled to be open."""
        return self.scheduled - self.opens

    def ends(self, mode: Mode) -> float:
        """Return when scoring ends. The site's code continues to a late close; its text does not."""
        if mode == "metaculus":
            return self.closes
        return min(self.closes, self.scheduled)

    def instant(self) -> float:
        """Return when the spot scores are taken: at the spot, or at the close if that comes first."""
        if self.spot is None:
            raise ValueError("the question has no spot: give the time at which its spot scores are taken")
        return min(self.spot, self.closes)


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """The contribution of each forecast to its forecaster's score and coverage, in the forecasts' order.

    `compared` is the share of the lifetime for which there was something to compare it with.
    """

    mode: Mode
    score: Floats
    coverage: Floats
    compared: Floats


def no_scores(count: int, mode: Mode) -> ForecastScores:
    """Return empty scores."""
    return ForecastScores(mode, np.zeros(count), np.zeros(count), np.zeros(count))


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
    """Return some of the forecasts, selected by flags or by indices."""
    columns = {name: getattr(forecasts, name)[rows] for name in COLUMNS}
    options = forecasts.options
    if options is not None:
        options = options[rows]
    return replace(forecasts, **columns, options=options)


def chance_forecasts(
    forecaster: ArrayLike,
    start: ArrayLike,
    chance: ArrayLike,
    end: ArrayLike | None = None,
    base: ArrayLike | None = None,
) -> Forecasts:
    """Return forecasts of which only the value at the outcome is known. They have no baseline.

    >>> chance_forecasts(["a", "b", "a"], [0, 0, 2], [0.1, 0.4, 0.2]).end
    array([ 2., inf, inf])
    """
    names = np.atleast_1d(np.asarray(forecaster))
    names = names.astype(np.str_)
    starts = as_floats(start)
    values = as_floats(chance)
    is_valid = (values > 0) & (values < np.inf)
    if not is_valid.all():
        wrong = np.flatnonzero(~is_valid)[0]
        raise ValueError(
            f"row {wrong}: chance {values[wrong]} of what happened is not above 0; "
            "limits.with_floor gives a density the floor that the site gives it"
        )

    ends = _until_next(names, starts) if end is None else as_floats(end)
    ends = np.where(np.isnan(ends), np.inf, ends)
    is_base = np.ones(names.size, dtype=np.bool_)
    if base is not None:
        is_base = np.asarray(base, dtype=np.bool_)
    no_baseline = np.full(names.size, np.nan)

    return Forecasts(
        forecaster=names,
        start=starts,
        end=ends,
        chance=values,
        base=is_base,
        other=values,
        listed=np.ones(names.size, np.bool_),
        ignorance=no_baseline,
        own_points=no_baseline,
    )


def _until_next(names: Labels, start: Floats) -> Floats:
    """Return when the same forecaster's next forecast starts; infinity without one."""
    order = np.lexsort((start, names))
    sorted_names = names[order]
    is_followed = sorted_names[1:] == sorted_names[:-1]
    ends = np.full(names.size, np.inf)
    ends[order[:-1]] = np.where(is_followed, start[order][1:], np.inf)
    return ends


@dataclass(frozen=True, slots=True)
class Totals:
    """Scores and coverages added up by forecaster, with names in order.

    In mode `exact` the score is NaN for those who could never be compared: too late, or alone.
    """

    mode: Mode
    forecaster: tuple[str, ...]
    score: Floats
    coverage: Floats

    def of(self, name: str) -> tuple[float, float]:
        """Return one forecaster's score and coverage."""
        place = self.forecaster.index(name)
        return float(self.score[place]), float(self.coverage[place])


def total_by_forecaster(forecasts: Forecasts, scores: ForecastScores) -> Totals:
    """Return the scores of each forecaster's forecasts added up."""
    names, name_number = np.unique(forecasts.forecaster, return_inverse=True)
    # Values are added in order of time, so that the order of the rows changes no digit.
    order = np.lexsort((forecasts.start, name_number))

    def sum_by_name(column: Floats) -> Floats:
        sums = np.bincount(name_number[order], column[order], minlength=names.size)
        return sums.astype(np.float64)

    score = sum_by_name(scores.score)
    if scores.mode == "exact":
        compared = sum_by_name(scores.compared)
        score = np.where(compared > 0, score, np.nan)
    return Totals(scores.mode, tuple(names.tolist()), score, sum_by_name(scores.coverage))
