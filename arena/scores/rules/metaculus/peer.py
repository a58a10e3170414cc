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
    """Return the time-averaged score of each forecast."""
    if mode == "metaculus":
        return _score_by_site_code(question, forecasts)
    return _score_by_text(question, forecasts)


def _score_by_text(question: MetaculusQuestion, forecasts: Forecasts) -> ForecastScores:
    """Return the scores by the site's text."""
    low, high = scored_spans(question, forecasts, "exact")
    standing = standing_sums(forecasts, forecasts.base)
    mean = standing.chance / np.maximum(standing.count, 1)
    is_occupied = (standing.count > 0).astype(np.float64)

    # Forecasters of the base are part of the mean: the factor removes them from it.
    mean_without_own = Steps(standing.time, mean, _factor_without_one(standing.count))
    mean_of_base = Steps(standing.time, mean, is_occupied)
    inside_weight, inside_level = integrate(question, mean_without_own, low, high)
    outside_weight, outside_level = integrate(question, mean_of_base, low, high)
    weight = np.where(forecasts.base, inside_weight, outside_weight)
    level = np.where(forecasts.base, inside_level, outside_level)

    gained = np.log(forecasts.chance) * weight - level
    coverage = (high - low) / question.life
    return ForecastScores("exact", forecasts.points * gained, coverage, weight)


def _score_by_site_code(question: MetaculusQuestion, forecasts: Forecasts) -> ForecastScores:
    """Return the scores by the site's code."""
    low, high = scored_spans(question, forecasts, "metaculus")
    steps = _site_steps(forecasts)
    weight, level, share = integrate_by_step(question, steps, low, high, question.life)
    gained = np.log(forecasts.chance) * weight - level
    return ForecastScores("metaculus", forecasts.points * gained, share, share)


def spot(question: MetaculusQuestion, forecasts: Forecasts, mode: Mode = "exact") -> ForecastScores:
    """Return the score at the spot of the forecasts that stood then."""
    if mode == "metaculus":
        return _spot_by_site_code(question, forecasts)
    return _spot_by_text(question, forecasts)


def _spot_by_text(question: MetaculusQuestion, forecasts: Forecasts) -> ForecastScores:
    """Return the spot scores by the site's text."""
    standing = standing_at(question, forecasts, "exact")
    standing_base = standing & forecasts.base
    logs = np.log(forecasts.chance)
    other_count = np.full(logs.size, standing_base.sum()) - standing_base

    # Values are sorted, so that the order of the forecasts changes no digit.
    total = np.sort(logs[standing_base]).sum()
    total_of_others = total - np.where(standing_base, logs, 0.0)
    gain = logs - total_of_others / np.maximum(other_count, 1)
    values = forecasts.points * gain

    compared = standing & (other_count > 0)
    return ForecastScores(
        mode="exact",
        score=np.where(compared, values, 0.0),
        coverage=standing.astype(np.float64),
        compared=compared.astype(np.float64),
    )


def _spot_by_site_code(question: MetaculusQuestion, forecasts: Forecasts) -> ForecastScores:
    """Return the spot scores by the site's code."""
    steps = _site_steps(forecasts)
    spot_time = question.instant()
    # Others are compared with what stood strictly before the spot.
    last_step = int(np.searchsorted(steps.time, spot_time)) - 1
    if last_step < 0:
        return no_scores(forecasts.start.size, "metaculus")

    standing = standing_at(question, forecasts, "metaculus")
    gain = np.log(forecasts.chance) - steps.level[last_step]
    values = forecasts.points * steps.weight[last_step] * gain
    share = standing.astype(np.float64)
    return ForecastScores("metaculus", np.where(standing, values, 0.0), share, share)


def _site_steps(forecasts: Forecasts) -> Steps:
    """Return the site's steps, none of them while no forecast stands: the step before goes on."""
    base = forecasts.base
    if not base.any():
        base = np.ones_like(base)

    standing = standing_sums(forecasts, base)
    # Where one forecast has no such option, all are compared by what they gave to "Other".
    total = np.where(standing.unlisted > 0, standing.other, standing.chance)

    is_occupied = standing.count > 0
    count = standing.count[is_occupied]
    mean = total[is_occupied] / count
    return Steps(standing.time[is_occupied], mean, _factor_without_one(count))


def _factor_without_one(count: Floats) -> Floats:
    """Return N/(N − 1), or 0 for one alone."""
    factor = count / np.maximum(count - 1, 1)
    return np.where(count > 1, factor, 0.0)
