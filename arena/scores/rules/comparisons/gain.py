"""Gain: how much closer to what happened than the market an agent lay, and how far chance may account for it.

- Formula: d = (r − o)² − (f − o)² on each row, r the market's forecast; the gain (the leaderboard's skill)
  is d averaged within markets, then over markets. Of a question of several options d is half the sum of
  theirs. Error, p-value (null: 0) and 95% interval are those of `wild_bootstrap`.
- Direction: higher is better; 0 is the market.
- Range: −1 to 1.
- Edge cases: nothing resolved gives None for everything, with the reason. Where `events` says that too little
  is known there is a gain, and a reason in place of interval and p-value. Who always says the price has a
  gain of exactly 0, an interval from 0 to 0 and p = 1. A market in several cohorts or rounds counts once.
- Source: seed 002 section 1.5; Diebold and Mariano (1995), here clustered by event.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from arena.errors import NaturalKey, natural_key
from arena.scores.rules._columns import highest_first, none_for_nan
from arena.scores.rules.comparisons import interval, wild_bootstrap
from arena.scores.rules.comparisons.events import EventSums, Information, information, sum_by_event
from arena.scores.rules.comparisons.season_rows import AgentForecasts, SeasonForecasts

NOTHING = "nothing resolved"


@dataclass(frozen=True, slots=True)
class Gain:
    """An agent's gain on the market. None if undefined, and `reason` says why."""

    agent: str
    rows: int
    markets: int
    events: int
    effective: float
    skill: float | None
    error: float | None
    low: float | None
    high: float | None
    p: float | None
    reason: str | None


def gain_order(gain: Gain) -> tuple[float, float, NaturalKey]:
    """Return the sort key of gains: the surest first."""
    return highest_first(gain.low), highest_first(gain.skill), natural_key(gain.agent)


def sums_by_event_of(season: SeasonForecasts, own: AgentForecasts) -> EventSums:
    """Return an agent's differences from the market by event."""
    error_difference = own.reference - own.error
    return sum_by_event(error_difference, own.market, season.event_of, len(season.events))


def gains(season: SeasonForecasts, seed: int = 0) -> list[Gain]:
    """Return every agent's gain on the market, in the season's order."""
    all_gains: list[Gain] = []
    for agents in wild_bootstrap.blocks(season.agents, len(season.events)):
        all_gains += _gains(season, agents, seed)
    return all_gains


def information_of(season: SeasonForecasts, own: AgentForecasts) -> Information:
    """Return the information behind an agent's gain."""
    gap = own.forecast - own.price
    rows = season.furthest(own.cell, gap)
    return information(gap[rows], own.price[rows], own.market[rows], season.event_of)


def _gains(season: SeasonForecasts, agents: Sequence[str], seed: int) -> Iterator[Gain]:
    """Yield the gains of agents, all compared by the same draws."""
    forecasts = [season.of(agent) for agent in agents]
    sums_by_agent = [sums_by_event_of(season, own) for own in forecasts]
    information_by_agent = [information_of(season, own) for own in forecasts]

    drawn = wild_bootstrap.signed_sums(season.events, sums_by_agent, seed)
    p_values = wild_bootstrap.p_values(drawn)
    is_judged = [information.is_enough for information in information_by_agent]
    spans = interval.intervals(drawn, is_judged)

    for place, agent in enumerate(agents):
        differences = sums_by_agent[place]
        gain = Gain(
            agent=agent,
            rows=forecasts[place].cell.size,
            markets=int(differences.count.sum()),
            events=int(np.count_nonzero(differences.count)),
            effective=information_by_agent[place].effective,
            skill=none_for_nan(differences.mean),
            error=none_for_nan(wild_bootstrap.error(differences)),
            low=None,
            high=None,
            p=None,
            reason=reason_of(information_by_agent[place]),
        )
        if gain.reason is None:
            span = spans[place]
            gain = replace(gain, low=span.low, high=span.high, p=float(p_values[place]))
        yield gain


def reason_of(known: Information) -> str | None:
    """Return why nothing can be inferred from this information; None if something can.

    >>> reason_of(Information()), reason_of(Information(25, 25.0, 10.0, 20.0))
    ('nothing resolved', None)
    """
    return known.missing if known.events else NOTHING
