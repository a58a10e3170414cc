"""Entries: how many chances a season has given luck.

- Formula: every agent that ever stated a forecast is an entry, except copies. A copy is an agent whose
  forecasts lie, and at every earlier look have lain, within 0.005 of an earlier entry's or of the price, with
  at most one exception or 5% of their common rows. All copies of the price are one entry.
- Direction: none.
- Range: 1 to the number of agents.
- Edge cases: an agent that stops answering, is no longer ranked, or starts to copy another remains an entry.
  Two agents are two entries if the later one's first round has no market in common
  with the other, and so are twins (the same settings) whose forecasts differ.
- Source: Bonferroni, over all that could have been told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Floats, runs
from arena.scores.rules.comparisons.copies import SHARE
from arena.scores.rules.comparisons.events import NEAR, Ints


@dataclass(frozen=True, slots=True)
class StatedRows:
    """All forecasts that were stated, resolved or not.

    `agent`, `instant` and `market` are integers from 0; instants are in order of time. `question` numbers the
    question that a market is an option of; the numbers of its markets are consecutive.
    """

    agent: Ints
    instant: Ints
    market: Ints
    forecast: Floats
    price: Floats
    question: Ints | None = None


def entry_starts(rows: StatedRows) -> dict[int, int]:
    """Return the instant from which each agent that ever was an entry counts as one."""
    starts: dict[int, int] = {}

    for instant, entries in _entries_by_look(rows):
        for agent in entries:
            starts.setdefault(agent, instant)
    return starts


def _entries_by_look(rows: StatedRows) -> Iterator[tuple[int, list[int]]]:
    """Yield the entries at each instant at which they change, in order of time."""
    numbers = np.unique(rows.agent)
    agents = [_agent_rows(rows, number) for number in numbers.tolist()]
    starts = [agent.instant[0] for agent in agents]
    order = np.argsort(starts, kind="stable")
    agents = [agents[place] for place in order.tolist()]
    numbers = numbers[order]

    started = np.array(starts, dtype=np.int64)[order]
    from_price = [_departure(agent.instant, agent.forecast - agent.price, agent.question) for agent in agents]
    left_price = np.array(from_price)
    departure = _departures(agents)

    changes = np.unique(np.concatenate([started, left_price, departure.ravel()]))
    looks = changes[np.isfinite(changes)].astype(np.int64)
    for look in looks.tolist():
        entries = _entries_at(look, started, left_price, departure)
        yield look, numbers[entries].tolist()


@dataclass(frozen=True, slots=True)
class _AgentRows:
    """The rows of one agent in order of time; `cell` numbers a market at an instant."""

    instant: Ints
    cell: Ints
    forecast: Floats
    price: Floats
    question: Ints | None


def _agent_rows(rows: StatedRows, agent: int) -> _AgentRows:
    """Return the rows of one agent; of two forecasts for one market at one instant, the first counts."""
    markets = int(rows.market.max()) + 1
    own = np.flatnonzero(rows.agent == agent)
    cell = rows.instant[own] * markets + rows.market[own]
    cells, first = np.unique(cell, return_index=True)
    own = own[first]

    question = None if rows.question is None else rows.question[own]
    return _AgentRows(rows.instant[own], cells, rows.forecast[own], rows.price[own], question)


def _departures(agents: Sequence[_AgentRows]) -> NDArray[np.float64]:
    """Return since when each agent (line) is no copy of each earlier one (column)."""
    size = len(agents)
    departure = np.full((size, size), -np.inf)

    for earlier in range(size):
        for later in range(earlier + 1, size):
            departure[later, earlier] = _pair_departure(agents[later], agents[earlier])

    return departure


def _pair_departure(later: _AgentRows, earlier: _AgentRows) -> float:
    """Return since when one agent is no copy of another that began before it."""
    cells, own, other = np.intersect1d(later.cell, earlier.cell, assume_unique=True, return_indices=True)
    if not cells.size:
        return -np.inf

    instant = later.instant[own]
    if instant[0] != later.instant[0]:
        # They had no market in common when the later one began.
        return -np.inf
    question = None if later.question is None else later.question[own]
    return _departure(instant, later.forecast[own] - earlier.forecast[other], question)


def _departure(instant: Ints, distance: Floats, question: Ints | None) -> float:
    """Return the first instant after which too many rows were apart; infinity if there is none.

    A multiple choice question is as far apart as its furthest option.
    """
    distance = np.abs(distance)
    if question is not None:
        starts, _ = runs(instant, question)
        distance = np.maximum.reduceat(distance, starts)
        instant = instant[starts]

    apart = np.cumsum(distance > NEAR)
    rows = np.arange(1, instant.size + 1)
    ends = np.append(instant[1:] != instant[:-1], True)

    allowed = np.maximum(1.0, (1 - SHARE) * rows)
    first = np.flatnonzero(ends & (apart > allowed))
    if not first.size:
        return np.inf
    return float(instant[first[0]])


def _entries_at(look: float, started: Ints, left_price: Floats, departure: NDArray[np.float64]) -> list[int]:
    """Return the entries at one look, with the first agent that copies the price as one of them."""
    entries: list[int] = []
    price_copies: list[int] = []

    for agent in np.flatnonzero(started <= look).tolist():
        if left_price[agent] > look:
            price_copies.append(agent)
        elif not np.any(departure[agent, entries] > look):
            entries.append(agent)

    return entries + price_copies[:1]
