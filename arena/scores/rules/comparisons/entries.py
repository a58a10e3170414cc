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
    agent_numbers = np.unique(rows.agent)
    agents = [_agent_rows(rows, number) for number in agent_numbers.tolist()]
    starts = [agent.instant[0] for agent in agents]
    order = np.argsort(starts, kind="stable")
    agents = [agents[place] for place in order.tolist()]
    agent_numbers = agent_numbers[order]

    started = np.array(starts, dtype=np.int64)[order]
    price_departures = [
        _end_of_copying(agent.instant, agent.forecast - agent.price, agent.question) for agent in agents
    ]
    left_price = np.array(price_departures)
    pair_departures = _pair_ends_of_copying(agents)

    change_times = np.unique(np.concatenate([started, left_price, pair_departures.ravel()]))
    looks = change_times[np.isfinite(change_times)].astype(np.int64)
    for look in looks.tolist():
        entries = _entries_at(look, started, left_price, pair_departures)
        yield look, agent_numbers[entries].tolist()


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


def _pair_ends_of_copying(agents: Sequence[_AgentRows]) -> NDArray[np.float64]:
    """Return since when each agent (line) is no copy of each earlier one (column)."""
    size = len(agents)
    departure = np.full((size, size), -np.inf)

    for earlier in range(size):
        for later in range(earlier + 1, size):
            departure[later, earlier] = _end_of_copying_pair(agents[later], agents[earlier])

    return departure


def _end_of_copying_pair(later: _AgentRows, earlier: _AgentRows) -> float:
    """Return since when one agent is no copy of another that began before it."""
    cells, own, other = np.intersect1d(later.cell, earlier.cell, assume_unique=True, return_indices=True)
    if not cells.size:
        return -np.inf

    instant = later.instant[own]
    if instant[0] != later.instant[0]:
        # They had no market in common when the later one began.
        return -np.inf
    question = None if later.question is None else later.question[own]
    return _end_of_copying(instant, later.forecast[own] - earlier.forecast[other], question)


def _end_of_copying(instant: Ints, difference: Floats, question: Ints | None) -> float:
    """Return the first instant after which too many rows were apart; infinity if there is none.

    A multiple choice question is as far apart as its furthest option.
    """
    difference = np.abs(difference)
    if question is not None:
        starts, _ = runs(instant, question)
        difference = np.maximum.reduceat(difference, starts)
        instant = instant[starts]

    far_so_far = np.cumsum(difference > NEAR)
    rows_so_far = np.arange(1, instant.size + 1)
    # All rows of an instant are seen at once, so only its last row is a look.
    is_last_of_instant = np.append(instant[1:] != instant[:-1], True)

    allowed = np.maximum(1.0, (1 - SHARE) * rows_so_far)
    ends_of_copying = np.flatnonzero(is_last_of_instant & (far_so_far > allowed))
    if not ends_of_copying.size:
        return np.inf
    return float(instant[ends_of_copying[0]])


def _entries_at(
    look: float, started: Ints, price_departure: Floats, pair_departures: NDArray[np.float64]
) -> list[int]:
    """Return the entries at one look, with the first agent that copies the price as one of them."""
    entries: list[int] = []
    price_copies: list[int] = []

    for agent in np.flatnonzero(started <= look).tolist():
        # A departure after this look: the agent is still a copy of the price.
        if price_departure[agent] > look:
            price_copies.append(agent)
        elif not np.any(pair_departures[agent, entries] > look):
            entries.append(agent)

    # All copies of the price are one entry.
    return entries + price_copies[:1]
