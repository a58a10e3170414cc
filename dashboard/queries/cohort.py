"""What the page of a cohort asks of the record."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from arena.cohorts.diff import changes_in_words, cohort_changes
from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import (
    AccountEquity,
    EquityPoint,
    read_account_equity,
    read_cohort_depths,
    read_equity_curves,
    read_profits,
)
from arena.record.queries.cohorts import StoredCohort, read_cohorts, read_rounds
from arena.record.queries.progress import SettlementCount, read_settlement_counts
from arena.record.schema.database import Connection
from arena.scores.cache import CacheEntry
from arena.scores.leaderboard import LEADERBOARD, Leaderboard
from arena.scores.profiles.calibrations import CALIBRATIONS, CohortCalibrations
from dashboard.model import CohortLine, PnlPoint, RoundDecision
from dashboard.queries.season import line_of
from dashboard.source import RecordSource, ask, cached
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

    `changed` is None for the first cohort; `money` is there where the standings were never computed.
    """

    line: CohortLine
    cohort: Cohort
    before: int | None
    changed: tuple[str, ...]
    board: CacheEntry[Leaderboard] | None
    money: tuple[AccountEquity, ...]


@dataclass(frozen=True, slots=True)
class CohortCurves:
    """What the accounts of a cohort have gained, with the rounds and settlements of that time."""

    points: tuple[PnlPoint, ...]
    rounds: tuple[RoundDecision, ...]
    settled: tuple[SettlementCount, ...]


@dataclass(frozen=True, slots=True)
class CohortReturn:
    """What all accounts of a cohort together have made of what they were given, in percent; None before."""

    number: int
    percent: float | None


@dataclass(frozen=True, slots=True)
class CohortReturns:
    """Every cohort with its return, oldest first, and the newest that tells something.

    That is the newest in which a market has ended; where none has, the one that has played longest.
    """

    cohorts: tuple[CohortReturn, ...]
    telling: int


@cached
def cohort_returns(record: RecordSource) -> CohortReturns:
    """What can be chosen."""
    return ask(record, _read_returns)


@cached
def cohort_page(record: RecordSource, number: int) -> CohortPage:
    """One cohort, but for its curves and its calibration."""
    return ask(record, lambda connection: _read_cohort(connection, number))


@cached
def curves_of(record: RecordSource, number: int, back: str) -> CohortCurves:
    """The curves of a cohort in one of the ranges of `BACK`, or from its start."""
    return ask(record, lambda connection: _read_curves(connection, number, BACK.get(back)))


@cached
def calibrations(record: RecordSource, number: int) -> CacheEntry[CohortCalibrations] | None:
    """How calibrated a cohort's agents were, as it was computed last."""
    return ask(record, lambda connection: CALIBRATIONS.read(connection, number))


def _read_returns(connection: Connection) -> CohortReturns:
    profits, stored = read_profits(connection), [one.cohort for one in read_cohorts(connection)]
    found = [
        CohortReturn(
            one.number, 100 * sum(mine.values()) / (one.bankroll * len(mine)) if one.bankroll else None
        )
        if (mine := profits.get(one.number))
        else CohortReturn(one.number, None)
        for one in stored
    ]
    newest = [one.number for one in reversed(found)]
    ended = next((number for number in newest if read_settlement_counts(connection, number)), None)
    valued = next((one.number for one in found if one.percent is not None), newest[0])
    return CohortReturns(tuple(found), ended or valued)


def _read_cohort(connection: Connection, number: int) -> CohortPage:
    known = read_cohorts(connection)
    place = next(place for place, one in enumerate(known) if one.cohort.number == number)
    stored, before = known[place], known[place - 1].cohort if place else None
    board = LEADERBOARD.read(connection, number)
    return CohortPage(
        line=line_of(connection, stored, read_cohort_depths(connection)),
        cohort=stored.cohort,
        before=None if before is None else before.number,
        changed=() if before is None else tuple(changes_in_words(cohort_changes(before, stored.cohort))),
        board=board,
        money=tuple(read_account_equity(connection, number)) if board is None else (),
    )


def _read_curves(connection: Connection, number: int, back: timedelta | None) -> CohortCurves:
    stored: StoredCohort = next(one for one in read_cohorts(connection) if one.cohort.number == number)
    points = gains(stored.cohort, read_equity_curves(connection, number, POINTS, back))
    if not points:
        return CohortCurves((), (), ())
    first, last = points[0].at, points[-1].at
    decided = (RoundDecision(begun.number, begun.at) for begun in read_rounds(connection, stored.id))
    return CohortCurves(
        points,
        tuple(one for one in decided if first <= one.at <= last),
        tuple(one for one in read_settlement_counts(connection, number) if first <= one.at <= last),
    )


def gains(cohort: Cohort, worth: Iterable[EquityPoint]) -> tuple[PnlPoint, ...]:
    """What each account has gained at every mark, in dollars and in percent of its bankroll."""
    found = ((mark.agent, mark.at, mark.total - cohort.bankroll) for mark in worth)
    return tuple(PnlPoint(agent, at, gain / ONE, 100 * gain / cohort.bankroll) for agent, at, gain in found)
