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
    check_probabilities,
    is_scored,
    none_for_nan,
    number_labels,
)

AWAY, AT = 0.01, 0.005


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
    """Answers before and after the price was shown, on the same rows."""
    o = np.atleast_1d(np.asarray(outcome, dtype=np.float64))
    b, f, m = (check_probabilities(column) if o.size else np.empty(0) for column in (before, after, price))
    number = number_labels(np.arange(o.size) if market is None else market)
    weight = 1 / np.bincount(number)[number] if o.size else b
    away = np.abs(b - m) > AWAY
    own, last, them = (brier.score(column, o, number) if o.size else math.nan for column in (b, f, m))
    return BlindEffect(
        rows=o.size,
        resolved=int(np.count_nonzero(is_scored(o))) if o.size else 0,
        pull=none_for_nan(_share(weight * (f - b) * (m - b), weight * (m - b) ** 2)),
        copied=none_for_nan(_share(weight[away & (np.abs(f - m) <= AT)], weight[away])),
        blind_skill=none_for_nan(them - own),
        final_skill=none_for_nan(them - last),
        gain=none_for_nan(own - last),
        blind_price=none_for_nan(_correlation(b, m, weight)),
        final_price=none_for_nan(_correlation(f, m, weight)),
    )


def _share(part: Floats, whole: Floats) -> float:
    total = _sum(whole)
    return _sum(part) / total if total > 0 else math.nan


def _correlation(x: Floats, y: Floats, weight: Floats) -> float:
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    total = _sum(weight)
    dx, dy = x - _sum(weight * x) / total, y - _sum(weight * y) / total
    spread = math.sqrt(_sum(weight * dx**2) * _sum(weight * dy**2))
    return max(-1.0, min(_sum(weight * dx * dy) / spread, 1.0)) if spread > 0 else math.nan


def _sum(column: Floats) -> float:
    return math.fsum(column.tolist())
