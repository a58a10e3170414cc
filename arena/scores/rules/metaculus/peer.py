"""Peer score: against all others who forecast the same question.

- Formula: at an instant, 100 · (ln p − mean of ln p_i) over the N others whose forecasts stand, which is 100
  · (ln p − ln GM), GM the geometric mean of the others; half of that for numbers. Among N + 1 who are
  compared with one another this is 100 · (N + 1)/N · (ln p − ln GM of all).
- Direction: higher is better; 0 is as good as the others on average.
- Range: yes/no ±691 within the site's limits, numbers ±408 for densities from 0.01 to 35. At every
  instant the scores of those who are compared with one another add up to 0.
- Edge cases: an instant at which nobody else's forecast stands adds 0; who was alone all the time has no
  score (NaN) in `exact` and 0 in `metaculus`. Those outside the base (`Forecasts.base`) are compared
  with the base and change nobody's score. An option that did not exist yet is read from "Other", for
  each forecaster by itself.
- Mode `metaculus` departs from this: when the last forecast is withdrawn, what it was compared with
  stays until somebody forecasts again; those outside the base get the factor N/(N − 1) of those
  inside, are scored by whole steps between changes in the base, and get 0 when the base is one; where
  one forecast of the base has no such option, everyone is compared with the mean of "Other"; without
  any base all are the base; a close later than planned counts.
- Source: seed 000, "What is the Peer score?"; the site's code.
"""

import numpy as np

from arena.scores.rules._columns import Floats
from arena.scores.rules.metaculus._timeline import (
    Steps,
    integrate,
    integrate_by_step,
    scored_spans,
    standing_sums,
)
from arena.scores.rules.metaculus.forecasts import (
    Forecasts,
    ForecastScores,
    MetaculusQuestion,
    Mode,
    no_scores,
)
from arena.scores.rules.metaculus.spot import standing_at

TITLE = "Peer score"
DIRECTION = "higher"


def score(question: MetaculusQuestion, forecasts: Forecasts, mode: Mode = "exact") -> ForecastScores:
    """The time-averaged score of each forecast."""
    return (_site if mode == "metaculus" else _exact)(question, forecasts)


def _exact(question: MetaculusQuestion, forecasts: Forecasts) -> ForecastScores:
    low, high = scored_spans(question, forecasts, "exact")
    standing = standing_sums(forecasts, forecasts.base)
    level = standing.chance / np.maximum(standing.count, 1)
    among = Steps(standing.time, level, _without_one(standing.count))  # takes the forecaster out of it
    against = Steps(standing.time, level, (standing.count > 0).astype(np.float64))
    inside, outside = (integrate(question, steps, low, high) for steps in (among, against))
    weight, level = (np.where(forecasts.base, one, other) for one, other in zip(inside, outside, strict=True))
    values = forecasts.points * (np.log(forecasts.chance) * weight - level)
    return ForecastScores("exact", values, (high - low) / question.life, weight)


def _site(question: MetaculusQuestion, forecasts: Forecasts) -> ForecastScores:
    low, high = scored_spans(question, forecasts, "metaculus")
    weight, level, share = integrate_by_step(question, _site_steps(forecasts), low, high, question.life)
    values = forecasts.points * (np.log(forecasts.chance) * weight - level)
    return ForecastScores("metaculus", values, share, share)


def spot(question: MetaculusQuestion, forecasts: Forecasts, mode: Mode = "exact") -> ForecastScores:
    """The score at the spot of the forecasts that stood then."""
    return (_site_spot if mode == "metaculus" else _exact_spot)(question, forecasts)


def _exact_spot(question: MetaculusQuestion, forecasts: Forecasts) -> ForecastScores:
    standing = standing_at(question, forecasts, "exact")
    chosen, logs = standing & forecasts.base, np.log(forecasts.chance)
    others = np.full(logs.size, chosen.sum()) - chosen
    rest = np.sort(logs[chosen]).sum() - np.where(chosen, logs, 0.0)
    compared = standing & (others > 0)
    values = forecasts.points * (logs - rest / np.maximum(others, 1))
    shares = standing.astype(np.float64), compared.astype(np.float64)
    return ForecastScores("exact", np.where(compared, values, 0.0), *shares)


def _site_spot(question: MetaculusQuestion, forecasts: Forecasts) -> ForecastScores:
    steps = _site_steps(forecasts)
    last = int(np.searchsorted(steps.time, question.instant())) - 1
    if last < 0:
        return no_scores(forecasts.start.size, "metaculus")
    standing = standing_at(question, forecasts, "metaculus")
    values = forecasts.points * steps.weight[last] * (np.log(forecasts.chance) - steps.level[last])
    share = standing.astype(np.float64)
    return ForecastScores("metaculus", np.where(standing, values, 0.0), share, share)


def _site_steps(forecasts: Forecasts) -> Steps:
    """The site's: no step where nothing stands, so that the one before goes on."""
    base = forecasts.base if forecasts.base.any() else np.ones_like(forecasts.base)
    standing = standing_sums(forecasts, base)
    occupied = standing.count > 0
    time, count = standing.time[occupied], standing.count[occupied]
    total = np.where(standing.unlisted > 0, standing.other, standing.chance)[occupied]
    return Steps(time, total / count, _without_one(count))


def _without_one(count: Floats) -> Floats:
    """N/(N − 1), and 0 for one alone."""
    return np.where(count > 1, count / np.maximum(count - 1, 1), 0.0)
