"""Scores of a record: read from what was worked out last, or worked out now.

The leaderboard of all cohorts and of each, whole, with its intervals and its sentence.

Every agent against the market in parts of the season: by category, horizon, price, cohort, release.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import TypeAdapter

from arena.record.queries.accounts import read_accounts
from arena.record.queries.cohorts import StoredCohort, cohorts_of_agent, read_cohorts, select_cohorts
from arena.record.queries.forecasts import (
    Connection,
    read_bet_columns,
    read_forecast_columns,
    read_line_ups,
    read_newest_mids,
)
from arena.record.queries.progress import accounts_basis, is_cohort_over
from arena.record.write.rollups import Rollup, read_basis, read_rollup, scores_basis
from arena.scores.cache.entry import CacheEntry, read_entry, to_rollup
from arena.scores.comparisons import (
    COMPARISON_METHOD,
    Comparisons,
    compare_agents,
    compare_two,
    twin_families,
)
from arena.scores.leaderboard import (
    Leaderboard,
    ProvisionalScores,
    provisional_scores,
    rank_agents,
    score_agents,
)
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.slices import Slice, slice_gains
from markets.garbage_collection import gc_paused

COMPARISONS_NAME = "comparisons"
COMPARISONS_FORM = TypeAdapter(Comparisons)


@gc_paused()
def compute_leaderboard(
    connection: Connection, cohort: int | None = None, *, anew: bool = False
) -> Leaderboard:
    """The leaderboard of a record or of one cohort, with intervals, ties and the sentence that leads it.

    Comparisons that were kept and still hold are not made `anew`, unless so wished.
    """
    chosen = select_cohorts(read_cohorts(connection), cohort)
    stated = read_forecast_columns(connection, cohort)
    rows = score_agents(read_accounts(connection, cohort), stated, read_bet_columns(connection, cohort))
    found = None if anew else _cached_comparisons(connection, cohort)
    if found is None:
        found = compare_agents(stated, twin_families(read_line_ups(connection, cohort)))
    return rank_agents(rows, found, stated, replay=_is_replay(chosen))


def _cached_comparisons(connection: Connection, cohort: int | None) -> Comparisons | None:
    kept = read_rollup(connection, comparisons_name(cohort))
    if kept is None or kept.basis != scores_basis(connection, COMPARISON_METHOD):
        return None
    return COMPARISONS_FORM.validate_python(kept.body)


@gc_paused()
def compute_slices(connection: Connection, by: str, cohort: int | None = None) -> list[Slice]:
    """Every agent against the market, slice by slice."""
    select_cohorts(read_cohorts(connection), cohort)
    return slice_gains(read_forecast_columns(connection, cohort), by)


@gc_paused()
def compute_provisional(connection: Connection, cohort: int | None = None) -> list[ProvisionalScores]:
    """Every agent's scores if the latest prices were right, best first."""
    select_cohorts(read_cohorts(connection), cohort)
    stated = read_forecast_columns(connection, cohort)
    found = provisional_scores(stated, read_newest_mids(connection, stated.markets))
    return sorted(found, key=lambda one: (one.skill is None, -(one.skill or 0), one.agent))


@gc_paused()
def compute_duel(connection: Connection, one: str, other: str, cohort: int | None = None) -> Duel:
    """Two agents on the rows that both have; by way of the market where they have none in common."""
    for name in (one, other):
        cohorts_of_agent(select_cohorts(read_cohorts(connection), cohort), name)
    return compare_two(read_forecast_columns(connection, cohort), one, other)


def comparisons_are_stale(connection: Connection) -> bool:
    """Whether something has ended since comparisons were worked out, or they never were."""
    kept = read_rollup(connection, comparisons_name(None))
    return kept is None or kept.basis != scores_basis(connection, COMPARISON_METHOD)


def compute_comparisons(connection: Connection, at: datetime) -> list[Rollup]:
    """The comparisons of all cohorts together, and of each."""
    basis, found = scores_basis(connection, COMPARISON_METHOD), list[Rollup]()
    for number in (None, *(stored.cohort.number for stored in read_cohorts(connection))):
        families = twin_families(read_line_ups(connection, number))
        body = COMPARISONS_FORM.dump_python(
            compare_agents(read_forecast_columns(connection, number), families), mode="json"
        )
        found.append(Rollup(comparisons_name(number), basis, at, body))
    return found


def comparisons_name(cohort: int | None) -> str:
    """Under which name comparisons are kept."""
    return COMPARISONS_NAME if cohort is None else f"{COMPARISONS_NAME}/cohort {cohort}"


def _is_replay(chosen: Sequence[StoredCohort]) -> bool:
    return any(stored.cohort.stamp == "replay" for stored in chosen)


LEADERBOARD_METHOD = "board 1"
LEADERBOARD_FORM = TypeAdapter(Leaderboard)


def cached_leaderboard(connection: Connection, cohort: int | None = None) -> CacheEntry[Leaderboard] | None:
    """The leaderboard as it was worked out last."""
    return read_entry(
        connection, leaderboard_name(cohort), _leaderboard_basis(connection, cohort), LEADERBOARD_FORM
    )


def stale_leaderboards(connection: Connection) -> list[int | None]:
    """The boards that are no longer what they were, by their cohorts; None is that of all."""
    numbers = [None, *(stored.cohort.number for stored in read_cohorts(connection))]
    return [
        n for n in numbers if read_basis(connection, leaderboard_name(n)) != _leaderboard_basis(connection, n)
    ]


def compute_leaderboards(connection: Connection, stale: list[int | None], at: datetime) -> Iterator[Rollup]:
    """These boards, worked out anew, one after the other."""
    for cohort in stale:
        basis = _leaderboard_basis(connection, cohort)
        yield to_rollup(
            leaderboard_name(cohort), basis, at, LEADERBOARD_FORM, compute_leaderboard(connection, cohort)
        )


def leaderboard_name(cohort: int | None) -> str:
    """Under which name a board is kept."""
    return "board" if cohort is None else f"board/cohort {cohort}"


def _leaderboard_basis(connection: Connection, cohort: int | None) -> str:
    """What has ended; where accounts still change, also how often they were looked at."""
    ends = scores_basis(connection, LEADERBOARD_METHOD)
    over = cohort is not None and is_cohort_over(connection, cohort)
    return ends if over else f"{ends}; {accounts_basis(connection)}"


SLICES_METHOD = "slices 1"
SLICES_FORM = TypeAdapter(tuple[Slice, ...])


def cached_slices(connection: Connection, by: str) -> CacheEntry[tuple[Slice, ...]] | None:
    """All slices by one of `arena.scores.slices.BY`, as they were worked out last."""
    return read_entry(connection, slices_name(by), scores_basis(connection, SLICES_METHOD), SLICES_FORM)


def slices_name(by: str) -> str:
    """Under which name slices are kept."""
    return f"slices/{by}"
