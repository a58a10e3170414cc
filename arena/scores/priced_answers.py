"""Scores of probabilities that were stated once on resolved questions, beside the price of that time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.scores.rules import brier, calibration
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.mean_interval import mean_intervals
from arena.scores.rules.reliability.reading import reading


@dataclass(frozen=True, slots=True)
class PricedAnswer:
    """A probability of YES, the price of that time, and what happened (1 is YES)."""

    probability: float
    price: float
    outcome: int


@dataclass(frozen=True, slots=True)
class PriceComparison:
    """Brier scores on the same questions, and their difference, below 0 for the better, with its interval."""

    questions: int
    brier: float
    price_brier: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PricedScores:
    """Brier scores, calibration by tenths, and the distance from the price: its mean and its 90% quantile.

    `sure` says how well it is calibrated where it is sure of a side; None for too few such questions.
    """

    brier: float
    brier_price: float
    calibration: list[calibration.Bin]
    sure: str | None
    distance: float
    distance_of_tenth: float


def score_answers(answers: Sequence[PricedAnswer]) -> PricedScores:
    """Return the scores of some answers, each on a question of its own."""
    own = [answer.probability for answer in answers]
    prices = [answer.price for answer in answers]
    outcomes = [answer.outcome for answer in answers]
    distances = np.abs(np.array(own) - np.array(prices))
    sure = reading(own, outcomes, range(len(answers)))
    return PricedScores(
        brier=brier.score(own, outcomes),
        brier_price=brier.score(prices, outcomes),
        calibration=calibration.bins(own, outcomes),
        sure=None if sure is None else sure.text,
        distance=float(distances.mean()),
        distance_of_tenth=float(np.quantile(distances, 0.9)),
    )


def compare_with_price(answers: Sequence[PricedAnswer]) -> PriceComparison | None:
    """Return how the answers do beside the price; None for too few to say anything."""
    if len(answers) < ENOUGH_EVENTS:
        return None

    outcomes = [answer.outcome for answer in answers]
    own = brier.each([answer.probability for answer in answers], outcomes)
    price = brier.each([answer.price for answer in answers], outcomes)
    rows = np.arange(len(answers))
    gap = mean_intervals(0 * rows, rows, own - price, 1)
    return PriceComparison(
        questions=len(answers),
        brier=float(own.mean()),
        price_brier=float(price.mean()),
        difference=float(gap.mean[0]),
        low=float(gap.low[0]),
        high=float(gap.high[0]),
    )
