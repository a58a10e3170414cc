"""Apart: two agents that forecast different markets, compared by their gains on the market.

- Formula: the gap is m_a − m_b, each agent's `gain` over its own markets. Under the null that it is δ,
  the gain of b is θ = (S_a − δN_a + S_b) / (N_a + N_b) and that of a is θ + δ; event g weighs in with u_g
  = (s_ga − n_ga(θ + δ)) / N_a − (s_gb − n_gb·θ) / N_b, and t is Σ u_g over √V, where V is the sum of the
  squares of these terms at each agent's own mean. p is that of `wild_bootstrap`, by draws alone; both
  agents share each event's coin.
- Direction: above 0, a is ahead.
- Range: −1 to 1.
- Edge cases: where either agent has too little for an interval (`events`) there is a gap and no p-value.
  Where both have common rows `duel` is sharper. Markets that are hard or easy for everybody do not count for
  or against anyone, as raw Brier scores would have it; but on prices with little error left there is less to
  gain.
- Source: Welch's comparison of two means, with the bootstrap of Cameron, Gelbach and Miller (2008).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan, sqrt

import numpy as np

from arena.scores.rules._columns import Floats, none_for_nan
from arena.scores.rules.comparisons import wild_bootstrap
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.events import EventSums, Information
from arena.scores.rules.comparisons.gain import information_of, reason_of, sums_of
from arena.scores.rules.comparisons.interval import HALVINGS
from arena.scores.rules.comparisons.season_rows import SeasonForecasts

_COLUMNS = 4


def indirect_duel(season: SeasonForecasts, a: str, b: str, seed: int = 0) -> Duel:
    """One comparison by way of the market, with the interval of its gap."""
    duel = indirect_duels(season, [(a, b)], seed)[0]
    if duel.reason is not None:
        return duel
    low, high = _interval(season, sums_of(season, season.of(a)), sums_of(season, season.of(b)), seed)
    return replace(duel, low=low, high=high)


def indirect_duels(season: SeasonForecasts, pairs: Sequence[tuple[str, str]], seed: int = 0) -> list[Duel]:
    """Pairs of agents, compared by way of the market."""
    names = sorted({name for pair in pairs for name in pair})
    sums = {name: sums_of(season, season.of(name)) for name in names}
    known = {name: information_of(season, season.of(name)) for name in names}
    parts = wild_bootstrap.blocks(pairs, _COLUMNS * len(season.events))
    return [one for part in parts for one in _some(season, part, sums, known, seed)]


def _some(
    season: SeasonForecasts,
    pairs: Sequence[tuple[str, str]],
    sums: Mapping[str, EventSums],
    known: Mapping[str, Information],
    seed: int,
) -> Iterator[Duel]:
    both = [(sums[a], sums[b]) for a, b in pairs]
    drawn = wild_bootstrap.signed_columns(season.events, np.hstack([_terms(*two, 0.0) for two in both]), seed)
    columns = np.split(drawn, len(pairs), axis=1)
    rests = [(known[a], known[b]) for a, b in pairs]
    return (_duel(*each) for each in zip(pairs, both, rests, columns, strict=True))


def _shares(a: EventSums, b: EventSums) -> tuple[Floats, Floats]:
    """Each event's share of the markets of either agent."""
    return a.count / max(a.count.sum(), 1), b.count / max(b.count.sum(), 1)


def _parts(a: EventSums, b: EventSums, gap: float) -> tuple[Floats, Floats]:
    """What each event adds to either mean beyond what the null says."""
    markets = a.count.sum(), b.count.sum()
    common = (a.total.sum() - gap * markets[0] + b.total.sum()) / max(markets[0] + markets[1], 1)
    mine = (a.total - a.count * (common + gap)) / max(markets[0], 1)
    return mine, (b.total - b.count * common) / max(markets[1], 1)


def _terms(a: EventSums, b: EventSums, gap: float) -> Floats:
    """The columns whose turned sums make t*: both parts, and their difference times either share."""
    (mine, yours), (x, y) = _parts(a, b, gap), _shares(a, b)
    return np.stack([mine, yours, (mine - yours) * x, (mine - yours) * y], axis=1)


def _spread(a: EventSums, b: EventSums) -> float:
    x, y = _shares(a, b)
    markets = max(a.count.sum(), 1), max(b.count.sum(), 1)
    rest = (a.total / markets[0] - x * a.mean) - (b.total / markets[1] - y * b.mean)
    return float(rest @ rest)


def _p(a: EventSums, b: EventSums, gap: float, turned: Floats) -> float:
    """p under the null that the gap is this one."""
    (mine, yours), (x, y) = _parts(a, b, gap), _shares(a, b)
    one, two, by_x, by_y = turned.T
    spread = (mine - yours) @ (mine - yours) + one**2 * (x @ x) + two**2 * (y @ y)
    spread = spread - 2 * one * two * (x @ y) - 2 * one * by_x + 2 * two * by_y
    observed = (a.mean - b.mean - gap) ** 2
    beyond = (one - two) ** 2 * _spread(a, b) >= wild_bootstrap.DUST * observed * np.maximum(spread, 0)
    return float((1 + np.count_nonzero(beyond)) / (1 + one.size))


def _duel(
    pair: tuple[str, str],
    both: tuple[EventSums, EventSums],
    rests: tuple[Information, Information],
    turned: Floats,
) -> Duel:
    a, b = both
    reason = reason_of(rests[0]) or reason_of(rests[1])
    events = int(np.count_nonzero(a.count + b.count))
    wide = (
        sqrt(events / (events - 1) * _spread(a, b)) if a.count.any() and b.count.any() and events > 1 else nan
    )
    return Duel(
        a=pair[0],
        b=pair[1],
        rows=0,
        markets=int(a.count.sum() + b.count.sum()),
        events=events,
        effective=min(known.effective for known in rests),
        gap=none_for_nan(a.mean - b.mean),
        error=none_for_nan(wide),
        p=_p(a, b, 0.0, turned) if reason is None else None,
        reason=reason,
        by="market",
    )


def _interval(season: SeasonForecasts, a: EventSums, b: EventSums, seed: int) -> tuple[float, float]:
    """Every gap that is not refused. Turned sums are straight lines in the gap: two of them say all."""
    at = [wild_bootstrap.signed_columns(season.events, _terms(a, b, gap), seed) for gap in (0.0, 1.0)]

    def accepted(gap: float) -> bool:
        return _p(a, b, gap, at[0] + gap * (at[1] - at[0])) > wild_bootstrap.LEVEL

    middle, step = a.mean - b.mean, 4 * sqrt(_spread(a, b))
    return _end(accepted, middle, -step), _end(accepted, middle, step)


def _end(accepted: Callable[[float], bool], middle: float, step: float) -> float:
    """The last gap on one side that is held."""
    while accepted(middle + step) and abs(middle + step) < 2:
        step *= 2
    inside, outside = middle, middle + step
    for _ in range(HALVINGS):
        between = (inside + outside) / 2
        inside, outside = (between, outside) if accepted(between) else (inside, between)
    return min(max(inside, -1.0), 1.0)
