"""What is going on: the newest decisions, and what a week has changed."""

from dataclasses import dataclass

from arena.prepared.kept import Kept
from arena.prepared.moves import Moves, kept_moves
from arena.store.frame import Connection
from arena.store.newest import Acted, read_busiest
from dashboard.source import Source, ask, cached

NAMED = 3
"""So many turns of the newest round are named: those with most trades."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Those who traded most in a round, and the moves of a week."""

    turns: tuple[Acted, ...]
    moves: Kept[Moves] | None


@cached
def happening(record: Source, round: int | None) -> Happening:
    """What is going on in the whole arena, with the turns of the round that has this id in the record."""
    return ask(record, lambda connection: _read(connection, round))


def _read(connection: Connection, round: int | None) -> Happening:
    turns = () if round is None else tuple(read_busiest(connection, round, NAMED))
    return Happening(turns, kept_moves(connection))
