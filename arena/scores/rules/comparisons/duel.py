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

from arena.scores.rules._columns import Flags, none_for_nan
from arena.scores.rules.comparisons import interval, wild_bootstrap
from arena.scores.rules.comparisons.events import EventSums, information, sum_by_event
from arena.scores.rules.comparisons.gain import reason_of
from arena.scores.rules.comparisons.season_rows import AgentForecasts, SeasonForecasts


@dataclass(frozen=True, slots=True)
class Duel:
    """Two agents compared. `gap` is above 0 where `a` is ahead. None where nothing can be said.

    `by` says how: on common rows, or each against the market on rows of its own, as `indirect_duel` does. `p`
    and the interval from `low` to `high`, which is computed where it is asked for, hold for one look at one
    pair: which of two is better is told by `duel_evidence`.
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
        """Whether both always said the same, as far as scores can tell."""
        return self.gap == 0 and not self.error

    def winner(self, level: float = wild_bootstrap.LEVEL) -> str | None:
        """Who is ahead by more than chance, had this been the only look at the only pair."""
        if self.p is None or self.gap is None or self.p > level:
            return None
        return self.a if self.gap > 0 else self.b


def duel(season: SeasonForecasts, a: str, b: str, seed: int = 0) -> Duel:
    """One duel, with the interval of its gap."""
    return _duels(season, [(a, b)], seed)[0]


def duels(season: SeasonForecasts) -> list[Duel]:
    """Return every pair of the agents, with the interval of its gap."""
    pairs = list(combinations(season.agents, 2))
    parts = wild_bootstrap.blocks(pairs, len(season.events))
    return [one for part in parts for one in _duels(season, part, 0)]


def gap_between(season: SeasonForecasts, a: str, b: str) -> float | None:
    """The gap alone; None without a common row."""
    one, other = season.of(a), season.of(b)
    return none_for_nan(_differences(season, one, other, *common_rows(one, other, season.cells)).mean)


def _duels(season: SeasonForecasts, pairs: Sequence[tuple[str, str]], seed: int) -> list[Duel]:
    """Return these pairs, with p-values and, of those of which something can be inferred, intervals."""
    plain, sums = zip(*(_gap(season, *pair) for pair in pairs), strict=True)
    drawn = wild_bootstrap.signed_sums(season.events, sums, seed)
    ps = wild_bootstrap.p_values(drawn)
    found = [one if one.reason else replace(one, p=float(p)) for one, p in zip(plain, ps, strict=True)]
    ends = interval.intervals(drawn, [one.reason is None for one in found])
    both = zip(found, ends, strict=True)
    return [one if one.reason else replace(one, low=span.low, high=span.high) for one, span in both]


def _gap(season: SeasonForecasts, a: str, b: str) -> tuple[Duel, EventSums]:
    """What both have in common, and by how much one is ahead there; their differences by event."""
    one, other = season.of(a), season.of(b)
    x, y = common_rows(one, other, season.cells)
    sums, market = _differences(season, one, other, x, y), one.market[x]
    apart = one.forecast[x] - other.forecast[y]
    known = information(apart, one.price[x], market, season.event_of)
    duel = Duel(
        a=a,
        b=b,
        rows=market.size,
        markets=int(sums.count.sum()),
        events=int(np.count_nonzero(sums.count)),
        effective=known.effective,
        gap=none_for_nan(sums.mean),
        error=none_for_nan(wild_bootstrap.error(sums)),
        p=None,
        reason=reason_of(known) if market.size else "no resolved forecast in common",
    )
    return duel, sums


def _differences(
    season: SeasonForecasts, a: AgentForecasts, b: AgentForecasts, x: Flags | slice, y: Flags | slice
) -> EventSums:
    return sum_by_event(b.error[y] - a.error[x], a.market[x], season.event_of, len(season.events))


def common_rows(a: AgentForecasts, b: AgentForecasts, cells: int) -> tuple[Flags | slice, Flags | slice]:
    """The rows of each on the markets and instants that both have, in the same order."""
    if np.array_equal(a.cell, b.cell):
        return slice(None), slice(None)
    in_a, in_b = np.zeros((2, cells), dtype=np.bool_)
    in_a[a.cell] = in_b[b.cell] = True
    return in_b[a.cell], in_a[b.cell]
