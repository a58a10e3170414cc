"""Duels: which of two agents forecasts better, on the rows that both have.

- Formula: d = (f_b − o)² − (f_a − o)² on each market and instant that both forecast, averaged as in `gain`,
  with its interval at one look.
- Direction: above 0, a is ahead.
- Range: −1 to 1.
- Edge cases: where `events` says that the common rows tell too little there is a gap, and a reason in place
  of an interval; without a common row there is nothing, and `indirect_duel` can still compare the two by way
  of the market. Agents that always said the same have a gap of exactly 0 and p = 1.
- Source: Diebold and Mariano (1995).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from arena.scores.rules._columns import Flags, negative_or_none, none_for_nan
from arena.scores.rules.comparisons import interval, wild_bootstrap
from arena.scores.rules.comparisons.events import EventSums, information, sum_by_event
from arena.scores.rules.comparisons.gain import reason_of
from arena.scores.rules.comparisons.season_rows import AgentForecasts, SeasonForecasts

Pair = tuple[str, str]
Rows = Flags | slice
"""A selection of an agent's rows: a flag for each, or all of them."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two agents compared. `gap` is above 0 if `a` is ahead; fields are None if undefined.

    `by` says how: on common rows, or each against the market on rows of its own, as `indirect_duel` does. `p`
    and the interval from `low` to `high`, which is computed on request, hold for one look at one pair;
    `duel_evidence` decides which of two is better.
    """

    a: str
    b: str
    rows: int
    markets: int
    events: int
    effective: float
    gap: float | None
    error: float | None
    p: float | None
    reason: str | None
    by: Literal["rows", "market"] = "rows"
    low: float | None = None
    high: float | None = None

    @property
    def same(self) -> bool:
        """Tell whether both always stated the same, as far as scores can tell: one event can't."""
        return self.gap == 0 and self.error == 0

    def winner(self, level: float = wild_bootstrap.LEVEL) -> str | None:
        """Return who is ahead by more than chance, if this were the only look at the only pair."""
        if self.p is None or self.gap is None or self.p > level:
            return None
        return self.a if self.gap > 0 else self.b

    def reversed(self) -> "Duel":
        """Return the duel from the other side."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            gap=negative_or_none(self.gap),
            low=negative_or_none(self.high),
            high=negative_or_none(self.low),
        )


def duel(season: SeasonForecasts, a: str, b: str, seed: int = 0) -> Duel:
    """Return one duel, with the interval of its gap."""
    return _duels(season, [(a, b)], seed)[0]


def duels(season: SeasonForecasts) -> list[Duel]:
    """Return every pair of the agents, with the interval of its gap."""
    pairs = list(combinations(season.agents, 2))
    all_duels = []
    for some_pairs in wild_bootstrap.blocks(pairs, len(season.events)):
        all_duels += _duels(season, some_pairs, 0)
    return all_duels


def gap_between(season: SeasonForecasts, a: str, b: str) -> float | None:
    """Return only the gap; None without a common row."""
    a_forecasts = season.of(a)
    b_forecasts = season.of(b)
    a_rows, b_rows = common_rows(a_forecasts, b_forecasts, season.cells)
    return none_for_nan(_error_differences(season, a_forecasts, b_forecasts, a_rows, b_rows).mean)


def _duels(season: SeasonForecasts, pairs: Sequence[Pair], seed: int) -> list[Duel]:
    """Return the duels of pairs, with p-values and, if there is enough information, intervals."""
    duels_of_pairs = []
    differences_of_pairs = []
    for a, b in pairs:
        duel_of_pair, event_differences = _duel_without_interval(season, a, b)
        duels_of_pairs.append(duel_of_pair)
        differences_of_pairs.append(event_differences)

    drawn = wild_bootstrap.signed_sums(season.events, differences_of_pairs, seed)
    p_values = wild_bootstrap.p_values(drawn)
    is_judged = [duel_of_pair.reason is None for duel_of_pair in duels_of_pairs]
    spans = interval.intervals(drawn, is_judged)

    for place in np.flatnonzero(is_judged).tolist():
        span = spans[place]
        duels_of_pairs[place] = replace(
            duels_of_pairs[place], p=float(p_values[place]), low=span.low, high=span.high
        )
    return duels_of_pairs


def _duel_without_interval(season: SeasonForecasts, a: str, b: str) -> tuple[Duel, EventSums]:
    """Return the duel on common rows without its interval, and the differences by event."""
    a_forecasts = season.of(a)
    b_forecasts = season.of(b)
    a_rows, b_rows = common_rows(a_forecasts, b_forecasts, season.cells)
    market = a_forecasts.market[a_rows]
    differences = _error_differences(season, a_forecasts, b_forecasts, a_rows, b_rows)

    forecast_gap = a_forecasts.forecast[a_rows] - b_forecasts.forecast[b_rows]
    known_information = information(forecast_gap, a_forecasts.price[a_rows], market, season.event_of)
    reason = reason_of(known_information)
    if not market.size:
        reason = "no resolved forecast in common"

    plain_duel = Duel(
        a=a,
        b=b,
        rows=market.size,
        markets=int(differences.count.sum()),
        events=int(np.count_nonzero(differences.count)),
        effective=known_information.effective,
        gap=none_for_nan(differences.mean),
        error=none_for_nan(wild_bootstrap.error(differences)),
        p=None,
        reason=reason,
    )
    return plain_duel, differences


def _error_differences(
    season: SeasonForecasts, a: AgentForecasts, b: AgentForecasts, a_rows: Rows, b_rows: Rows
) -> EventSums:
    """Return the differences in error on common rows, by event."""
    error_difference = b.error[b_rows] - a.error[a_rows]
    return sum_by_event(error_difference, a.market[a_rows], season.event_of, len(season.events))


def common_rows(a: AgentForecasts, b: AgentForecasts, cells: int) -> tuple[Rows, Rows]:
    """Return the rows of each on the markets and instants that both have, in the same order."""
    if np.array_equal(a.cell, b.cell):
        return slice(None), slice(None)

    is_in_a = np.zeros(cells, dtype=np.bool_)
    is_in_b = np.zeros(cells, dtype=np.bool_)
    is_in_a[a.cell] = True
    is_in_b[b.cell] = True
    return is_in_b[a.cell], is_in_a[b.cell]
