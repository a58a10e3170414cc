"""Events still needed: how long until a gap of this size could be told from chance.

- Formula: a gap d with standard error e over G* effective events has a spread of σ² = e²·G*. A test at 5%
  finds it with probability P from G*₁ = ((z₀.₉₇₅ + z_P) / d)²·σ² + z₀.₉₇₅² / 2 effective events on, the
  last term for t being wider than the normal distribution. With events as uneven as so far these are G*₁ ·
  G / G* events, less those there are, rounded up.
- Direction: lower is sooner.
- Range: 0 (enough) upward.
- Edge cases: a gap of 0, or one without an error, gives None: it will never be told, or nothing is known of
  it. P is 80% unless said otherwise.
- Limits: a leader's observed gap is likely too large, so the answer is a lower bound.
- Source: Cohen (1988), with Guenther's (1981) correction.
"""

from math import ceil
from statistics import NormalDist

CHANCE = 0.8
"""How surely a gap is to be found."""

Z = NormalDist().inv_cdf


def required_events(gap: float, error: float, effective: float, chance: float = CHANCE) -> float | None:
    """The effective events from which on a gap is found with that chance.

    >>> round(required_events(0.02, 0.01, 50.0), 1)
    100.0
    """
    if not gap or not error > 0 or not effective > 0:
        return None
    reach = (Z(0.975) + Z(chance)) / gap
    return reach * reach * error * error * effective + Z(0.975) ** 2 / 2


def missing_events(
    gap: float, error: float, effective: float, events: int, chance: float = CHANCE
) -> int | None:
    """How many more events, as uneven as those so far.

    >>> missing_events(0.02, 0.01, 50.0, 60)
    61
    """
    whole = required_events(gap, error, effective, chance)
    return None if whole is None else max(ceil(whole * events / effective - events), 0)
