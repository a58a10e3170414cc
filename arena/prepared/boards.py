"""The leaderboard of all cohorts and of each, whole, with its intervals and its sentence."""

from collections.abc import Iterator
from datetime import datetime

from pydantic import TypeAdapter

from arena.prepared.kept import Kept, kept, rolled
from arena.ranking import Ranking
from arena.scores import ranking
from arena.store.ended import count_looks, is_over
from arena.store.frame import Connection
from arena.store.read import cohorts
from arena.store.rollups import Rollup, basis_of, read_basis

METHOD = "board 1"
FORM = TypeAdapter(Ranking)


def kept_ranking(connection: Connection, cohort: int | None = None) -> Kept[Ranking] | None:
    """The leaderboard as it was worked out last."""
    return kept(connection, name_of(cohort), _basis(connection, cohort), FORM)


def stale_boards(connection: Connection) -> list[int | None]:
    """The boards that are no longer what they were, by their cohorts; None is that of all."""
    numbers = [None, *(stored.cohort.number for stored in cohorts(connection))]
    return [n for n in numbers if read_basis(connection, name_of(n)) != _basis(connection, n)]


def boards(connection: Connection, stale: list[int | None], at: datetime) -> Iterator[Rollup]:
    """These boards, worked out anew, one after the other."""
    for cohort in stale:
        basis = _basis(connection, cohort)
        yield rolled(name_of(cohort), basis, at, FORM, ranking(connection, cohort))


def name_of(cohort: int | None) -> str:
    """Under which name a board is kept."""
    return "board" if cohort is None else f"board/cohort {cohort}"


def _basis(connection: Connection, cohort: int | None) -> str:
    """What has ended; where accounts still change, also how often they were looked at."""
    ends = basis_of(connection, METHOD)
    over = cohort is not None and is_over(connection, cohort)
    return ends if over else f"{ends}; {count_looks(connection)}"
