"""What the page of a cohort asks of the record."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.lineups import changes, in_words
from arena.model import Cohort
from arena.prepared.boards import kept_ranking
from arena.prepared.cohorts import Calibrations, kept_calibrations
from arena.prepared.kept import Kept
from arena.ranking import Ranked
from arena.store.curves import Worth, read_worth
from arena.store.ends import Settled, read_settled
from arena.store.frame import Connection
from arena.store.read import StoredCohort, cohorts, rounds
from arena.store.worth import Valued, read_valued
from dashboard.model import CohortLine, Decided, Point
from dashboard.queries.season import line_of
from dashboard.source import Source, ask, cached
from markets.millionths import ONE

POINTS = 2_000
"""The most points that the curves of a chart have together."""
BACK = {
    "1d": timedelta(days=1),
    "1w": timedelta(days=7),
    "1m": timedelta(days=30),
    "3m": timedelta(days=91),
}
"""How far back from the newest mark a range of the curves goes."""


@dataclass(frozen=True, slots=True)
class CohortPage:
    """One cohort: what was frozen, what differs from the cohort before, and its standings.

    `changed` is None for the first cohort; `money` is there where the standings were never worked out.
    """

    line: CohortLine
    cohort: Cohort
    before: int | None
    changed: tuple[str, ...]
    rows: tuple[Ranked, ...]
    money: tuple[Valued, ...]
    made_at: datetime | None
    fresh: bool


@dataclass(frozen=True, slots=True)
class Curves:
    """What the accounts of a cohort have gained, with the rounds and settlements of that time."""

    points: tuple[Point, ...]
    rounds: tuple[Decided, ...]
    settled: tuple[Settled, ...]


@cached
def cohort_page(record: Source, number: int) -> CohortPage:
    """One cohort, but for its curves and its calibration."""
    return ask(record, lambda connection: _read_cohort(connection, number))


@cached
def curves_of(record: Source, number: int, back: str) -> Curves:
    """The curves of a cohort in one of the ranges of `BACK`, or from its start."""
    return ask(record, lambda connection: _read_curves(connection, number, BACK.get(back)))


@cached
def calibrations(record: Source, number: int) -> Kept[Calibrations] | None:
    """How calibrated a cohort's agents were, as it was worked out last."""
    return ask(record, lambda connection: kept_calibrations(connection, number))


def _read_cohort(connection: Connection, number: int) -> CohortPage:
    known = cohorts(connection)
    place = next(place for place, one in enumerate(known) if one.cohort.number == number)
    stored, before = known[place], known[place - 1].cohort if place else None
    found = kept_ranking(connection, number)
    return CohortPage(
        line=line_of(connection, stored),
        cohort=stored.cohort,
        before=None if before is None else before.number,
        changed=() if before is None else tuple(in_words(changes(before, stored.cohort))),
        rows=() if found is None else found.value.rows,
        money=tuple(read_valued(connection, number)) if found is None else (),
        made_at=None if found is None else found.made_at,
        fresh=found is not None and found.fresh,
    )


def _read_curves(connection: Connection, number: int, back: timedelta | None) -> Curves:
    stored: StoredCohort = next(one for one in cohorts(connection) if one.cohort.number == number)
    points = gains(stored.cohort, read_worth(connection, number, POINTS, back))
    if not points:
        return Curves((), (), ())
    first, last = points[0].at, points[-1].at
    decided = (Decided(begun.number, begun.at) for begun in rounds(connection, stored.id))
    return Curves(
        points,
        tuple(one for one in decided if first <= one.at <= last),
        tuple(one for one in read_settled(connection, number) if first <= one.at <= last),
    )


def gains(cohort: Cohort, worth: Iterable[Worth]) -> tuple[Point, ...]:
    """What each account has gained at every mark, in dollars and in percent of its bankroll."""
    found = ((mark.agent, mark.at, mark.total - cohort.bankroll) for mark in worth)
    return tuple(Point(agent, at, gain / ONE, 100 * gain / cohort.bankroll) for agent, at, gain in found)
