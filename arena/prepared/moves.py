"""Why ranks moved: every agent's place a week ago and now, and the events that moved it."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter

from arena.prepared.kept import Kept, kept
from arena.store.frame import Connection
from arena.store.rollups import basis_of

METHOD = "moves 1"
NAME = "moves"


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
