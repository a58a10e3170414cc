"""Tournaments as of 2022, by relative log score, coverage and a hidden period.

- Formula: a question's score is the integral of ln f − ln m over the time that the forecast stood, divided by
  the planned life; f is what the forecast gives to what happened, m the plain median of what all who stand
  give to it, the forecaster's own in it. Its coverage is the share of the planned life for which a forecast
  stood; with a hidden period of weight w, w times the share of the hidden time plus 1 − w times that of the
  rest. Tournament score = Σ question scores, tournament coverage = mean of question coverages, take = e^score
  · coverage, prize = pool · take / Σ takes.
- Direction: higher is better; a score of 0 is the median's.
- Range: takes from 0 upward; coverage from 0 to 1.
- Edge cases: while nothing of one's own stands, late, withdrawn or never there, one is taken to say the
  median: score 0, coverage 0. After an early close everything is 0 and still counts as time, hidden
  time too. Without coverage there is no prize, whatever the score. A score above 700 gets the take of
  700, and its own share.
- Source: seed 001, and seed 000 for the hidden period's weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from arena.scores.rules._columns import Floats
from arena.scores.rules.metaculus._timeline import integrate, scored_spans
from arena.scores.rules.metaculus.community import median
from arena.scores.rules.metaculus.forecasts import Forecasts, ForecastScores, MetaculusQuestion, Totals
from arena.scores.rules.metaculus.tournament import (
    TournamentBoard,
    prize_shares,
    rank_board,
    sum_by_forecaster,
)

TITLE = "Tournament of 2022"
DIRECTION = "higher"
LARGEST = 700.0
"""The score up to which takes are told apart: floats end soon after e to this power."""


@dataclass(frozen=True, slots=True)
class HiddenPeriod:
    """When the median stops being hidden, and the weight of that time in coverage; by length if None."""

    until: float
    weight: float | None = None


def score(
    question: MetaculusQuestion, forecasts: Forecasts, hidden: HiddenPeriod | None = None
) -> ForecastScores:
    """Return each forecast's part of the question's score and coverage."""
    low, high = scored_spans(question, forecasts, "exact")
    weight, level = integrate(question, median(forecasts), low, high)
    values = np.log(forecasts.chance) * weight - level
    covered = weighted_coverage(question, low, high, hidden)
    return ForecastScores("exact", values, covered, weight)


def weighted_coverage(
    question: MetaculusQuestion, low: Floats, high: Floats, hidden: HiddenPeriod | None
) -> Floats:
    """Return the share of the question's lifetime that each span covers, weighted."""
    if hidden is None or hidden.weight is None:
        return (high - low) / question.life

    until = float(np.clip(hidden.until, question.opens, question.scheduled))
    periods = [
        (question.opens, until, hidden.weight),
        (until, question.scheduled, 1 - hidden.weight),
    ]
    covered = np.zeros(low.size)
    for period_start, period_end, weight in periods:
        if period_end > period_start:
            inside = np.minimum(high, period_end) - np.maximum(low, period_start)
            inside = np.maximum(inside, 0.0)
            covered += weight * inside / (period_end - period_start)
    return covered


def board(questions: Sequence[Totals], pool: float = 0.0) -> TournamentBoard:
    """Return the board of a tournament from the scores of its questions, the greatest take first."""
    sums = sum_by_forecaster(questions, np.ones(len(questions)))
    sums = replace(sums, coverage=sums.coverage / max(len(questions), 1))
    take = np.exp(np.minimum(sums.score, LARGEST)) * sums.coverage

    # Shares are the same of takes that are all divided by the largest e^score.
    relative_takes = np.exp(sums.score - sums.score.max(initial=0.0)) * sums.coverage
    return rank_board(questions, sums, take, prize_shares(relative_takes), pool, take, ())
