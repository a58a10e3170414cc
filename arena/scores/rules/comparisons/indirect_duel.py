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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import sqrt

import numpy as np

from arena.scores.rules._columns import Floats, none_for_nan
from arena.scores.rules.comparisons import wild_bootstrap
from arena.scores.rules.comparisons.duel import Duel, Pair
from arena.scores.rules.comparisons.events import EventSums, Information
from arena.scores.rules.comparisons.gain import information_of, reason_of, sums_by_event_of
from arena.scores.rules.comparisons.interval import HALVINGS
from arena.scores.rules.comparisons.season_rows import SeasonForecasts

_COLUMNS = 4


def indirect_duel(season: SeasonForecasts, a: str, b: str, seed: int = 0) -> Duel:
    """Return one comparison through the market, with the interval of its gap."""
    duel = indirect_duels(season, [(a, b)], seed)[0]
    if duel.reason is not None:
        return duel

    a_sums = sums_by_event_of(season, season.of(a))
    b_sums = sums_by_event_of(season, season.of(b))
    low, high = _interval(season, a_sums, b_sums, seed)
    return replace(duel, low=low, high=high)


def indirect_duels(season: SeasonForecasts, pairs: Sequence[Pair], seed: int = 0) -> list[Duel]:
    """Return pairs of agents, compared through the market."""
    sums = {}
    information_of_agent = {}
    for name in sorted(set(chain.from_iterable(pairs))):
        own = season.of(name)
        sums[name] = sums_by_event_of(season, own)
        information_of_agent[name] = information_of(season, own)

    duels: list[Duel] = []
    for part in wild_bootstrap.blocks(pairs, _COLUMNS * len(season.events)):
        terms = [_bootstrap_columns(sums[a], sums[b], 0.0) for a, b in part]
        signed_sums = wild_bootstrap.signed_columns(season.events, np.hstack(terms), seed)
        columns = np.split(signed_sums, len(part), axis=1)
        duels += (
            _duel(pair, sums, information_of_agent, signed)
            for pair, signed in zip(part, columns, strict=True)
        )
    return duels


def _market_count(sums: EventSums) -> float:
    """Return the number of markets in an agent's mean, at least 1."""
    return max(float(sums.count.sum()), 1.0)


def _market_shares(a: EventSums, b: EventSums) -> tuple[Floats, Floats]:
    """Return each event's share of the markets of either agent."""
    return a.count / _market_count(a), b.count / _market_count(b)


def _contributions(a: EventSums, b: EventSums, gap: float) -> tuple[Floats, Floats]:
    """Return each event's contribution to either mean beyond what the null implies."""
    a_markets = a.count.sum()
    b_markets = b.count.sum()
    # Under the null the mean of b is `common_mean`, and that of a larger by the gap.
    total_without_gap = a.total.sum() - gap * a_markets + b.total.sum()
    common_mean = total_without_gap / max(a_markets + b_markets, 1)

    a_beyond = a.total - a.count * (common_mean + gap)
    b_beyond = b.total - b.count * common_mean
    return a_beyond / _market_count(a), b_beyond / _market_count(b)


def _bootstrap_columns(a: EventSums, b: EventSums, gap: float) -> Floats:
    """Return the columns whose signed sums give t*: both parts, and their difference times either share."""
    a_part, b_part = _contributions(a, b, gap)
    a_share, b_share = _market_shares(a, b)
    difference = a_part - b_part
    return np.stack([a_part, b_part, difference * a_share, difference * b_share], axis=1)


def _gap_variance(a: EventSums, b: EventSums) -> float:
    """Return V: the sum of squared differences of events from both means."""
    a_share, b_share = _market_shares(a, b)
    a_deviation = a.total / _market_count(a) - a_share * a.mean
    b_deviation = b.total / _market_count(b) - b_share * b.mean
    deviation = a_deviation - b_deviation
    return float(deviation @ deviation)


def _p_value(a: EventSums, b: EventSums, gap: float, signed: Floats) -> float:
    """Return p under the null of this gap."""
    a_part, b_part = _contributions(a, b, gap)
    a_share, b_share = _market_shares(a, b)
    a_signed, b_signed, signed_by_a_share, signed_by_b_share = signed.T
    difference = a_part - b_part

    # V* of each draw, expanded.
    spread = difference @ difference + a_signed**2 * (a_share @ a_share)
    spread += b_signed**2 * (b_share @ b_share)
    spread -= 2 * a_signed * b_signed * (a_share @ b_share)
    spread -= 2 * a_signed * signed_by_a_share
    spread += 2 * b_signed * signed_by_b_share

    # Both sides are multiplied by V · V*, which avoids dividing by a V of 0.
    observed = (a.mean - b.mean - gap) ** 2
    observed_squares = wild_bootstrap.DUST * observed * np.maximum(spread, 0)
    drawn_squares = (a_signed - b_signed) ** 2 * _gap_variance(a, b)
    draws_beyond = np.count_nonzero(drawn_squares >= observed_squares)
    return float((1 + draws_beyond) / (1 + a_signed.size))


def _duel(
    pair: Pair, sums: Mapping[str, EventSums], information_of_agent: Mapping[str, Information], signed: Floats
) -> Duel:
    """Return the comparison of two agents, from the signed sums of their terms."""
    a, b = pair
    a_sums = sums[a]
    b_sums = sums[b]
    counts = a_sums.count + b_sums.count
    events = int(np.count_nonzero(counts))

    reason = reason_of(information_of_agent[a]) or reason_of(information_of_agent[b])
    p = None
    if reason is None:
        p = _p_value(a_sums, b_sums, 0.0, signed)

    error = None
    if a_sums.count.any() and b_sums.count.any() and events > 1:
        variance = events / (events - 1) * _gap_variance(a_sums, b_sums)
        error = none_for_nan(sqrt(variance))

    return Duel(
        a=a,
        b=b,
        rows=0,
        markets=int(counts.sum()),
        events=events,
        effective=min(information_of_agent[a].effective, information_of_agent[b].effective),
        gap=none_for_nan(a_sums.mean - b_sums.mean),
        error=error,
        p=p,
        reason=reason,
        by="market",
    )


def _interval(season: SeasonForecasts, a: EventSums, b: EventSums, seed: int) -> tuple[float, float]:
    """Return the lowest and the highest gap that is not rejected."""
    # Signed sums are linear in the gap, so two of them determine all.
    at_zero = wild_bootstrap.signed_columns(season.events, _bootstrap_columns(a, b, 0.0), seed)
    at_one = wild_bootstrap.signed_columns(season.events, _bootstrap_columns(a, b, 1.0), seed)
    slope = at_one - at_zero

    def is_accepted(gap: float) -> bool:
        return _p_value(a, b, gap, at_zero + gap * slope) > wild_bootstrap.LEVEL

    middle = a.mean - b.mean
    step = 4 * sqrt(_gap_variance(a, b))
    return _accepted_end(is_accepted, middle, -step), _accepted_end(is_accepted, middle, step)


def _accepted_end(is_accepted: Callable[[float], bool], middle: float, step: float) -> float:
    """Return the last gap on one side that is not rejected."""
    outside = middle + step
    # Move out until the gap is rejected; a gap can't be larger than 2.
    while is_accepted(outside) and abs(outside) < 2:
        step *= 2
        outside = middle + step

    inside = middle
    # Then halve between the last accepted and the first rejected gap.
    for _ in range(HALVINGS):
        between = (inside + outside) / 2
        if is_accepted(between):
            inside = between
        else:
            outside = between

    return min(max(inside, -1.0), 1.0)
