"""Scores of a record: read from what was worked out last, or worked out now."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import TypeAdapter

from arena.chosen import numbered, of_agent
from arena.compared import METHOD, Comparisons, compared, families_of, fought
from arena.leaderboard import board
from arena.provisional import Provisional, provisional
from arena.ranking import Ranking, ranked
from arena.scoring.comparing.duel import Duel
from arena.slices import Slice, sliced
from arena.store.accounts import read_accounts
from arena.store.bets import read_bets
from arena.store.frame import Connection
from arena.store.read import StoredCohort, cohorts
from arena.store.rollups import Rollup, basis_of, read_rollup
from arena.store.stated import read_latest, read_line_ups, read_stated
from markets.collector import undisturbed

NAME = "comparisons"
BODY = TypeAdapter(Comparisons)


@undisturbed()
def ranking(connection: Connection, cohort: int | None = None, *, anew: bool = False) -> Ranking:
    """The leaderboard of a record or of one cohort, with intervals, ties and the sentence that leads it.

    Comparisons that were kept and still hold are not made `anew`, unless so wished.
    """
    chosen = numbered(cohorts(connection), cohort)
    stated = read_stated(connection, cohort)
    rows = board(read_accounts(connection, cohort), stated, read_bets(connection, cohort))
    found = None if anew else _kept(connection, cohort)
    if found is None:
        found = compared(stated, families_of(read_line_ups(connection, cohort)))
    return ranked(rows, found, stated, replay=_is_replay(chosen))


def _kept(connection: Connection, cohort: int | None) -> Comparisons | None:
    kept = read_rollup(connection, name_of(cohort))
    if kept is None or kept.basis != basis_of(connection, METHOD):
        return None
    return BODY.validate_python(kept.body)


@undisturbed()
def slices(connection: Connection, by: str, cohort: int | None = None) -> list[Slice]:
    """Every agent against the market, slice by slice."""
    numbered(cohorts(connection), cohort)
    return sliced(read_stated(connection, cohort), by)


@undisturbed()
def expected(connection: Connection, cohort: int | None = None) -> list[Provisional]:
    """Every agent's scores if the latest prices were right, best first."""
    numbered(cohorts(connection), cohort)
    stated = read_stated(connection, cohort)
    found = provisional(stated, read_latest(connection, stated.markets))
    return sorted(found, key=lambda one: (one.skill is None, -(one.skill or 0), one.agent))


@undisturbed()
def fight(connection: Connection, one: str, other: str, cohort: int | None = None) -> Duel:
    """Two agents on the rows that both have; by way of the market where they have none in common."""
    for name in (one, other):
        of_agent(numbered(cohorts(connection), cohort), name)
    return fought(read_stated(connection, cohort), one, other)


def stale(connection: Connection) -> bool:
    """Whether something has ended since comparisons were worked out, or they never were."""
    kept = read_rollup(connection, name_of(None))
    return kept is None or kept.basis != basis_of(connection, METHOD)


def worked_out(connection: Connection, at: datetime) -> list[Rollup]:
    """The comparisons of all cohorts together, and of each."""
    basis, found = basis_of(connection, METHOD), list[Rollup]()
    for number in (None, *(stored.cohort.number for stored in cohorts(connection))):
        families = families_of(read_line_ups(connection, number))
        body = BODY.dump_python(compared(read_stated(connection, number), families), mode="json")
        found.append(Rollup(name_of(number), basis, at, body))
    return found


def name_of(cohort: int | None) -> str:
    """Under which name comparisons are kept."""
    return NAME if cohort is None else f"{NAME}/cohort {cohort}"


def _is_replay(chosen: Sequence[StoredCohort]) -> bool:
    return any(stored.cohort.stamp == "replay" for stored in chosen)
