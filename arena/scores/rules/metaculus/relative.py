"""Relative score (legacy): against the median of the others.

- Formula: at an instant, log2 p − log2 m, where p is what a forecast gives to what happened and m the median
  of what all other standing forecasts of the base give to it; with an even number of others the mean of the
  middle two.
- Direction: higher is better; 0 is as good as the median.
- Range: yes/no ±9.96 within the site's limits.
- Edge cases: an instant at which nobody else's forecast stands adds 0; who was alone all the time has no
  score (NaN) in `exact`.
- Mode `metaculus` departs from this: m is the community's forecast, the median weighted by recency
  (see `community`) with the forecaster's own in it; it is averaged over the time until the real close,
  so that nothing is lost by an early one; and when the last forecast is withdrawn the last median stays.
- Source: seed 000, "What is the Relative score?"; the site's code. Tournaments of 2022 use a third form,
  ln p − ln m with the forecaster in the median: see `tournament_2022`.
"""

import numpy as np

from arena.scores.rules._columns import Floats
from arena.scores.rules.metaculus._timeline import (
    Steps,
    TablePiece,
    instants,
    integrate_by_step,
    medians_of_others,
    pieces,
    scored_spans,
    sorted_standing,
)
from arena.scores.rules.metaculus.community import recency_weighted
from arena.scores.rules.metaculus.forecasts import (
    Forecasts,
    ForecastScores,
    MetaculusQuestion,
    Mode,
    no_scores,
)

TITLE = "Relative score"
DIRECTION = "higher"


def score(
    question: MetaculusQuestion, forecasts: Forecasts, mode: Mode = "exact", history: Steps | None = None
) -> ForecastScores:
    """Return the time-averaged score of each forecast; in `metaculus` against a `history` if one is given."""
    if not forecasts.start.size:
        return no_scores(0, mode)
    if mode == "exact":
        return _score_by_text(question, forecasts)

    if history is None:
        history = recency_weighted(forecasts)
    return _score_by_site_code(question, forecasts, history)


def _score_by_site_code(question: MetaculusQuestion, forecasts: Forecasts, history: Steps) -> ForecastScores:
    """Return the scores by the site's code."""
    life = question.closes - question.opens
    if life <= 0:
        return no_scores(forecasts.start.size, "metaculus")

    low, high = scored_spans(question, forecasts, "metaculus")
    present = history.weight > 0
    steps = Steps(history.time[present], history.level[present], history.weight[present])
    weight, level, share = integrate_by_step(question, steps, low, high, life)
    gained = np.log(forecasts.chance) * weight - level
    return ForecastScores("metaculus", gained / np.log(2), share, share)


def _score_by_text(question: MetaculusQuestion, forecasts: Forecasts) -> ForecastScores:
    """Return the scores by the site's text."""
    low, high = scored_spans(question, forecasts, "exact")
    times = instants(forecasts)
    edges = np.append(times, np.inf)
    edges = np.clip(edges, question.opens, question.ends("exact"))
    length = np.diff(edges) / question.life

    logs = np.log(forecasts.chance)
    total = np.zeros(low.size)
    compared = np.zeros(low.size)
    for piece in pieces(forecasts, times):
        gap = logs - np.log(medians_of_other_forecasts(forecasts, piece))
        present = ~np.isnan(gap)

        # A matrix product would sum in an order that depends on the columns.
        during = length[piece.rows, None]
        gained = during * np.where(present, gap, 0.0)
        total += gained.sum(axis=0)
        compared += (during * present).sum(axis=0)

    coverage = (high - low) / question.life
    return ForecastScores("exact", total / np.log(2), coverage, compared)


def medians_of_other_forecasts(forecasts: Forecasts, piece: TablePiece) -> Floats:
    """Return for each instant and forecast the median of all others of the base; NaN where there is none."""
    base = forecasts.base
    chance = forecasts.chance
    stands = piece.stands
    packed, _ = sorted_standing(chance[base], stands[:, base])
    order = np.argsort(chance, kind="stable")

    is_standing_base = stands & base
    rank = np.empty(is_standing_base.shape, dtype=np.intp)
    # The rank of each forecast among those of the base that stand at the same instant.
    rank[:, order] = np.cumsum(is_standing_base[:, order], axis=1) - 1
    medians = medians_of_others(packed, rank, is_standing_base)
    return np.where(stands, medians, np.nan)
