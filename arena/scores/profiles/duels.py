"""Every duel of every agent, with the markets that decided it."""

from collections import defaultdict
from collections.abc import Iterable
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
"""The number of markets listed for each side."""
BINS = 20
"""The most bins of a histogram of differences."""


@dataclass(frozen=True, slots=True)
class DecidingMarket:
    """A market of a duel: the mean forecast of each, its mean price, and its share of the gap.

    The shares of all markets add up to the gap; a share above 0 counts for `a`.
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

    `differences` counts common events by their mean difference, between neighbouring `edges`; events in which
    the two tied are on neither side. `for_a` and `for_b` are the markets that counted most for each.
    """

    duel: Duel
    edges: tuple[float, ...]
    differences: tuple[int, ...]
    for_a: tuple[DecidingMarket, ...]
    for_b: tuple[DecidingMarket, ...]


DUELS = CacheKind("duels", "duels 5", TypeAdapter(tuple[DuelDetails, ...]))
"""All duels of an agent by name, in which it is `a`."""


def compute_duels(inputs: CacheInputs) -> dict[str, tuple[DuelDetails, ...]]:
    """Return all duels of all agents, by the agent that is `a` in them."""
    cells = _Cells.of(inputs.stated)
    by_agent = defaultdict(list)

    for duel in duels(season_forecasts(inputs.stated)):
        details = _duel_details(duel, cells, inputs)
        by_agent[duel.a].append(details)
        by_agent[duel.b].append(_swapped(details))

    return {name: tuple(by_agent[name]) for name in inputs.stated.agents}


@dataclass(frozen=True, slots=True)
class _Cells:
    """The rows that count. A cell is a market in a round; `of_agent` has indices in the order of cells."""

    rows: ForecastColumns
    event: Ints
    cell: Ints
    of_agent: dict[str, Ints]

    @classmethod
    def of(cls, stated: ForecastColumns) -> "_Cells":
        """Return the cells of everything that was stated and has an outcome."""
        rows = evidence_rows(stated)
        rows = take_rows(rows, np.flatnonzero(rows.outcome >= 0))
        cohorts = rows.cohort.max(initial=0) + 1
        rounds = rows.round.max(initial=0) + 1
        # One number for a market, a cohort and a round.
        cell = (rows.market * cohorts + rows.cohort) * rounds + rows.round

        of_agent = {}
        for number, name in enumerate(rows.agents):
            own_rows = np.flatnonzero(rows.agent == number)
            # Older records show a market twice if its venue listed it twice.
            _, first_of_cell = np.unique(cell[own_rows], return_index=True)
            of_agent[name] = own_rows[first_of_cell]
        return cls(rows, stories_of(rows), cell, of_agent)

    def common(self, a: str, b: str) -> tuple[Ints, Ints]:
        """Return the rows of both agents on the same markets in the same rounds, in the order of cells."""
        own = self.of_agent[a]
        other = self.of_agent[b]
        _, own_rows, other_rows = np.intersect1d(
            self.cell[own], self.cell[other], assume_unique=True, return_indices=True
        )
        return own[own_rows], other[other_rows]


def _duel_details(duel: Duel, cells: _Cells, inputs: CacheInputs) -> DuelDetails:
    """Return a duel with the markets that decided it."""
    rows = cells.rows
    own_rows, other_rows = cells.common(duel.a, duel.b)
    if not own_rows.size:
        return DuelDetails(duel, (), (), (), ())

    outcome = rows.outcome[own_rows]
    forecast = probability(rows.forecast[own_rows])
    other_forecast = probability(rows.forecast[other_rows])
    price = probability(rows.mid[own_rows])
    error = (forecast - outcome) ** 2
    other_error = (other_forecast - outcome) ** 2

    markets, first_row, market_number = np.unique(
        rows.market[own_rows], return_index=True, return_inverse=True
    )
    count = np.bincount(market_number)
    gaps = np.bincount(market_number, other_error - error) / count
    forecasts = np.bincount(market_number, forecast) / count
    other_forecasts = np.bincount(market_number, other_forecast) / count
    prices = np.bincount(market_number, price) / count

    def deciding_market(number: int) -> DecidingMarket:
        name = rows.markets[markets[number]]
        page = inputs.pages[name]
        gap = float(gaps[number])
        return DecidingMarket(
            market_id=page.id,
            question=page.question,
            outcome=int(outcome[first_row[number]]),
            a=float(forecasts[number]),
            b=float(other_forecasts[number]),
            price=float(prices[number]),
            share=gap / markets.size,
        )

    by_gap = np.argsort(-gaps, kind="stable")
    # A gap above 0 counts for a, one below for b.
    for_a = by_gap[:MOST]
    for_a = for_a[gaps[for_a] > 0]
    for_b = by_gap[::-1][:MOST]
    for_b = for_b[gaps[for_b] < 0]

    edges, differences = _histogram(gaps, cells.event[own_rows][first_row])
    return DuelDetails(
        duel=duel,
        edges=edges,
        differences=differences,
        for_a=tuple(map(deciding_market, for_a)),
        for_b=tuple(map(deciding_market, for_b)),
    )


def _histogram(market_gaps: Floats, events: Ints) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return the edges and the counts of each event's mean difference.

    0 is an edge, so that a bar is on one side or the other.
    """
    _, event_number = np.unique(events, return_inverse=True)
    event_totals = np.bincount(event_number, market_gaps)
    event_gaps = event_totals / np.bincount(event_number)
    event_gaps = event_gaps[event_gaps != 0]
    largest = np.abs(event_gaps).max(initial=0.0)
    reach = float(largest) or 0.01

    edges = np.linspace(-reach, reach, BINS + 1)
    edges[BINS // 2] = 0.0  # rounding may miss it slightly
    counts, _ = np.histogram(event_gaps, bins=edges)
    return tuple(edges.tolist()), tuple(counts.tolist())


def _swapped(details: DuelDetails) -> DuelDetails:
    """Return the duel with its two agents exchanged."""
    return DuelDetails(
        duel=details.duel.reversed(),
        edges=tuple(-edge for edge in reversed(details.edges)),
        differences=tuple(reversed(details.differences)),
        for_a=_swapped_markets(details.for_b),
        for_b=_swapped_markets(details.for_a),
    )


def _swapped_markets(markets: Iterable[DecidingMarket]) -> tuple[DecidingMarket, ...]:
    """Return markets with the two agents exchanged."""
    return tuple(replace(market, a=market.b, b=market.a, share=-market.share) for market in markets)
