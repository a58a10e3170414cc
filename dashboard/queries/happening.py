"""What is going on: how the arena stands, the newest decisions, and what a week has changed."""

from dataclasses import dataclass

from arena.clock import Real
from arena.expected import Expected
from arena.prepared.kept import Kept
from arena.prepared.moves import Moves, kept_moves
from arena.standing import look
from arena.status import RoundState, Status
from arena.store.frame import Connection
from arena.store.newest import Acted, read_busiest
from dashboard.source import Source, ask, cached

NAMED = 3
"""So many turns of the newest round are named: those with most trades."""


@dataclass(frozen=True, slots=True)
class Happening:
    """The status as `arena status` has it without a config, the newest round, and the moves of a week."""

    status: Status
    newest: RoundState | None
    turns: tuple[Acted, ...]
    moves: Kept[Moves] | None


@cached
def happening(record: Source) -> Happening:
    """What is going on in the whole arena."""
    return ask(record, _read)


def _read(connection: Connection) -> Happening:
    status = look(connection, Real().now(), Expected())
    newest = max(status.last, key=lambda one: one.cohort, default=None)
    turns = () if newest is None else tuple(read_busiest(connection, newest.id, NAMED))
    return Happening(status, newest, turns, kept_moves(connection))
