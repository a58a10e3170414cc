"""The limits within which Metaculus lets people forecast, and we score.

- Formula: a probability is cut to [0.1%, 99.9%]; with several options so is each of them. A density,
  in units in which the question's range is 1 wide, has 0.01 added to it everywhere and is then scaled
  so that it still holds as much as before. Of a number given by quantiles at least 0.1% lies beyond each open
  end of the range, and 1% inside it.
- Direction: none.
- Range: a binary baseline score from −897 to +99.9, a peer score from −691 to +691.
- Edge cases: densities sharper than about 35 can't be entered on the site; we don't cut them. NaN, an
  option that did not exist yet, stays NaN.
- Source: seed 000, "What is the Baseline score?" and "What is the log score for continuous questions?".
"""

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats

LOWEST = 0.001
HIGHEST = 0.999
FLOOR = 0.01
LEAST_OUTSIDE = 0.001
"""The least that the site takes beyond an open end of a range."""


def clip(probability: ArrayLike) -> Floats:
    """Return probabilities clipped as the site would.

    >>> clip([0.0, 0.5, 1.0])
    array([0.001, 0.5  , 0.999])
    """
    return np.clip(np.asarray(probability, dtype=np.float64), LOWEST, HIGHEST)


def with_floor(cdf: ArrayLike, open_low: bool = False, open_high: bool = False) -> Floats:
    """Return cumulative probabilities with a flat density of 0.01 mixed in.

    What lies outside stays outside, but beyond an open end and inside there is at least the site's minimum.

    >>> with_floor([0.0, 0.0, 1.0]).round(6)
    array([0.      , 0.00495, 1.      ])
    >>> with_floor([0.0, 0.0, 0.0], open_high=True).round(6)
    array([0.   , 0.005, 0.01 ])
    """
    values = np.asarray(cdf, dtype=np.float64)
    at_low_end = values[..., :1]
    at_high_end = values[..., -1:]
    evenly = np.linspace(0.0, 1.0, values.shape[-1])
    mixed = values - at_low_end + FLOOR * evenly
    inside_shape = mixed / (at_high_end - at_low_end + FLOOR)

    below = np.maximum(at_low_end, LEAST_OUTSIDE * open_low)
    above = np.maximum(1 - at_high_end, LEAST_OUTSIDE * open_high)
    outside = below + above

    # What lies outside is scaled down if less than 1% were left inside the range.
    outside_scale = (1 - FLOOR) / np.maximum(outside, 1 - FLOOR)

    inside = 1 - outside_scale * outside
    floored: Floats = outside_scale * below + inside * inside_shape
    return floored
