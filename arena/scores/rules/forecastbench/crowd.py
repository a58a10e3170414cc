"""Crowds of models: one forecast out of several on the same question.

- Formula: of k forecasts p, the `median`; the `geometric_mean` (Π p)^(1/k); the `log_odds` mean, the
  probability whose log odds are the mean of all log odds.
- Direction: none, it pools.
- Range: 0 to 1.
- Edge cases: one 0 makes the geometric mean 0. 0 and 1 have no log odds and count as 1e-6 and 1 − 1e-6.
  Models that gave no forecast (NaN) are left out; a question that nobody answered has NaN.
- Source: seed 004 section 5.1 (the seventh baseline) and appendix E, of nine forecasts: three models,
  three prompts. Satopää et al. (2014) for log odds.
"""

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats

EDGE = 1e-6
WAYS = ("median", "geometric_mean", "log_odds")


def crowd(forecasts: ArrayLike, way: str = "median") -> Floats:
    """The crowd's forecast on each question, from a row for each of its members.

    >>> crowd([[0.2, 0.5], [0.8, 0.9], [0.3, np.nan]]).tolist()
    [0.3, 0.7]
    >>> crowd([[0.2], [0.8]], "geometric_mean").round(6).tolist()
    [0.4]
    >>> crowd([[0.5], [0.9]], "log_odds").round(6).tolist()
    [0.75]
    """
    forecasts = np.atleast_2d(np.asarray(forecasts, dtype=np.float64))
    wrong = np.argwhere((forecasts < 0) | (forecasts > 1))
    if wrong.size:
        row, column = wrong[0].tolist()
        raise ValueError(
            f"row {row}, column {column}: {forecasts[row, column]} is not a probability from 0 to 1"
        )
    if way not in WAYS:
        raise ValueError(f"way {way!r}: it is one of {', '.join(WAYS)}")
    pooled = np.full(forecasts.shape[1], np.nan)
    answered = ~np.isnan(forecasts).all(axis=0)
    pooled[answered] = _pool(forecasts[:, answered], way)
    return pooled


def _pool(forecasts: Floats, way: str) -> Floats:
    middle: Floats = np.nanmedian(forecasts, axis=0)
    if way == "median":
        return middle
    if way == "geometric_mean":
        with np.errstate(divide="ignore"):
            root: Floats = np.exp(np.nanmean(np.log(forecasts), axis=0))
        return root
    inside = np.clip(forecasts, EDGE, 1 - EDGE)
    odds: Floats = np.exp(np.nanmean(np.log(inside) - np.log1p(-inside), axis=0))
    return odds / (1 + odds)
