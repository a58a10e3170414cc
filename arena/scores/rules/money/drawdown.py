"""Drawdown: an account's deepest fall from its highest point so far.

- Formula: for the values V₀ (the bankroll), V₁, V₂ … at the marks, drawdown = max over t of
  (max over s ≤ t of V_s − V_t) ÷ max over s ≤ t of V_s.
- Direction: lower is better.
- Range: 0 (it never fell) to 1 (all was lost); above only while a correction has taken cash below 0.
- Edge cases: no mark gives None. Of equally deep falls the first counts.
- Limits: compare only seasons of one length.
- Source: common practice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Drawdown:
    """The deepest fall: as a share of the peak, in money, and the indices of peak and trough."""

    share: float
    amount: int
    peak: int
    trough: int


def drawdown(values: Sequence[int]) -> Drawdown | None:
    """Return the deepest fall in the values of an account, bankroll first."""
    if len(values) < 2:
        return None

    column = np.array(values, dtype=np.int64)
    peaks = np.maximum.accumulate(column)
    falls = (peaks - column) / np.maximum(peaks, 1)
    trough = int(falls.argmax())
    # The peak that the fall is measured from is the highest value up to the trough.
    peak = int(column[: trough + 1].argmax())
    amount = int(column[peak] - column[trough])
    return Drawdown(float(falls[trough]), amount, peak, trough)
