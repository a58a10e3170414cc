"""The rows that comparisons start from: what each agent said, beside the price it saw and the outcome.

A row is one forecast of one agent at one instant about one market, with the reference (the market's mid in
the snapshot that the agent saw) and the outcome. Pairing on the same rows at the same instants takes out how
hard the markets were. An agent has one row on a market at an instant, and a market one event.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats, as_floats, check_probabilities, different, is_scored
from arena.scores.rules.comparisons.events import Ints


@dataclass(frozen=True, slots=True)
class AgentForecasts:
    """One agent's rows, sorted by `cell`: a market at an instant, the same number for every agent.

    `error` and `reference` are the squared errors of the forecast and of the price.
    """

    cell: Ints
    market: Ints
    forecast: Floats
    price: Floats
    error: Floats
    reference: Floats


@dataclass(frozen=True, slots=True)
class SeasonForecasts:
    """All rows by agent.

    `event_of` is each market's event, as a place in `events`.
    """

    agents: tuple[str, ...]
    events: tuple[str, ...]
    event_of: Ints
    cells: int
    by_agent: tuple[AgentForecasts, ...]

    def of(self, agent: str) -> AgentForecasts:
        """Return the rows of one agent."""
        return self.by_agent[self.agents.index(agent)]


def check_season(
    agents: Sequence[str],
    events: Sequence[str],
    *,
    agent: Ints,
    instant: Ints,
    market: Ints,
    event: Ints,
    forecast: ArrayLike,
    reference: ArrayLike,
    outcome: ArrayLike,
) -> SeasonForecasts:
    """Return the rows of a season, checked and sorted.

    `agent` and `event` are places in the names; `market` and `instant` are any whole numbers from 0 on.
    """
    scored = np.flatnonzero(is_scored(outcome))
    forecasts = check_probabilities(forecast)[scored]
    prices = check_probabilities(reference)[scored]
    outcomes = as_floats(outcome)[scored]
    errors = (forecasts - outcomes) ** 2
    price_errors = (prices - outcomes) ** 2

    owner = agent[scored]
    markets = market[scored]
    instants = instant[scored]
    width = instants.max(initial=0) + 1
    cells, cell = different(markets * width + instants)
    order = np.lexsort((cell, owner))
    owners = np.arange(len(agents) + 1)
    edges = np.searchsorted(owner[order], owners)

    by_agent = []
    for low, high in pairwise(edges):
        own = order[low:high]
        by_agent.append(
            AgentForecasts(
                cell=cell[own],
                market=markets[own],
                forecast=forecasts[own],
                price=prices[own],
                error=errors[own],
                reference=price_errors[own],
            )
        )

    event_of = np.zeros(markets.max(initial=-1) + 1, dtype=np.int64)
    event_of[markets] = event[scored]
    return SeasonForecasts(tuple(agents), tuple(events), event_of, cells.size, tuple(by_agent))
