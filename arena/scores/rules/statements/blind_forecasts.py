"""Blind against shown: what an agent says before it has seen a price, and what the price then does to it.

- Formula: with the blind probability b, the final one f and the price m of each row,
  `pull` = Σ w·(f − b)·(m − b) ÷ Σ w·(m − b)², the least-squares share of the way from b to the price that
  the answer went; `copied` is the share of rows, of those where b was off the price by more than a cent, that
  ended within half a cent of it.
  blind skill = Brier score of the price − that of b, final skill = the same with f, both on rows that were
  resolved; `gain` = their difference, what seeing the price was worth. `blind_price` is Pearson's
  correlation of b with m, `final_price` that of f. Weights w: each market the same, spread over its rows.
- Direction: higher is better for skills and gain.
- Range: skills −1 to 1; pull 0 (unmoved) to 1 (copied), beyond where answers overshoot or flee;
  correlations −1 to 1.
- Edge cases: None where nothing can be said: no rows, b on the price throughout (pull, copied), b, f or m
  without any spread (correlations), nothing resolved (skills). Only rows with both answers count.
- Limits: blind skill above 0 is its own knowledge; final skill far above it was read off the price.
- Source: ours; Yaniv and Kleinberger (2000) for the share of the way ("weight of advice").
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules import brier
from arena.scores.rules._columns import (
    Floats,
    as_floats,
    check_probabilities,
    is_scored,
    none_for_nan,
    number_labels,
    total,
)

AWAY = 0.01
AT = 0.005


@dataclass(frozen=True, slots=True)
class BlindEffect:
    """How far the answers moved, how good they were before and after, and how close to the price."""

    rows: int
    resolved: int
    pull: float | None
    copied: float | None
    blind_skill: float | None
    final_skill: float | None
    gain: float | None
    blind_price: float | None
    final_price: float | None


def blind_effect(
    before: ArrayLike, after: ArrayLike, price: ArrayLike, outcome: ArrayLike, market: ArrayLike | None = None
) -> BlindEffect:
    """Return the comparison of answers before and after the price was shown, on the same rows."""
    outcomes = as_floats(outcome)
    if not outcomes.size:
        return BlindEffect(0, 0, None, None, None, None, None, None, None)

    blind = check_probabilities(before)
    final = check_probabilities(after)
    prices = check_probabilities(price)
    market_number = number_labels(np.arange(outcomes.size) if market is None else market)
    # Each market has the same weight, spread over its rows.
    weight = 1 / np.bincount(market_number)[market_number]
    blind_score = brier.score(blind, outcomes, market_number)
    final_score = brier.score(final, outcomes, market_number)
    price_score = brier.score(prices, outcomes, market_number)

    way_to_price = prices - blind
    pulled = weight * (final - blind) * way_to_price
    pull = _share_of_total(pulled, weight * way_to_price**2)
    is_away = np.abs(blind - prices) > AWAY
    is_copied = is_away & (np.abs(final - prices) <= AT)
    copied = _share_of_total(weight[is_copied], weight[is_away])
    blind_price = _correlation(blind, prices, weight)
    final_price = _correlation(final, prices, weight)
    resolved = np.count_nonzero(is_scored(outcomes))

    return BlindEffect(
        rows=outcomes.size,
        resolved=int(resolved),
        pull=none_for_nan(pull),
        copied=none_for_nan(copied),
        blind_skill=none_for_nan(price_score - blind_score),
        final_skill=none_for_nan(price_score - final_score),
        gain=none_for_nan(blind_score - final_score),
        blind_price=none_for_nan(blind_price),
        final_price=none_for_nan(final_price),
    )


def _share_of_total(part: Floats, whole: Floats) -> float:
    """Return the share of a part in the whole; NaN if the whole is 0."""
    amount = total(whole)
    if amount <= 0:
        return math.nan
    return total(part) / amount


def _correlation(x: Floats, y: Floats, weight: Floats) -> float:
    """Return the weighted correlation of two columns; NaN if one of them is constant."""
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan

    total_weight = total(weight)
    x_deviation = x - total(weight * x) / total_weight
    y_deviation = y - total(weight * y) / total_weight
    spread = math.sqrt(total(weight * x_deviation**2) * total(weight * y_deviation**2))
    if spread <= 0:
        return math.nan

    correlation = total(weight * x_deviation * y_deviation) / spread
    return max(-1.0, min(correlation, 1.0))
