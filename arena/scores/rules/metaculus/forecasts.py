"""The forecasts of one question: whose they are, how long they stood, what they gave to what happened.

- Formula: of a forecast, whatever its kind (see `kinds`), a rule takes its forecaster, the time from
  `start` until before `end` for which it stood, and the probability or density that it gave to what
  happened. Without ends it stood until the same forecaster's next one. `base` marks the forecasts that
  others are compared with: all, if it is left out.
- Direction: none.
- Range: what was given to what happened is above 0.
- Edge cases: an empty end means that it still stands. Nothing given to what happened is an error; times that
  contradict each other are for who reads them to refuse.
- Source: seed 000 for forecasts that stand until they are replaced; `base` from the site's code.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.scores.rules._columns import Flags, Floats

Labels = NDArray[np.str_]

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
