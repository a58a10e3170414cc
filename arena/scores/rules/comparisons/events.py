"""Events: how many events' worth of information a mean over markets rests on, and whether that is enough.

- Formula: let prices be true and one u, uniform from 0 to 1, decide a whole event: a market ends YES
  where u is below its price. If the number that end YES has variance σ²_g and fourth central moment μ₄_g,
  the effective number of events is G* = (Σ σ²_g)² / Σ μ₄_g. With n_g markets in event g, they count as K =
  (Σ n_g)² / Σ n_g² events of equal size. Of markets at price p on which the compared forecasts lie w apart,
  S = (Σ w²p(1 − p))³ / (Σ w³p(1 − p)(1 − 2p))², 1 over the square of their sum's skewness. An interval takes
  K of 20, G* of 10 and S of 20. Only markets count on which the forecasts lie more than half a cent apart.
  Values are averaged within each market first.
- Direction: higher is more information.
- Range: G* and K 0 to the number of events, reached by equal coin flips; S from 0 up.
- Edge cases: twenty events at 50 cents have a G* of 20, twenty long shots at 3 cents of 0.6; an event on
  which an agent repeats the price counts nothing, and where it repeats every price all count. Where one of
  the three is missing there is a reason in place of interval and p-value, which says how many more it takes.
- Source: ours; Kish (1965) for K.
"""

from dataclasses import dataclass
from math import ceil, inf, nan

import numpy as np
from numpy.typing import NDArray

from arena.errors import count_text
from arena.scores.rules._columns import Floats, runs

Ints = NDArray[np.int64]

NEAR = 0.005 + 1e-9
"""Probabilities that lie no further apart say the same: half a cent."""
ENOUGH_EVENTS = 20.0
"""The fewest events of equal size for an inference."""
ENOUGH_EFFECTIVE = 10.0
"""The fewest effective events for an inference."""
ENOUGH_SYMMETRY = 20.0
"""1 over the square of the largest skewness for an inference."""
NOTHING = 1e-9
"""The tolerance for rounding errors."""


@dataclass(frozen=True, slots=True)
class EventSums:
    """A value averaged within markets: its sum over each event's markets, and their number."""

    total: Floats
    count: Floats

    @property
    def mean(self) -> float:
        """Return the mean over all markets; NaN without one."""
        markets = float(self.count.sum())
        if not markets:
            return nan
        return float(self.total.sum()) / markets


def market_means(market: Ints, *values: Floats) -> tuple[Ints, list[Floats]]:
    """Return the markets of rows sorted by market, and the mean of each value within them."""
    starts, lengths = runs(market)
    means = []

    for value in values:
        # `reduceat` rejects an empty list of starts.
        totals = np.add.reduceat(value, starts) if starts.size else value
        means.append(totals / lengths)

    return market[starts], means


def sum_by_event(value: Floats, market: Ints, event_of: Ints, events: int) -> EventSums:
    """Return values by event, for rows sorted by market.

    `event_of` is the event of each market.
    """
    markets, (means,) = market_means(market, value)
    place = event_of[markets]
    total = np.bincount(place, means, minlength=events)
    count = np.bincount(place, minlength=events)

    return EventSums(total.astype(np.float64, copy=False), count.astype(np.float64))


@dataclass(frozen=True, slots=True)
class Information:
    """The information behind a mean: its events, their effective number, and what prices leave open.

    `symmetry` is 1 over the square of the mean's skewness if prices are true.
    """

    events: int = 0
    equal: float = 0.0
    effective: float = 0.0
    symmetry: float = 0.0

    @property
    def is_enough(self) -> bool:
        """Tell whether an interval holds its level."""
        return self.missing is None

    @property
    def missing(self) -> str | None:
        """Return what is missing for an interval, and how many more events of this kind it takes.

        >>> Information(12, 12.0, 12.0, 50.0).missing
        '12 events so far; an interval takes about 8 more'
        >>> Information(60, 60.0, 4.0, 40.0).missing
        '60 events so far that tell little (4.0 coin tosses of 10); an interval takes about 90 more'
        """
        so_far = f"{count_text(self.events, 'event')} so far"
        coin_tosses = f"{self.effective:.1f} coin tosses of {ENOUGH_EFFECTIVE:.0f}"
        uneven_sizes = ""
        if self.events - self.equal >= 1:
            uneven_sizes = f" of uneven sizes count as {self.equal:.1f}"

        by_size = ENOUGH_EVENTS / max(self.equal, NOTHING)
        by_effect = ENOUGH_EFFECTIVE / max(self.effective, NOTHING)
        by_symmetry = ENOUGH_SYMMETRY / max(self.symmetry, NOTHING)
        times, cause = max(
            (by_size, uneven_sizes),
            (by_effect, f" that tell little ({coin_tosses})"),
            (by_symmetry, ", but most hangs on outcomes that seldom happen"),
        )
        if times <= 1 + NOTHING:
            return None
        if times >= 1 / NOTHING:
            return f"{so_far} at prices that leave nothing open"

        # All three grow in proportion to the number of events, so the scarcest sets how many are needed.
        more_events = max(ceil(self.events * (times - 1) - NOTHING), 1)
        return f"{so_far}{cause}; an interval takes about {more_events:,} more"


def information(apart: Floats, price: Floats, market: Ints, event_of: Ints) -> Information:
    """Return the information in rows sorted by market; `apart` is how far apart the two compared are."""
    if not market.size:
        return Information()

    is_apart = (np.abs(apart) > NEAR).astype(np.float64)
    markets, (differing, weight, p) = market_means(market, is_apart, apart, price)
    is_counted = differing > 0
    if not is_counted.any():
        # Forecasts that agree everywhere depend on every market equally.
        is_counted[:] = True
        weight[:] = 1

    p = p[is_counted]
    weight = weight[is_counted]
    undecided = p * (1 - p)
    second_terms = weight**2 * undecided
    third_terms = weight**3 * undecided * (1 - 2 * p)
    # The second and third moments of the gain if prices are true.
    spread = float(second_terms.sum())
    third = float(third_terms.sum())

    event = event_of[markets[is_counted]]
    # Within each event in order of price.
    order = np.lexsort((p, event))
    p = p[order]
    _, first_of_event, event_number, event_sizes = np.unique(
        event[order], return_index=True, return_inverse=True, return_counts=True
    )
    last_of_event = first_of_event + event_sizes - 1

    # If the draw falls between a market's price and the next lower one, it and those above end YES.
    yes_count = last_of_event[event_number] - np.arange(p.size) + 1
    chance = np.diff(p, prepend=0.0)
    chance[first_of_event] = p[first_of_event]
    mean_yes = np.bincount(event_number, p)
    none_chance = 1 - p[last_of_event]
    from_mean = yes_count - mean_yes[event_number]
    variances = np.bincount(event_number, chance * from_mean**2) + none_chance * mean_yes**2
    fourths = np.bincount(event_number, chance * from_mean**4) + none_chance * mean_yes**4
    variance = float(variances.sum())
    fourth = float(fourths.sum())

    effective = 0.0
    if fourth:
        effective = variance**2 / fourth

    # A skewness within rounding error counts as 0.
    symmetry = inf
    if third**2 * 1e12 > spread**3:
        symmetry = spread**3 / third**2

    # The number of events of equal size that tell as much (Kish).
    equal = float(event_sizes.sum() ** 2 / (event_sizes @ event_sizes))
    return Information(event_sizes.size, equal, effective, symmetry)
