"""The rows that comparisons start from: what each agent said, beside the price it saw and the outcome.

- Formula: a row is one forecast f of one agent at one instant about one market, with the reference r (the
  market's mid in the snapshot that the agent saw) and the outcome o. It makes two errors, (f − o)² and
  (r − o)².
- Direction: lower is better, as in `brier`.
- Range: 0 to 1, either error.
- Edge cases: rows without an outcome of 0 or 1 are left out. Two rows of one agent on one market at one
  instant are an error, and so is a market that belongs to two events, or a probability outside [0, 1].
- Source: Brier (1950); pairing on the same rows at the same instants takes out how hard the markets were.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats, check_probabilities, different, is_scored
from arena.scores.rules.comparisons.events import Ints

WEEK = 7 * 86_400
MONDAY = 4 * 86_400
"""The first Monday after 1970 began, on a Thursday, in seconds."""


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

    `event_of` is each market's event, as a place in `events`, and `week_of` the week in which its outcome
    counts, as a place in `weeks`.
    """

    agents: tuple[str, ...]
    events: tuple[str, ...]
    event_of: Ints
    weeks: Ints
    week_of: Ints
    cells: int
    by_agent: tuple[AgentForecasts, ...]

    def of(self, agent: str) -> AgentForecasts:
        """The rows of one agent."""
        if agent not in self.agents:
            raise ValueError(f"no agent {agent!r}; there are {', '.join(self.agents)}")
        return self.by_agent[self.agents.index(agent)]


def check_season(
    agents: Sequence[str],
    events: Sequence[str],
    *,
    agent: ArrayLike,
    instant: ArrayLike,
    market: ArrayLike,
    event: ArrayLike,
    forecast: ArrayLike,
    reference: ArrayLike,
    outcome: ArrayLike,
    known: ArrayLike | None = None,
) -> SeasonForecasts:
    """The rows of a season, checked and sorted.

    `agent` and `event` are places in the names; `market` and `instant` are any whole numbers from 0 on.
    `known` is from when on each outcome counts, in seconds since 1970; without it all count from the same
    week on.
    """
    scored = np.flatnonzero(is_scored(outcome))
    f, r = check_probabilities(forecast)[scored], check_probabilities(reference)[scored]
    o = np.atleast_1d(np.asarray(outcome, dtype=np.float64))[scored]
    who, about = _places("agent", agent, len(agents))[scored], _places("event", event, len(events))[scored]
    when, what = _places("instant", instant)[scored], _places("market", market)[scored]
    names, cell = different(what * (when.max(initial=0) + 1) + when)
    order = np.lexsort((cell, who))
    _refuse_twice(agents, who[order], cell[order], scored[order])
    edges = np.searchsorted(who[order], np.arange(len(agents) + 1))
    parts = [order[low:high] for low, high in pairwise(edges)]
    by_agent = tuple(
        AgentForecasts(cell[p], what[p], f[p], r[p], (f[p] - o[p]) ** 2, (r[p] - o[p]) ** 2) for p in parts
    )
    event_of = np.zeros(what.max(initial=-1) + 1, dtype=np.int64)
    event_of[what] = about
    torn = np.flatnonzero(event_of[what] != about)
    if torn.size:
        raise ValueError(
            f"row {scored[torn[0]]}: column event: this market belongs to another event in another row"
        )
    week = np.zeros(what.size) if known is None else np.floor((np.asarray(known)[scored] - MONDAY) / WEEK)
    numbers, place = np.unique(week, return_inverse=True)
    week_of = np.zeros(event_of.size, dtype=np.int64)
    np.maximum.at(week_of, what, place)
    weeks = numbers.astype(np.int64)
    return SeasonForecasts(tuple(agents), tuple(events), event_of, weeks, week_of, names.size, by_agent)


def _places(name: str, column: ArrayLike, names: int | None = None) -> Ints:
    """Whole numbers from 0 on; where there are names, a place among them."""
    values = np.atleast_1d(np.asarray(column, dtype=np.int64))
    wrong = np.flatnonzero((values < 0) | (values >= (values.max(initial=0) + 1 if names is None else names)))
    if wrong.size:
        among = "from 0 on" if names is None else f"of {names} names"
        raise ValueError(f"row {wrong[0]}: {name} {values[wrong[0]]} is no place {among}")
    return values


def _refuse_twice(agents: Sequence[str], who: Ints, cell: Ints, row: Ints) -> None:
    """An agent says one thing about a market at an instant."""
    twice = np.flatnonzero((np.diff(who) == 0) & (np.diff(cell) == 0))
    if twice.size:
        first, second = sorted(row[twice[0] : twice[0] + 2].tolist())
        raise ValueError(
            f"row {second}: {agents[who[twice[0]]]} has the same market and instant in row {first}"
        )
