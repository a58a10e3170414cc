"""Every duel of every agent, with the markets that decided it."""

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from pydantic import TypeAdapter

from arena.record.model.columns import Floats, ForecastColumns, Ints, evidence_rows, take_rows
from arena.record.model.columns import stated_belief as probability
from arena.scores.cache import CacheKind
from arena.scores.comparisons import season_forecasts, stories_of
from arena.scores.profiles.inputs import CacheInputs
from arena.scores.rules.comparisons.duel import Duel, duels

MOST = 5
"""The markets that are named for each side."""
BINS = 20
"""The parts of which a histogram of differences has at most so many."""


@dataclass(frozen=True, slots=True)
class DecidingMarket:
    """A market of a duel: the mean forecast of each, its mean price, and how far it moved the gap.

    The shares of all markets add up to the gap; above 0 it spoke for `a`.
    """

    market_id: str
    question: str
    outcome: int
    a: float
    b: float
    price: float
    share: float


@dataclass(frozen=True, slots=True)
class DuelDetails:
    """A duel, and what decided it.

    `differences` counts common events by their mean difference, between the neighbours of `edges`; those in
    which the two came out even are on neither side.
    `for_a` and `for_b` are the markets that spoke loudest for each.
    """

    duel: Duel
    edges: tuple[float, ...]
    differences: tuple[int, ...]
    for_a: tuple[DecidingMarket, ...]
    for_b: tuple[DecidingMarket, ...]


DUELS = CacheKind("duels", "duels 5", TypeAdapter(tuple[DuelDetails, ...]))
"""All duels of an agent by its name, as `a` in them."""


def compute_duels(inputs: CacheInputs) -> dict[str, tuple[DuelDetails, ...]]:
    """All duels of all agents, by the one that is `a` in them."""
    cells = _Cells.of(inputs.stated)
    by_agent: dict[str, list[DuelDetails]] = defaultdict(list)
    for duel in duels(season_forecasts(inputs.stated)):
        one = _duel_details(duel, cells, inputs)
        by_agent[duel.a].append(one)
        by_agent[duel.b].append(_swapped(one))
    return {name: tuple(by_agent[name]) for name in inputs.stated.agents}


@dataclass(frozen=True, slots=True)
class _Cells:
    """What counts, row by row. A cell is a market in a round; `of_agent` has places in the order of cells."""

    rows: ForecastColumns
    event: Ints
    cell: Ints
    of_agent: dict[str, Ints]

    @classmethod
    def of(cls, stated: ForecastColumns) -> "_Cells":
        rows = evidence_rows(stated)
        rows = take_rows(rows, np.flatnonzero(rows.outcome >= 0))
        size = rows.round.max(initial=0) + 1
        cell = (rows.market * (rows.cohort.max(initial=0) + 1) + rows.cohort) * size + rows.round
        order = np.argsort(cell, kind="stable")
        return cls(
            rows,
            stories_of(rows),
            cell,
            {name: order[rows.agent[order] == k] for k, name in enumerate(rows.agents)},
        )

    def common(self, a: str, b: str) -> tuple[Ints, Ints]:
        """The rows of both agents on the same markets in the same rounds, each in the order of cells."""
        one, other = self.of_agent[a], self.of_agent[b]
        both = np.intersect1d(self.cell[one], self.cell[other], assume_unique=True, return_indices=True)
        return one[both[1]], other[both[2]]


def _duel_details(duel: Duel, cells: _Cells, inputs: CacheInputs) -> DuelDetails:
    rows, (a, b) = cells.rows, cells.common(duel.a, duel.b)
    if not a.size:
        return DuelDetails(duel, (), (), (), ())
    markets, first, place = np.unique(rows.market[a], return_index=True, return_inverse=True)
    own, other, price = (probability(column) for column in (rows.forecast[a], rows.forecast[b], rows.mid[a]))
    outcome = rows.outcome[a]
    gap = (other - outcome) ** 2 - (own - outcome) ** 2
    means = [np.bincount(place, column) / np.bincount(place) for column in (own, other, price, gap)]
    pages = [inputs.pages[rows.markets[market]] for market in markets.tolist()]
    ranked = np.argsort(-means[3], kind="stable").tolist()

    def decider(k: int) -> DecidingMarket:
        a, b, price, gap = (float(column[k]) for column in means)
        return DecidingMarket(
            pages[k].id, pages[k].question, int(outcome[first[k]]), a, b, price, gap / len(pages)
        )

    return DuelDetails(
        duel,
        *_histogram(means[3], cells.event[a][first]),
        for_a=tuple(decider(k) for k in ranked[:MOST] if means[3][k] > 0),
        for_b=tuple(decider(k) for k in ranked[: -MOST - 1 : -1] if means[3][k] < 0),
    )


def _histogram(gap: Floats, events: Ints) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """The mean difference of each event, counted; 0 is an edge, so that a bar is on one side or the other."""
    _, place = np.unique(events, return_inverse=True)
    mean = np.bincount(place, gap) / np.bincount(place)
    mean = mean[mean != 0]
    reach = float(np.abs(mean).max(initial=0.0)) or 0.01
    edges = np.linspace(-reach, reach, BINS + 1)
    edges[BINS // 2] = 0.0  # which floats may miss by a little
    counts, _ = np.histogram(mean, bins=edges)
    return tuple(edges.tolist()), tuple(counts.tolist())


def _swapped(one: DuelDetails) -> DuelDetails:
    """The same with the two in each other's place."""
    duel = one.duel
    gap, low, high = (None if x is None else -x for x in (duel.gap, duel.high, duel.low))
    turned = replace(duel, a=duel.b, b=duel.a, gap=gap, low=low, high=high)
    edges = tuple(-edge for edge in reversed(one.edges))
    sides = [tuple(replace(x, a=x.b, b=x.a, share=-x.share) for x in side) for side in (one.for_b, one.for_a)]
    return DuelDetails(turned, edges, tuple(reversed(one.differences)), *sides)
