"""What is going on: the newest decisions, and what a week has changed."""

from dataclasses import dataclass

from arena.record.queries.turns import TurnActivity, read_busiest_turns
from arena.record.schema.database import Connection
from arena.scores.cache import CacheEntry
from arena.scores.profiles.rank_moves import RANK_MOVES, RankMoves
from dashboard.source import RecordSource, ask, cached

NAMED = 3
"""So many turns of the newest round are named: those with most trades."""


@dataclass(frozen=True, slots=True)
class Activity:
    """Those who traded most in a round, and the moves of a week."""

    turns: tuple[TurnActivity, ...]
    moves: CacheEntry[RankMoves] | None


@cached
def activity(record: RecordSource, round: int | None) -> Activity:
    """What is going on in the whole arena, with the turns of the round that has this id in the record."""
    return ask(record, lambda connection: _read(connection, round))


def _read(connection: Connection, round: int | None) -> Activity:
    turns = () if round is None else tuple(read_busiest_turns(connection, round, NAMED))
    return Activity(turns, RANK_MOVES.read(connection))
