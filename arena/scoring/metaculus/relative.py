"""Relative score (legacy): against the median of the others.

- Formula: at an instant, log2 p − log2 m, where p is what a forecast gives to what happened and m the
  median of what all other standing forecasts of the base give to it; with an even number of others the
  mean of the middle two. The score of a question is the integral over the time that the forecast
  stood, over the planned life.
- Direction: higher is better; 0 is as good as the median.
- Range: yes/no ±9.96 within the site's limits.
- Edge cases: an instant at which nobody else's forecast stands adds 0; who was alone all the time has no
  score (NaN) in `exact`.
- Mode `metaculus` departs from this: m is the community's forecast, the median weighted by recency
  (see `community`) with the forecaster's own in it; it is averaged over the time until the real close,
  so that nothing is lost by an early one; and when the last forecast is withdrawn the last median stays.
- Source: seed 000, "What is the Relative score?"; the site's code for the second mode. Tournaments of
  2022 use a third form, ln p − ln m with the forecaster in the median: see `tournament_2022`.
"""

import numpy as np

from arena.scoring._columns import Floats
from arena.scoring.metaculus._steps import Steps, clipped, stepped
from arena.scoring.metaculus._tables import Counts, Piece, instants, pieces, ranked
from arena.scoring.metaculus.community import recency_weighted
from arena.scoring.metaculus.forecasts import Forecasts
from arena.scoring.metaculus.question import Mode, Question, Scores, nothing

TITLE = "Relative score"
DIRECTION = "higher"


def score(
    question: Question, forecasts: Forecasts, mode: Mode = "exact", history: Steps | None = None
) -> Scores:
    """The time-averaged score of each forecast; in `metaculus` against a `history` other than its own.

    >>> from arena.scoring.metaculus.kinds import binary
    >>> two = binary(["a", "b"], [0, 0], [0.8, 0.4], outcome=True)
    >>> score(Question(0, 4, 4), two).score
    array([ 1., -1.])
    """
    if not forecasts.start.size:
        return nothing(0, mode)
    if mode == "exact":
        return _exact(question, forecasts)
    return _site(question, forecasts, recency_weighted(forecasts) if history is None else history)


def _site(question: Question, forecasts: Forecasts, history: Steps) -> Scores:
    low, high = clipped(question, forecasts, "metaculus")
    kept = history.weight > 0
    steps = Steps(history.time[kept], history.level[kept], history.weight[kept])
    life = question.closes - question.opens
    if life <= 0:
        return nothing(forecasts.start.size, "metaculus")
    weight, level, share = stepped(question, steps, low, high, life)
    found = (np.log(forecasts.chance) * weight - level) / np.log(2)
    return Scores("metaculus", found, share, share)


def _exact(question: Question, forecasts: Forecasts) -> Scores:
    low, high = clipped(question, forecasts, "exact")
    times = instants(forecasts)
    edges = np.clip(np.append(times, np.inf), question.opens, question.ends("exact"))
    length = np.diff(edges) / question.life
    total, compared = np.zeros(low.size), np.zeros(low.size)
    for piece in pieces(forecasts, times):
        gap = np.log(forecasts.chance) - np.log(others(forecasts, piece))
        known = ~np.isnan(gap)
        # not as a product of matrices, whose sums depend on the order of the columns
        during = length[piece.rows, None]
        total += (during * np.where(known, gap, 0.0)).sum(axis=0)
        compared += (during * known).sum(axis=0)
    return Scores("exact", total / np.log(2), (high - low) / question.life, compared)


def others(forecasts: Forecasts, piece: Piece) -> Floats:
    """For each instant and forecast the median of all others of the base; NaN where there is none.

    Among the ranked values of the base, whoever stands above one's own place moves down by one.
    """
    packed, count = ranked(forecasts.chance[forecasts.base], piece.stands[:, forecasts.base])
    packed = np.column_stack([packed, np.full(len(packed), np.nan)])
    order = np.lexsort((np.arange(forecasts.start.size), forecasts.chance))
    among = piece.stands & forecasts.base
    place = np.empty(among.shape, dtype=np.intp)
    place[:, order] = np.cumsum(among[:, order], axis=1) - 1
    rest = count[:, None] - among
    own = np.where(among, place, packed.shape[1])

    def at(rank: Counts) -> Floats:
        rank = np.clip(rank, 0, None)
        return np.take_along_axis(packed, rank + (rank >= own), axis=1)

    found = (at((rest - 1) // 2) + at(rest // 2)) / 2
    return np.where(piece.stands & (rest > 0), found, np.nan)
