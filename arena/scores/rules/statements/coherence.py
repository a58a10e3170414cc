"""Coherence: the sure profit that could be made against an agent at its own probabilities.

- Formula: whoever states probabilities pᵢ for the markets of an event offers to buy or to sell, at pᵢ
  dollars, a share of each that pays $1 if it ends in YES. The score of an event is the largest profit
  that is sure in every state that it can end in, for a set of shares that itself pays between $0 and $1.
  Exclusive outcomes that leave no other (`exhaustive`): |Σ pᵢ − 1|; exclusive ones among others
  (`exclusive`): max(Σ pᵢ − 1, 0). A ladder, each rung of which contains the next (`nested`): Σ max(pᵢ₊₁ −
  pᵢ, 0), rungs from the widest to the narrowest. These solve the linear program that maximises the worst
  state's profit. The mean is over events stated at one time.
- Direction: lower is better; 0 is coherent.
- Range: 0 upward: at most 1 for two markets, and below their number for more.
- Edge cases: an event of which one market was stated says nothing, but for an exhaustive one; nothing to
  judge gives None. Rungs or outcomes that were not stated are left out: an event is exhaustive only if all
  its outcomes were stated. What is within a billionth of 0 is 0.
- Limits: the market's own prices are the control: spreads and ticks leave a cent or two.
- Source: de Finetti's Dutch book; the claim of at most $1 is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.scores.rules._columns import Floats, Places, check_probabilities, mean, number_labels

Shape = Literal["exhaustive", "exclusive", "nested"]
DUST = 1e-9


@dataclass(frozen=True, slots=True)
class DutchBookTrade:
    """One share to buy from the agent (or to sell to it) at its own probability."""

    row: int
    buy: bool
    price: float


@dataclass(frozen=True, slots=True)
class DutchBook:
    """The sure profit from one event in dollars per $1 of claim, and the trades behind it."""

    profit: float
    deals: tuple[DutchBookTrade, ...]


@dataclass(frozen=True, slots=True)
class CoherenceScore:
    """The mean over events in dollars per $1; the numbers of events and of incoherent ones; the worst.

    `market` is the mean of the market's own prices on the same events. None if nothing can be judged.
    """

    loss: float | None
    market: float | None
    events: int
    incoherent: int
    worst: float | None
    worst_event: str | None
    reason: str = ""


def dutch_book(forecast: Sequence[float], shape: Shape) -> DutchBook:
    """Return the sure profit against one event's probabilities; a ladder's are given widest rung first."""
    if not len(forecast):
        return DutchBook(0.0, ())
    probabilities = check_probabilities(forecast)
    profit = coherence(probabilities, np.zeros(probabilities.size), shape).worst
    if not profit:
        return DutchBook(0.0, ())

    # +1 buys a share from the agent, −1 sells one to it, 0 is no trade.
    position = np.full(probabilities.size, 1)
    if shape == "nested":
        position = _nested_positions(probabilities)
    elif probabilities.sum() > 1:
        position = np.full(probabilities.size, -1)

    rows = np.flatnonzero(position).tolist()
    deals = tuple(DutchBookTrade(row, bool(position[row] > 0), float(probabilities[row])) for row in rows)
    return DutchBook(round(profit, 12), deals)


def coherence(
    forecast: ArrayLike,
    event: ArrayLike,
    shape: ArrayLike,
    rung: ArrayLike | None = None,
    mid: ArrayLike | None = None,
) -> CoherenceScore:
    """Return the score of a column.

    `event` labels what was stated together: one event at one time, by one agent. `shape` is that of the row's
    event, or one for all; rows of other shapes are left out. `rung` orders the markets of a ladder, the
    widest first; by default they are in order.
    """
    probabilities = np.empty(0)
    if np.size(forecast):
        probabilities = check_probabilities(forecast)

    labels = np.atleast_1d(np.asarray(event))
    shapes = np.asarray(shape, dtype=np.str_)
    if not shapes.ndim:
        shapes = np.broadcast_to(shapes, probabilities.shape)
    rungs = np.arange(probabilities.size) if rung is None else np.asarray(rung)

    event_number = number_labels(labels)
    order = np.lexsort((np.where(shapes == "nested", rungs, probabilities), event_number))
    has_several = np.bincount(event_number)[event_number] > 1
    has_shape = np.isin(shapes, get_args(Shape))
    is_judged = (shapes == "exhaustive") | (has_shape & has_several)
    rows = order[is_judged[order]]
    if not rows.size:
        reason = "no two forecasts were on markets with a declared relation"
        return CoherenceScore(None, None, 0, 0, None, None, reason)

    names, event_number = np.unique(labels[rows], return_inverse=True)
    losses = _sure_profits(probabilities[rows], event_number, shapes[rows])
    market = None
    if mid is not None:
        prices = check_probabilities(mid)
        market = mean(_sure_profits(prices[rows], event_number, shapes[rows]))

    worst_group = int(losses.argmax())
    return CoherenceScore(
        loss=mean(losses),
        market=market,
        events=losses.size,
        incoherent=int(np.count_nonzero(losses)),
        worst=float(losses[worst_group]),
        worst_event=str(names[worst_group]) if losses[worst_group] else None,
    )


def _sure_profits(probabilities: Floats, group: Places, shape: NDArray[np.str_]) -> Floats:
    """Return the sure profit of each group of rows, with rungs in order."""
    is_first = np.diff(group, prepend=-1) > 0
    group_shape = shape[is_first]
    # By how much the probabilities of an event exceed 1, and how far a ladder's rise in all.
    excess = np.bincount(group, weights=probabilities) - 1
    rises = np.maximum(np.diff(probabilities, prepend=1.0), 0)
    rises = np.where(is_first, 0, rises)
    climbs = np.bincount(group, weights=rises)

    profits = np.maximum(excess, 0)
    profits = np.where(group_shape == "exhaustive", np.abs(excess), profits)
    profits = np.where(group_shape == "nested", climbs, profits)
    return np.where(profits > DUST, profits, 0.0)


def _nested_positions(probabilities: Floats) -> Places:
    """Return +1 at the foot of each climb of a ladder's probabilities and −1 at its top."""
    is_climbing = np.append(np.diff(probabilities) > 0, False)
    climbing = is_climbing.astype(np.intp)
    climbing_before = np.append(0, climbing[:-1])
    return np.asarray(climbing - climbing_before, dtype=np.intp)
