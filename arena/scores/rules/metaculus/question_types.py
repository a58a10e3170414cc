"""Kinds of questions: forecasts of yes/no, of several options, of a number, read at what happened.

- Formula: yes/no: p if YES happened, else 1 − p. Several options: that of the option which happened; NaN
  is an option that did not exist yet, and the last option is "Other", which is read in its place. A
  number: the share of the bucket that it fell into, times the number of buckets, which is a density
  where the range is 1 wide; beyond an open end of the range, the whole share beyond it.
- Direction: none.
- Range: probabilities are cut to the site's limits; densities are taken as they are.
- Edge cases: a density of 0 at what happened is an error, as the site never takes one.
- Source: seed 000; the site's code.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import check_probabilities
from arena.scores.rules.metaculus import limits
from arena.scores.rules.metaculus.forecasts import Forecasts, chance_forecasts

OUTSIDE = 0.05
"""What somebody who knows nothing gives to each open end of a range."""


def binary(
    forecaster: ArrayLike,
    start: ArrayLike,
    probability: ArrayLike,
    outcome: bool,
    end: ArrayLike | None = None,
    base: ArrayLike | None = None,
) -> Forecasts:
    """Return forecasts of yes/no; probabilities are cut to the site's limits."""
    chance = limits.clip(check_probabilities(probability))
    if not outcome:
        chance = 1 - chance

    forecasts = chance_forecasts(forecaster, start, chance, end, base)
    half = np.full(chance.size, 0.5)
    points = np.full(chance.size, 100 / np.log(2))
    return replace(forecasts, ignorance=half, own_points=points)


def multiple_choice(
    forecaster: ArrayLike,
    start: ArrayLike,
    options: ArrayLike,
    outcome: int,
    end: ArrayLike | None = None,
    base: ArrayLike | None = None,
) -> Forecasts:
    """Return forecasts of several options, one row of probabilities each; `outcome` counts from 0."""
    rows = np.atleast_2d(np.asarray(options, dtype=np.float64))
    rows = limits.clip(rows)
    happened = rows[:, outcome]
    other = rows[:, -1]
    listed = ~np.isnan(happened)
    chance = np.where(listed, happened, other)
    count = np.count_nonzero(~np.isnan(rows), axis=1)

    forecasts = chance_forecasts(forecaster, start, chance, end, base)
    return replace(
        forecasts,
        other=other,
        listed=listed,
        ignorance=1 / count,
        own_points=100 / np.log(count),
        options=rows,
        happened=outcome,
    )


def continuous(
    forecaster: ArrayLike,
    start: ArrayLike,
    cdf: ArrayLike,
    bucket: int,
    open_bounds: int = 0,
    end: ArrayLike | None = None,
    base: ArrayLike | None = None,
) -> Forecasts:
    """Return forecasts of a number, each a row of cumulative probabilities at the edges of N equal buckets.

    `bucket` counts from 1 to N; 0 is below the range and N + 1 above it.
    """
    rows = np.atleast_2d(np.asarray(cdf, dtype=np.float64))
    count = rows.shape[1] - 1
    is_beyond = bucket in (0, count + 1)
    if is_beyond and not open_bounds:
        raise ValueError(f"bucket {bucket} is beyond a range whose ends are closed")

    chance = np.diff(rows, axis=1, prepend=0.0, append=1.0)[:, bucket]
    ignorance = OUTSIDE
    if not is_beyond:
        # A density, in units in which the range is 1 wide.
        chance = chance * count
        ignorance = 1 - OUTSIDE * open_bounds

    forecasts = chance_forecasts(forecaster, start, chance, end, base)
    return replace(
        forecasts,
        ignorance=np.full(chance.size, ignorance),
        own_points=np.full(chance.size, 50.0),
        points=50.0,
        mean=True,
    )
