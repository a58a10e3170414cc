"""The interval of a mean over markets: every value that the wild event bootstrap-t does not refuse.

- Formula: every m₀ with p > 0.05 in `wild_bootstrap`; the ends are found by bisection, with the same coins
  for every m₀.
- Direction: narrower is better known.
- Range: −1 to 1.
- Edge cases: values that are all the same give an interval of no length; no market gives NaN. It need not be
  as long on both sides of the mean.
- Source: test inversion, as by Davidson and MacKinnon. docs/evidence.md shows its coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from arena.scores.rules._columns import Floats
from arena.scores.rules.comparisons.wild_bootstrap import LEVEL, SignedSums, p_at, select_columns

HALVINGS = 30


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`; NaN where nothing can be said."""

    low: float
    high: float


def intervals(signed: SignedSums, wanted: Sequence[bool]) -> list[Interval]:
    """The 95% interval of each mean that is wanted; NaN of the others, and without a market."""
    low, high = np.full((2, len(wanted)), nan)
    which = np.array(wanted, dtype=np.bool_)
    if which.any():
        part = select_columns(signed, which)
        with np.errstate(invalid="ignore"):
            low[which], high[which] = _end(part, -1.0), _end(part, 1.0)
    return [Interval(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _end(signed: SignedSums, side: float) -> Floats:
    """The last value on one side of the mean that is held."""
    middle = signed.plain.s / signed.plain.n
    step = side * 4 * np.sqrt(signed.plain.v) / signed.plain.n
    inside, outside = middle, middle + step
    while (wide := (p_at(outside, signed) > LEVEL) & (np.abs(outside) < 2) & (step != 0)).any():
        step = np.where(wide, 2 * step, step)
        outside = middle + step
    for _ in range(HALVINGS):
        between = (inside + outside) / 2
        accepted = p_at(between, signed) > LEVEL
        inside, outside = np.where(accepted, between, inside), np.where(accepted, outside, between)
    return np.clip(inside, -1.0, 1.0)
