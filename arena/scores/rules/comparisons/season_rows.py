"""The rows that comparisons use: each agent's forecast, with the price it saw and the outcome.

A row is one forecast of one agent at one instant about one market, with the reference (the market's mid in
the snapshot that the agent saw) and the outcome. Pairing on the same rows at the same instants removes the
difficulty of the markets. An agent has one row on a market at an instant, and a market one event.

A multiple choice question is a market for each option. Its gain is half the sum of theirs, which for two
options is the gain of either, and two forecasts of it are as far apart as on their furthest option.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats, as_floats, check_probabilities, different, is_scored, runs
from arena.scores.rules.comparisons.events import Ints


@dataclass(frozen=True, slots=True)
class AgentForecasts:
    """One agent's rows, sorted by `cell`: a market at an instant, the same number for every agent.

    `error` and `reference` are the squared errors of the forecast and of the price. If a market is an option,
    `market` is its question, and both errors are scaled so that the mean over the options is half their sum.
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

    `event_of` is each market's event, as an index into `events`. `forecast_of` numbers the forecast that each
    cell belongs to, if some have a cell for each option; these are consecutive.
    """

    agents: tuple[str, ...]
    events: tuple[str, ...]
    event_of: Ints
    cells: int
    by_agent: tuple[AgentForecasts, ...]
    forecast_of: Ints | None = None

    def of(self, agent: str) -> AgentForecasts:
        """Return the rows of one agent."""
        return self.by_agent[self.agents.index(agent)]

    def furthest(self, cell: Ints, apart: Floats) -> Ints | slice:
        """Return a row for each forecast: the option that is furthest apart, or else the first."""
        if self.forecast_of is None:
            return slice(None)

        forecast = self.forecast_of[cell]
        # Rounding errors must not decide between options that are equally far apart.
        order = np.lexsort((-np.abs(apart).round(9), forecast))
        starts, _ = runs(forecast[order])
        return order[starts]


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
    question: Ints | None = None,
) -> SeasonForecasts:
    """Return the rows of a season, checked and sorted.

    `agent` and `event` are indices into the names; `market` and `instant` are any integers from 0. `question`
    numbers the question that a market is an option of; a yes/no market has a number of its own.
    """
    scored = np.flatnonzero(is_scored(outcome))
    forecasts = check_probabilities(forecast)[scored]
    prices = check_probabilities(reference)[scored]
    outcomes = as_floats(outcome)[scored]
    errors = (forecasts - outcomes) ** 2
    price_errors = (prices - outcomes) ** 2

    agent_of_row = agent[scored]
    options = market[scored]
    markets = options if question is None else question[scored]
    instants = instant[scored]
    instant_count = instants.max(initial=0) + 1
    cells, cell = different(markets * instant_count + instants)
    forecast_of = None
    if question is not None:
        option_count = options.max(initial=0) + 1
        cells, cell = different(cell * option_count + options)
        forecast_of = cells // option_count
        scale = np.maximum(count_options(options, markets) / 2, 1)
        errors *= scale
        price_errors *= scale

    rows = AgentForecasts(
        cell=cell,
        market=markets,
        forecast=forecasts,
        price=prices,
        error=errors,
        reference=price_errors,
    )
    event_of = np.zeros(markets.max(initial=-1) + 1, dtype=np.int64)
    event_of[markets] = event[scored]
    return SeasonForecasts(
        agents=tuple(agents),
        events=tuple(events),
        event_of=event_of,
        cells=cells.size,
        by_agent=tuple(_rows_by_agent(rows, agent_of_row, len(agents))),
        forecast_of=forecast_of,
    )


def _rows_by_agent(rows: AgentForecasts, owner: Ints, agents: int) -> Iterator[AgentForecasts]:
    """Yield the rows of each agent, sorted by cell; `owner` is the agent of each row."""
    order = np.lexsort((rows.cell, owner))
    edges = np.searchsorted(owner[order], np.arange(agents + 1))
    for low, high in pairwise(edges):
        own = order[low:high]
        yield AgentForecasts(
            cell=rows.cell[own],
            market=rows.market[own],
            forecast=rows.forecast[own],
            price=rows.price[own],
            error=rows.error[own],
            reference=rows.reference[own],
        )


def count_options(market: Ints, question: Ints) -> Ints:
    """Return for each row the number of markets of its question."""
    _, first = np.unique(market, return_index=True)
    return np.bincount(question[first])[question]
