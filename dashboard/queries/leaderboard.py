"""What the leaderboard page asks of the record."""

from dataclasses import dataclass
from datetime import datetime

from arena.prepared.boards import kept_ranking
from arena.prepared.briefs import Brief, kept_briefs
from arena.prepared.kept import Kept
from arena.prepared.slices import kept_slices
from arena.ranking import Ranking
from arena.slices import Slice
from arena.store.frame import Connection
from arena.store.worth import Valued, read_valued
from dashboard.model import Line
from dashboard.source import Source, ask, cached


@dataclass(frozen=True, slots=True)
class Board:
    """A leaderboard as it was worked out last; without one, what every account is worth.

    `briefs` are of all cohorts together, whatever the board is of. `made_at` is that of what is older.
    """

    ranking: Ranking | None
    lines: tuple[Line, ...]
    money: tuple[Valued, ...]
    made_at: datetime | None
    fresh: bool


@cached
def board(record: Source, cohort: int | None = None) -> Board:
    """The leaderboard of all cohorts, or of one."""
    return ask(record, lambda connection: _read_board(connection, cohort))


@cached
def parts(record: Source, by: str) -> Kept[tuple[Slice, ...]] | None:
    """Every agent against the market in each part of the season by something."""
    return ask(record, lambda connection: kept_slices(connection, by))


def _read_board(connection: Connection, cohort: int | None) -> Board:
    found = kept_ranking(connection, cohort)
    if found is None:
        return Board(None, (), tuple(read_valued(connection, cohort)), None, fresh=False)
    briefs = kept_briefs(connection) if cohort is None else None
    made = [found.made_at, *([] if briefs is None else [briefs.made_at])]
    fresh = found.fresh and (briefs is None or briefs.fresh)
    return Board(found.value, lines(found.value, briefs), (), min(made), fresh)


def lines(ranking: Ranking, briefs: Kept[tuple[Brief, ...]] | None) -> tuple[Line, ...]:
    """The rows of a ranking, each with its brief where there is one."""
    known = {} if briefs is None else {brief.agent: brief for brief in briefs.value}
    return tuple(Line(row, known.get(row.agent)) for row in ranking.rows)
