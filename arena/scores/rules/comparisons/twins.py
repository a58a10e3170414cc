"""Twins: what lies between two agents with the same settings is noise.

- Formula: for each pair of twins the gap g of their duel; the floor is √(mean g²), the widest is max |g|.
- Direction: lower is better.
- Range: 0 to 1.
- Edge cases: twins without a common resolved row are left out; without any pair there is no floor (None).
- Limits: a gap below the widest may be luck, whatever its p-value.
- Source: ours.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import fsum, sqrt

from arena.scores.rules.comparisons.duel import gap_between
from arena.scores.rules.comparisons.season_rows import SeasonForecasts


@dataclass(frozen=True, slots=True)
class TwinNoise:
    """How far apart twins lie: the number of pairs, their typical gap, and the widest."""

    pairs: int
    typical: float
    widest: float


def typical_noise(gaps: Iterable[float | None]) -> TwinNoise | None:
    """Return the noise floor from gaps between twins; None without any.

    >>> typical_noise([0.003, -0.004, None])
    TwinNoise(pairs=2, typical=0.0035355339059327377, widest=0.004)
    """
    sizes = [abs(gap) for gap in gaps if gap is not None]
    if not sizes:
        return None
    squares = fsum(size * size for size in sizes)
    return TwinNoise(len(sizes), sqrt(squares / len(sizes)), max(sizes))


def twin_noise(season: SeasonForecasts, families: Iterable[Iterable[str]]) -> TwinNoise | None:
    """Return the noise floor of a season; each family holds agents with the same settings.

    An agent without an answer is in no pair.
    """
    gaps: list[float | None] = []
    for family in families:
        present = [name for name in family if name in season.agents]
        gaps += (gap_between(season, a, b) for a, b in combinations(present, 2))
    return typical_noise(gaps)
