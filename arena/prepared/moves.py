"""Why ranks moved: every agent's place a week ago and now, and the events that moved it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from pydantic import TypeAdapter

from arena.compared import events_of, season_of
from arena.frame import OPEN, Floats, Stated, evidence
from arena.prepared.kept import Kept, kept
from arena.prepared.material import Material
from arena.scoring.comparing.events import Sums
from arena.scoring.comparing.gain import Gain, gains, sums_of
from arena.scoring.comparing.ranks import order
from arena.scoring.comparing.rows import Season
from arena.store.frame import Connection
from arena.store.rollups import basis_of
from arena.timetable import WEEK
from markets.model import Market

METHOD = "moves 1"
NAME = "moves"
MOST = 3
"""The events that are named of each agent: those that did most."""


@dataclass(frozen=True, slots=True)
class Mover:
    """An event that has ended since, by the question of one of its markets, and what it did to a skill."""

    event_id: str
    market_id: str
    question: str
    change: float


@dataclass(frozen=True, slots=True)
class Move:
    """An agent's place by skill and its skill before and now; None before where it had none."""

    agent: str
    place_before: int | None
    place: int | None
    skill_before: float | None
    skill: float | None
    movers: tuple[Mover, ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """What has changed since an instant: how many markets and events have ended, and every agent's move."""

    since: datetime
    markets: int
    events: int
    moves: tuple[Move, ...]


FORM = TypeAdapter(Moves)


def kept_moves(connection: Connection) -> Kept[Moves] | None:
    """The moves as they were worked out last."""
    return kept(connection, NAME, basis_of(connection, METHOD), FORM)


def moves(material: Material, now: datetime) -> Moves:
    """What the week before an instant has changed."""
    since = now - WEEK
    before, after = season_of(_as_of(material, since)), season_of(material.stated)
    ended = [market for market, at in material.learnt.items() if at > since and market in material.pages]
    places = _places(before), _places(after)
    about = _about(material)
    found = [_move(agent, places, before, after, about) for agent in places[1]]
    events = {material.pages[market].event_id for market in ended}
    return Moves(since, len(ended), len(events), tuple(found))


def _as_of(material: Material, since: datetime) -> Stated:
    """The rows with no more ends than were known then."""
    rows = material.stated
    known = np.array([_was_known(material.learnt, market, since) for market in rows.markets], dtype=np.bool_)
    return replace(rows, outcome=np.where(known[rows.market], rows.outcome, OPEN))


def _was_known(learnt: Mapping[str, datetime], market: str, since: datetime) -> bool:
    return market in learnt and learnt[market] <= since


def _about(material: Material) -> dict[str, Market]:
    """A market of each event, as the season has them: a venue may have moved it to another since."""
    rows = evidence(material.stated)
    places, first = np.unique(events_of(rows), return_index=True)
    markets = rows.market[first].tolist()
    return {
        rows.events[place]: material.pages[rows.markets[market]]
        for place, market in zip(places.tolist(), markets, strict=True)
    }


Places = dict[str, tuple[int | None, Gain]]
"""Every agent's place on the board, if it has a skill, and its gain; the first one first."""


def _places(season: Season) -> Places:
    board = order(gains(season))
    return {
        gain.agent: (None if gain.skill is None else place, gain) for place, gain in enumerate(board, start=1)
    }


def _move(
    agent: str, places: tuple[Places, Places], before: Season, after: Season, about: Mapping[str, Market]
) -> Move:
    place, gain = places[1][agent]
    was, earlier = places[0].get(agent, (None, None))
    skill = None if earlier is None else earlier.skill
    old, new = (sums_of(season, season.of(agent)) for season in (before, after))
    movers = _movers(old, new, skill or 0.0, after.events, about) if gain.markets else ()
    return Move(agent, was, place, skill, gain.skill, movers)


def _movers(
    old: Sums, new: Sums, skill: float, events: tuple[str, ...], about: Mapping[str, Market]
) -> tuple[Mover, ...]:
    """The events that moved a mean most."""
    change = changes(old, new, skill)
    most = [place for place in np.argsort(-np.abs(change), kind="stable")[:MOST] if change[place]]
    named = [(events[place], float(change[place])) for place in most]
    return tuple(Mover(event, about[event].id, about[event].question, by) for event, by in named)


def changes(old: Sums, new: Sums, mean: float) -> Floats:
    """How far each event moved a mean: what it has added to the sum beyond what the old mean says of it.

    Together they are the new mean less the old one.

    >>> changes(Sums(np.array([0.2, 0.0]), np.array([1.0, 0.0])),
    ...         Sums(np.array([0.2, 0.6]), np.array([1.0, 1.0])), 0.2).round(9).tolist()
    [0.0, 0.2]
    """
    moved: Floats = (new.total - old.total - mean * (new.count - old.count)) / new.count.sum()
    return moved
