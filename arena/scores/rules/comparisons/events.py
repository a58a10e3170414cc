"""Events: how many events' worth of information a mean over markets rests on.

- Formula: let prices be true and one u, uniform from 0 to 1, decide a whole event: a market ends YES
  where u is below its price. If the number that end YES has variance σ²_g and fourth central moment μ₄_g,
  the effective number of events is G* = (Σ σ²_g)² / Σ μ₄_g. Only markets count on which the compared
  forecasts lie more than half a cent apart. Values are averaged within each market first.
- Direction: higher is more information.
- Range: 0 to the number of events, reached by equal coin flips.
- Edge cases: twenty events at 50 cents count 20, twenty long shots at 3 cents 0.6; an event on which an agent
  repeats the price counts nothing, and where it repeats every price all count. Below 20 nothing is inferred
  from a mean: no interval, no p-value, and the reason "not enough events" in their place.
- Source: ours; for equal coin flips it is Kish's (1965) effective sample size, N² / Σ n².
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Floats, runs

Ints = NDArray[np.int64]

NEAR = 0.005 + 1e-9
"""Probabilities that lie no further apart say the same: half a cent."""
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


def market_means(market: Ints, *values: Floats) -> tuple[Ints, list[Floats]]:
    """The markets of rows that come sorted by market, and the mean of each value within them."""
    starts, lengths = runs(market)
    if not starts.size:
        return market, [np.zeros(0) for _ in values]
    return market[starts], [np.add.reduceat(value, starts) / lengths for value in values]


def sum_by_event(value: Floats, market: Ints, event_of: Ints, events: int) -> EventSums:
    """Values by event. Rows come sorted by market, and `event_of` says to which event each market belongs."""
    markets, (means,) = market_means(market, value)
    place = event_of[markets]
    total = np.bincount(place, means, minlength=events).astype(np.float64, copy=False)
    return EventSums(total, np.bincount(place, minlength=events).astype(np.float64))


def effective_events(apart: Floats, price: Floats, market: Ints, event_of: Ints) -> float:
    """G* of rows that come sorted by market; `apart` is how far apart the two lie that are compared."""
    if not market.size:
        return 0.0
    markets, (differs, prices) = market_means(market, (np.abs(apart) > NEAR).astype(np.float64), price)
    counted = differs > 0 if differs.any() else np.ones_like(differs, dtype=np.bool_)
    p, event = prices[counted], event_of[markets[counted]]
    order = np.lexsort((p, event))
    p, event = p[order], event[order]
    _, first, place = np.unique(event, return_index=True, return_inverse=True)
    ends = np.append(first[1:], event.size) - 1
    # where the coin falls between a market's price and the one below it, this market and those above end YES
    yes = ends[place] - np.arange(event.size) + 1
    width = np.diff(p, prepend=0.0)
    width[first] = p[first]
    middle, none = np.bincount(place, p), 1 - p[ends]
    off = yes - middle[place]
    variance = np.bincount(place, width * off**2) + none * middle**2
    fourth = np.bincount(place, width * off**4) + none * middle**4
    whole = float(fourth.sum())
    return float(variance.sum()) ** 2 / whole if whole else 0.0
