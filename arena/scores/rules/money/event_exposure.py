"""What is at stake, event by event: the worst and the best that it can still do to an account.

- Formula: an event's open markets end in one of its states, and worst and best are the least and the
  most, over the states, that its lots then pay, less what they are worth at the mid now. States are as
  the markets hang together: `exclusive`, one of them ends in YES or none does; `nested`, the first so
  many, by price; `alone` and `unknown`, any combination. `share` = (value − what the worst pays) ÷ the
  account's value.
- Direction: lower is safer for `share`.
- Range: share 0 to 1, as long as cash is not below 0.
- Edge cases: YES and NO of one market are one position. An account worth nothing has no shares (NaN).
- Source: the arena's own.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from arena.record.model.trades import EventTie, EventTies
from arena.scores.rules._columns import Floats
from markets.millionths import ONE


@dataclass(frozen=True, slots=True)
class HeldShares:
    """Shares of one side of an open market, and the mid of its YES."""

    market: str
    event: str
    yes: bool
    shares: int
    mid: int


@dataclass(frozen=True, slots=True)
class EventExposure:
    """An event: its markets, the value held in it, and the change in its worst and best state."""

    event: str
    markets: int
    value: float
    worst: float
    best: float
    share: float


def event_exposure(lots: Iterable[HeldShares], ties: EventTies, total: int) -> list[EventExposure]:
    """Return the events of an account worth `total`, the largest stake first. Money in millionths."""
    events = defaultdict(list)
    for lot in lots:
        events[lot.event].append(lot)

    exposures = [
        _exposure_to_event(name, held, ties.get(name, "unknown"), total) for name, held in events.items()
    ]
    return sorted(exposures, key=lambda event: (event.worst, event.event))


def _exposure_to_event(name: str, lots: list[HeldShares], tie: EventTie, total: int) -> EventExposure:
    """Return the exposure of an account to one event."""
    net_shares_of: dict[tuple[int, str], float] = defaultdict(float)
    values = []
    for lot in lots:
        # The highest price comes first: the order of a nested event.
        price_and_market = (-lot.mid, lot.market)
        if lot.yes:
            net_shares_of[price_and_market] += lot.shares
            values.append(lot.shares * lot.mid / ONE)
        else:
            net_shares_of[price_and_market] -= lot.shares
            values.append(lot.shares * (ONE - lot.mid) / ONE)

    order = sorted(net_shares_of)
    net_shares = np.array([net_shares_of[price_and_market] for price_and_market in order])
    price = np.array([-mid / ONE for mid, _ in order])
    least_paid, most_paid = _least_and_most_paid(net_shares, tie)
    value_at_mid = float(net_shares @ price)

    share = math.nan
    if total > 0:
        share = (value_at_mid - least_paid) / total
    return EventExposure(
        name, len(order), math.fsum(values), least_paid - value_at_mid, most_paid - value_at_mid, share
    )


def _least_and_most_paid(net_shares: Floats, tie: EventTie) -> tuple[float, float]:
    """Return the least and the most that the net YES shares pay, beyond what NO shares always pay."""
    if tie == "exclusive":
        # One market ends YES, or none does.
        paid_by_state = np.append(net_shares, 0.0)
    elif tie == "nested":
        # The first so many markets end YES, or none does.
        paid_by_state = np.append(np.cumsum(net_shares), 0.0)
    else:
        # Each market may end either way.
        least = np.minimum(net_shares, 0)
        most = np.maximum(net_shares, 0)
        return float(least.sum()), float(most.sum())
    return float(paid_by_state.min()), float(paid_by_state.max())
