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
    """An interval from `low` to `high`; NaN if undefined."""

    low: float
    high: float


def intervals(signed: SignedSums, wanted: Sequence[bool]) -> list[Interval]:
    """Return the 95% interval of each mean that is wanted; NaN for the others, and without a market."""
    low = np.full(len(wanted), nan)
    high = np.full(len(wanted), nan)
    is_wanted = np.array(wanted, dtype=np.bool_)

    if is_wanted.any():
        wanted_sums = select_columns(signed, is_wanted)
        # Without a market this is 0 / 0.
        with np.errstate(invalid="ignore"):
            low[is_wanted] = _accepted_ends(wanted_sums, -1.0)
            high[is_wanted] = _accepted_ends(wanted_sums, 1.0)

    ends = zip(low.tolist(), high.tolist(), strict=True)
    return [Interval(*end) for end in ends]


def _accepted_ends(signed: SignedSums, sign: float) -> Floats:
    """Return the last value on one side of each mean that isn't rejected."""
    plain = signed.plain
    middle = plain.s / plain.n
    step = sign * 4 * np.sqrt(plain.v) / plain.n
    outside = middle + step

    # Move out until the value is rejected, or too large for a mean.
    while True:
        is_accepted = p_at(outside, signed) > LEVEL
        is_narrow = is_accepted & (np.abs(outside) < 2) & (step != 0)
        if not is_narrow.any():
            break
        step = np.where(is_narrow, 2 * step, step)
        outside = middle + step

    inside = middle
    # Then halve between the last accepted and the first rejected value.
    for _ in range(HALVINGS):
        between = (inside + outside) / 2
        is_accepted = p_at(between, signed) > LEVEL
        inside = np.where(is_accepted, between, inside)
        outside = np.where(is_accepted, outside, between)

    return np.clip(inside, -1.0, 1.0)
