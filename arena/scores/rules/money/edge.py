"""Proven edge: of every cent that an agent says a price is off, how much was really there?

- Formula: with the stated probability b, the mid m and the outcome o of each row, share = Σ w·(b − m)·(o
  − m) ÷ Σ w·(b − m)², the slope of what came against what was claimed; w gives each market the same
  weight, spread over its rows. `error` is its standard error with events as clusters, √(Σ over events of
  (Σ w·(b − m)·(o − m − share·(b − m)))²) ÷ Σ w·(b − m)². `edge_elsewhere` gives each event the share from
  all others, so its own luck can't pass for proof.
- Direction: higher is better: 1 keeps its word, 0 equals the price.
- Range: any; above 1 an agent is too timid.
- Edge cases: rows without an outcome of 0 or 1 prove nothing. Where no row is off the price the share is
  NaN; an event that has no other to go by gets 0: nothing is proven yet.
- Limits: a guess with few events.
- Source: the forecast-encompassing regression of Chong and Hendry (1986) with the price as the rival;
  Liang and Zeger (1986) for cluster errors.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import (
    Floats,
    Places,
    as_floats,
    check_probabilities,
    is_scored,
    number_labels,
)


@dataclass(frozen=True, slots=True)
class ProvenEdge:
    """The share of claimed edges that was real, its standard error, and the number of events."""

    share: float
    error: float
    events: int


def proven_edge(
    belief: ArrayLike, mid: ArrayLike, outcome: ArrayLike, event: ArrayLike, market: ArrayLike | None = None
) -> ProvenEdge:
    """Return the share over all events."""
    claimed, real, _ = _claimed_and_real_by_event(belief, mid, outcome, event, market)
    total_claimed = float(claimed.sum())
    if not total_claimed:
        return ProvenEdge(math.nan, math.nan, 0)

    share = float(real.sum()) / total_claimed
    deviation = real - share * claimed
    error = math.sqrt(float(deviation @ deviation)) / total_claimed
    return ProvenEdge(share, error, int(np.count_nonzero(claimed)))


def edge_elsewhere(
    belief: ArrayLike, mid: ArrayLike, outcome: ArrayLike, event: ArrayLike, market: ArrayLike | None = None
) -> dict[str, float]:
    """Return for each event the share that all others prove."""
    claimed, real, labels = _claimed_and_real_by_event(belief, mid, outcome, event, market)
    total_claimed = claimed.sum()
    claimed_elsewhere = total_claimed - claimed
    real_elsewhere = real.sum() - real

    # What remains of a sum after subtracting all of it is a rounding error.
    is_proven = claimed_elsewhere > 1e-9 * total_claimed
    zero = np.zeros(claimed.size)
    shares = np.divide(real_elsewhere, claimed_elsewhere, out=zero, where=is_proven)
    return dict(zip(labels, shares.tolist(), strict=True))


def _claimed_and_real_by_event(
    belief: ArrayLike, mid: ArrayLike, outcome: ArrayLike, event: ArrayLike, market: ArrayLike | None
) -> tuple[Floats, Floats, list[str]]:
    """Return Σ w·(b − m)² and Σ w·(b − m)·(o − m) by event, and the events' labels."""
    outcomes = as_floats(outcome)
    if not outcomes.size:
        return outcomes, outcomes, []

    beliefs = check_probabilities(belief)
    mids = check_probabilities(mid)
    names, event_number = np.unique(np.atleast_1d(np.asarray(event)).astype(str), return_inverse=True)
    market_number: Places = number_labels(np.arange(outcomes.size) if market is None else market)

    scored = is_scored(outcomes)
    market_rows = np.bincount(market_number, weights=scored)[market_number]
    weight = np.where(scored, 1 / np.maximum(market_rows, 1), 0.0)
    claimed_gap = beliefs - mids
    # A row without an outcome proves nothing: its price is taken to be right.
    real_gap = np.where(scored, outcomes, mids) - mids

    # Rows are sorted, so that their former order changes no digit.
    order = np.lexsort((real_gap, claimed_gap, weight))
    event_number = event_number[order]
    claimed_of_row = weight * claimed_gap**2
    real_of_row = weight * claimed_gap * real_gap
    claimed = np.bincount(event_number, weights=claimed_of_row[order]).astype(np.float64)
    real = np.bincount(event_number, weights=real_of_row[order]).astype(np.float64)
    return claimed, real, names.tolist()
