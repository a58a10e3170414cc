"""What the page of a cohort asks of the record."""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from arena.belief import stated as probability
from arena.frame import Floats, Ints, Stated, of_agent, take
from arena.leaderboard import MARKET
from arena.model import Cohort
from arena.scores import ranking
from arena.scoring.calibration import bins
from arena.store.bets import read_bets
from arena.store.curves import Worth, read_worth
from arena.store.frame import Connection
from arena.store.read import StoredCohort, cohorts, rounds
from arena.store.stated import read_stated
from dashboard.model import Calibration, Calibrations, CohortPage, Decided, Point
from dashboard.queries.season import line_of
from dashboard.source import Source, ask, cached
from dashboard.thin import thin
from markets.millionths import ONE

Reading = Literal["stated", "anchored", "implied"]

POINTS = 2_000
"""The most points that the curves of a chart have together."""


@cached
def cohort_page(record: Source, number: int) -> CohortPage:
    """One cohort, whole."""
    return ask(record, lambda connection: _read_cohort(connection, number))


@cached
def calibrations(record: Source, number: int, of: Reading) -> Calibrations:
    """Each agent's calibration in a cohort, and the market's own."""
    return ask(record, lambda connection: _read_calibrations(connection, number, of))


def _read_cohort(connection: Connection, number: int) -> CohortPage:
    stored = _stored(connection, number)
    return CohortPage(
        line=line_of(connection, stored),
        cohort=stored.cohort,
        rows=ranking(connection, number).rows,
        curves=curves(stored.cohort, read_worth(connection, number)),
        rounds=tuple(Decided(begun.number, begun.at) for begun in rounds(connection, stored.id)),
    )


def _stored(connection: Connection, number: int) -> StoredCohort:
    return next(one for one in cohorts(connection) if one.cohort.number == number)


def curves(cohort: Cohort, worth: Iterable[Worth]) -> tuple[Point, ...]:
    """What each account has gained at every mark, at no more instants than a chart can take."""
    gains = [(mark.agent, mark.at, mark.total - cohort.bankroll) for mark in worth]
    times = sorted({at for _, at, _ in gains})
    kept = set(thin(times, POINTS // max(len(cohort.entrants), 1)))
    return tuple(
        Point(agent, at, gain / ONE, 100 * gain / cohort.bankroll) for agent, at, gain in gains if at in kept
    )


def _read_calibrations(connection: Connection, number: int, of: Reading) -> Calibrations:
    names = [e.name for e in _stored(connection, number).cohort.entrants if e.kind != MARKET]
    shown = read_stated(connection, number)
    if of == "stated":
        said = [of_agent(shown, name) for name in names]
        columns = [(probability(rows.forecast), rows.outcome) for rows in said]
    else:
        bets = read_bets(connection, number)
        placed = [of_agent(bets, name) for name in names]
        columns = [(getattr(rows, of), rows.outcome) for rows in placed]
    agents = [_binned(name, *column) for name, column in zip(names, columns, strict=True)]
    return Calibrations(tuple(agents), _of_the_price(shown))


def _of_the_price(shown: Stated) -> Calibration:
    """The price of every market shown, once a round whoever saw it."""
    _, first = np.unique(shown.round * len(shown.markets) + shown.market, return_index=True)
    once = take(shown, first)
    return _binned(MARKET, probability(once.mid), once.outcome)


def _binned(agent: str, forecast: Floats, outcome: Ints) -> Calibration:
    found = tuple(bins(forecast, outcome))
    return Calibration(agent, found, sum(b.count for b in found), outcome.size)
