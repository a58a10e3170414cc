"""Effective events: how many separate stories a mean over markets rests on.

- Formula: G* = N² / Σ n_g², where event g has n_g markets and N = Σ n_g. Values are averaged within each
  market first, so that a long-lived market counts once; an event's total is the sum over its markets.
- Direction: higher is better: the more events, the less one surprise moves the mean.
- Range: 1 to the number of events, which it reaches when all have as many markets.
- Edge cases: no market gives 0. Below 20 nothing is inferred from a mean: no interval, no p-value, and the
  reason "not enough events" in their place.
- Source: Kish (1965), the effective size of a sample with unequal weights; markets of one event move
  together, so the event is what is drawn, and not the market.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Floats

Ints = NDArray[np.int64]

ENOUGH_EVENTS = 20.0
"""Effective events from which on something is inferred."""


@dataclass(frozen=True, slots=True)
class EventSums:
    """A value averaged within markets: its sum over each event's markets, and how many these are."""

    total: Floats
    count: Floats

    @property
    def mean(self) -> float:
        """The mean over all markets, NaN without one."""
        markets = float(self.count.sum())
        return float(self.total.sum()) / markets if markets else float("nan")


def effective_events(count: Floats) -> float:
    """G* of these numbers of markets.

    >>> even, uneven = np.array([5.0, 5.0, 5.0, 5.0]), np.array([17.0, 1.0, 1.0, 1.0])
    >>> effective_events(even), round(effective_events(uneven), 2)
    (4.0, 1.37)
    """
    squares = float(count @ count)
    return float(count.sum()) ** 2 / squares if squares else 0.0


def sum_by_event(value: Floats, market: Ints, event_of: Ints, events: int) -> EventSums:
    """Values by event. Rows come sorted by market, and `event_of` says to which event each market belongs.

    >>> sum_by_event(np.array([0.1, 0.3, 0.5]), np.array([0, 0, 1]), np.array([0, 0]), 2)
    EventSums(total=array([0.7, 0. ]), count=array([2., 0.]))
    """
    if not value.size:
        return EventSums(np.zeros(events), np.zeros(events))
    starts = np.flatnonzero(np.diff(market, prepend=-1))
    lengths = np.diff(starts, append=market.size)
    means: Floats = np.add.reduceat(value, starts) / lengths
    place = event_of[market[starts]]
    total = np.bincount(place, means, minlength=events).astype(np.float64, copy=False)
    return EventSums(total, np.bincount(place, minlength=events).astype(np.float64))
