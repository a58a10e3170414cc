"""Imputation: what a forecaster that said nothing is taken to have said.

- Formula: today a missing forecast counts as 0.5 on every question. In the first paper it counts as 0.5
  on dataset questions and on markets as the crowd's probability on the day that forecasts were due. A
  submission of which more than 5% is imputed, of all or of either type, isn't scored. So silence on
  markets scored like the market in the paper; today it costs.
- Direction: none.
- Range: 0 to 1.
- Edge cases: 5% exactly is still scored. A market without a crowd probability is an error in the paper's
  way.
- Source: seed 004 section 3.3 (missing forecasts) for the paper, the benchmark's resolver for today.
"""

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats

NO_INFORMATION = 0.5
MOST_IMPUTED = 0.05
ERAS = ("today", "paper")


def impute(forecast: ArrayLike, market: ArrayLike, crowd: ArrayLike, era: str = "today") -> Floats:
    """The forecasts with every NaN filled; `market` marks market questions, on which alone `crowd` is used.

    >>> impute([0.9, np.nan, np.nan], [True, True, False], [0.7, 0.7, np.nan]).tolist()
    [0.9, 0.5, 0.5]
    >>> impute([0.9, np.nan, np.nan], [True, True, False], [0.7, 0.7, np.nan], "paper").tolist()
    [0.9, 0.7, 0.5]
    """
    if era not in ERAS:
        raise ValueError(f"era {era!r}: it is one of {', '.join(ERAS)}")
    values = np.atleast_1d(np.asarray(forecast, dtype=np.float64))
    from_crowd = np.isnan(values) & np.asarray(market, dtype=np.bool_) & (era == "paper")
    filled: Floats = np.where(np.isnan(values), np.where(from_crowd, crowd, NO_INFORMATION), values)
    if np.isnan(filled).any():
        raise ValueError(f"row {np.flatnonzero(np.isnan(filled))[0]}, column crowd: none to impute")
    return filled


def too_much(forecast: ArrayLike, market: ArrayLike) -> bool:
    """Whether so much is missing that the submission isn't scored.

    >>> one_of_twenty = [np.nan] + [0.5] * 19
    >>> too_much(one_of_twenty, [True] * 20), too_much(one_of_twenty, [True] * 5 + [False] * 15)
    (False, True)
    """
    missing = np.isnan(np.atleast_1d(np.asarray(forecast, dtype=np.float64)))
    markets = np.asarray(market, dtype=np.bool_)
    parts = (missing, missing[markets], missing[~markets])
    return any(part.size > 0 and int(part.sum()) > MOST_IMPUTED * part.size for part in parts)
