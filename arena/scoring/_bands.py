"""Words for a score: bands with a floor each."""

import math
from bisect import bisect_right

Bands = tuple[tuple[float, str], ...]


def above(floor: float) -> float:
    """The floor of a band that leaves its own edge to the band below."""
    return math.nextafter(floor, math.inf)


def name_of(value: float, bands: Bands) -> str | None:
    """The band that a value falls in, None for NaN. Dust of floats moves nothing over an edge.

    >>> name_of(0.1 + 0.2, ((0.0, "low"), (0.3, "high"))), name_of(0.1, ((0.0, "low"), (0.3, "high")))
    ('high', 'low')
    """
    if math.isnan(value):
        return None
    place = bisect_right([floor for floor, _ in bands], round(value, 9))
    return bands[max(place - 1, 0)][1]
