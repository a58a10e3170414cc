"""Baseline score: against somebody who knows nothing.

- Formula: at an instant, 100 · (ln P − ln B) / S, where P is the probability of what happened. Yes/no: B =
  1/2, S = ln 2. N options: B = 1/N, S = ln N, N being how many there were then. A number: P is the density at
  it, where the range is 1 wide, S = 2, and B = 1 between closed ends, 0.95 with one open end, 0.9 with two;
  beyond an open end P is the whole share beyond it and B = 0.05.
- Direction: higher is better; 0 is knowing nothing.
- Range: yes/no −897 to +99.9 within the site's limits; N options 100 · ln(0.001 N) / ln N to
  100 · ln(0.999 N) / ln N; numbers −230 to +183 for densities from 0.01 to 35.
- Edge cases: after an early close everything scores 0 and still counts as time; a forecast from before
  the opening counts from the opening, one after the close not at all. With a close later than planned,
  mode `exact` scores to the planned one; `metaculus` to the real one, so that coverage exceeds 1.
- Source: seed 000, "What is the Baseline score?", its `baseline` list from the site's code.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats
from arena.scores.rules.metaculus._timeline import scored_spans
from arena.scores.rules.metaculus.forecasts import Forecasts, ForecastScores, MetaculusQuestion, Mode
from arena.scores.rules.metaculus.spot import standing_at

TITLE = "Baseline score"
DIRECTION = "higher"
LN_2 = math.log(2)


def points(chance: ArrayLike, ignorance: ArrayLike = 0.5, scale: ArrayLike = LN_2) -> Floats:
    """Return 100 · (ln P − ln B) / S at an instant; for yes/no questions by default.

    >>> points([0.4, 0.7, 0.8, 0.999, 0.001]).round(1)
    array([ -32.2,   48.5,   67.8,   99.9, -896.6])
    """
    p = np.asarray(chance, dtype=np.float64)
    b = np.asarray(ignorance, dtype=np.float64)
    s = np.asarray(scale, dtype=np.float64)
    return 100 * (np.log(p) - np.log(b)) / s


def score(question: MetaculusQuestion, forecasts: Forecasts, mode: Mode = "exact") -> ForecastScores:
    """Return the time-averaged score of each forecast."""
    low, high = scored_spans(question, forecasts, mode)
    share = (high - low) / question.life
    return ForecastScores(mode, each(forecasts) * share, share, share)


def spot(question: MetaculusQuestion, forecasts: Forecasts, mode: Mode = "exact") -> ForecastScores:
    """Return the score at the spot of the forecasts that stood then."""
    standing = standing_at(question, forecasts, mode)
    share = standing.astype(np.float64)
    return ForecastScores(mode, np.where(standing, each(forecasts), 0.0), share, share)


def each(forecasts: Forecasts) -> Floats:
    """Return the score that a forecast earns at every instant that it stands."""
    return points(forecasts.chance, forecasts.ignorance, 100 / forecasts.own_points)
