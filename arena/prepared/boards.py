"""The leaderboard of all cohorts and of each, whole, with its intervals and its sentence."""

from pydantic import TypeAdapter

from arena.prepared.kept import Kept, kept
from arena.ranking import Ranking
from arena.store.frame import Connection
from arena.store.rollups import basis_of

METHOD = "board 1"
FORM = TypeAdapter(Ranking)


def kept_ranking(connection: Connection, cohort: int | None = None) -> Kept[Ranking] | None:
    """The leaderboard as it was worked out last."""
    return kept(connection, name_of(cohort), basis_of(connection, METHOD), FORM)


def name_of(cohort: int | None) -> str:
    """Under which name a board is kept."""
    return "board" if cohort is None else f"board/cohort {cohort}"
