"""Why ranks moved: every agent's place a week ago and now, and the events that moved it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from pydantic import TypeAdapter

from arena.record.model.calendar import WEEK
from arena.record.model.columns import OPEN, Floats, ForecastColumns, evidence_rows
from arena.scores.cache import CacheKind
from arena.scores.comparisons import events_of, season_forecasts
from arena.scores.profiles.inputs import CacheInputs
from arena.scores.rules.comparisons.events import EventSums
from arena.scores.rules.comparisons.gain import Gain, gains, sums_of
from arena.scores.rules.comparisons.ranks import order
from arena.scores.rules.comparisons.season_rows import SeasonForecasts
from markets.model import Market

MOST = 3
"""The events that are named of each agent: those that did most."""


@dataclass(frozen=True, slots=True)
class MovingEvent:
    """An event that has ended since, by the question of one of its markets, and what it did to a skill."""

    event_id: str
    market_id: str
    question: str
    change: float


@dataclass(frozen=True, slots=True)
class RankMove:
    """An agent's place by skill and its skill before and now; None before where it had none."""

    agent: str
    place_before: int | None
    place: int | None
    skill_before: float | None
    skill: float | None
    movers: tuple[MovingEvent, ...]


@dataclass(frozen=True, slots=True)
class RankMoves:
    """What has changed since an instant: how many markets and events have ended, and every agent's move."""

    since: datetime
    markets: int
    events: int
    moves: tuple[RankMove, ...]


RANK_MOVES = CacheKind("moves", "moves 1", TypeAdapter(RankMoves))


def compute_moves(inputs: CacheInputs, now: datetime) -> RankMoves:
    """What the week before an instant has changed."""
    since = now - WEEK
    before, after = season_forecasts(_as_of(inputs, since)), season_forecasts(inputs.stated)
    ended = [market for market, at in inputs.learnt.items() if at > since and market in inputs.pages]
    places = _places(before), _places(after)
    about = _about(inputs)
    moves = tuple(_move(agent, places, before, after, about) for agent in places[1])
    events = {inputs.pages[market].event_id for market in ended}
    return RankMoves(since, len(ended), len(events), moves)


def _as_of(inputs: CacheInputs, since: datetime) -> ForecastColumns:
    """The rows with no more ends than were known then."""
    rows = inputs.stated
    learnt = inputs.learnt
    ended = [market in learnt and learnt[market] <= since for market in rows.markets]
    return replace(rows, outcome=np.where(np.array(ended, np.bool_)[rows.market], rows.outcome, OPEN))


def _about(inputs: CacheInputs) -> dict[str, Market]:
    """A market of each event, as the season has them: a venue may have moved it to another since."""
    rows = evidence_rows(inputs.stated)
    places, first = np.unique(events_of(rows), return_index=True)
    markets = rows.market[first].tolist()
    return {
        rows.events[place]: inputs.pages[rows.markets[market]]
        for place, market in zip(places.tolist(), markets, strict=True)
    }


PlacesByAgent = dict[str, tuple[int | None, Gain]]
"""Every agent's place on the board, if it has a skill, and its gain; the first one first."""


def _places(season: SeasonForecasts) -> PlacesByAgent:
    board = order(gains(season))
    return {
        gain.agent: (None if gain.skill is None else place, gain) for place, gain in enumerate(board, start=1)
    }


def _move(
    agent: str,
    places: tuple[PlacesByAgent, PlacesByAgent],
    before: SeasonForecasts,
    after: SeasonForecasts,
    about: Mapping[str, Market],
) -> RankMove:
    place, gain = places[1][agent]
    was, earlier = places[0].get(agent, (None, None))
    skill = None if earlier is None else earlier.skill
    old, new = (sums_of(season, season.of(agent)) for season in (before, after))
    movers = _movers(old, new, skill or 0.0, after.events, about) if gain.markets else ()
    return RankMove(agent, was, place, skill, gain.skill, movers)


def _movers(
    old: EventSums, new: EventSums, skill: float, events: tuple[str, ...], about: Mapping[str, Market]
) -> tuple[MovingEvent, ...]:
    """The events that moved a mean most."""
    change = event_changes(old, new, skill)
    most = [place for place in np.argsort(-np.abs(change), kind="stable")[:MOST] if change[place]]
    named = [(events[place], float(change[place])) for place in most]
    return tuple(MovingEvent(event, about[event].id, about[event].question, by) for event, by in named)


def event_changes(old: EventSums, new: EventSums, mean: float) -> Floats:
    """How far each event moved a mean: what it has added to the sum beyond what the old mean says of it.

    Together they are the new mean less the old one.

    >>> event_changes(EventSums(np.array([0.2, 0.0]), np.array([1.0, 0.0])),
    ...         EventSums(np.array([0.2, 0.6]), np.array([1.0, 1.0])), 0.2).round(9).tolist()
    [0.0, 0.2]
    """
    change: Floats = (new.total - old.total - mean * (new.count - old.count)) / new.count.sum()
    return change
