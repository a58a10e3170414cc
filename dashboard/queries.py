"""What the pages ask of the record: short reads, each one consistent look, and nothing ever written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import streamlit as st

from arena.belief import stated as probability
from arena.frame import Floats, Ints, Stated, of_agent, take
from arena.leaderboard import MARKET
from arena.model import Cohort
from arena.ranking import Ranked
from arena.scores import ranking
from arena.scoring.calibration import bins
from arena.store.bets import read_bets
from arena.store.curves import Worth, read_worth
from arena.store.database import connect, reading, url_of
from arena.store.frame import Connection
from arena.store.read import StoredCohort, cohorts, rounds
from arena.store.stated import read_stated
from dashboard.model import Calibration, Calibrations, CohortLine, CohortPage, Decided, Point, Season
from dashboard.thin import thin
from markets.millionths import ONE

Reading = Literal["stated", "anchored", "implied"]
Answer = TypeVar("Answer")

POINTS = 2_000
"""The most points that the curves of a chart have together."""

OLDEST = 60
"""Seconds after which an answer is read anew, whatever the record's files say."""


cache = st.cache_data(ttl=OLDEST, max_entries=32, show_spinner=False)


@dataclass(frozen=True, slots=True)
class Source:
    """A record and its state: answers are kept until one of the two is another."""

    address: str
    version: tuple[int, ...]


def source(address: str) -> Source:
    """The record at an address, as it is now."""
    return Source(address, _version(address))


def _version(address: str) -> tuple[int, ...]:
    """Changes with every commit: the times and sizes of the record's files. Empty for a server."""
    url = url_of(address)
    if url.get_backend_name() != "sqlite" or url.database is None:
        return ()
    files = [Path(url.database + end) for end in ("", "-wal")]
    stats = [path.stat() for path in files if path.exists()]
    return tuple(number for stat in stats for number in (stat.st_mtime_ns, stat.st_size))


@cache
def season(record: Source) -> Season:
    """What the record holds."""
    return _ask(record, _read_season)


@cache
def board(record: Source, cohort: int | None = None) -> tuple[Ranked, ...]:
    """The leaderboard of all cohorts, or of one."""
    return _ask(record, lambda connection: ranking(connection, cohort).rows)


@cache
def cohort_page(record: Source, number: int) -> CohortPage:
    """One cohort, whole."""
    return _ask(record, lambda connection: _read_cohort(connection, number))


@cache
def calibrations(record: Source, number: int, of: Reading) -> Calibrations:
    """Each agent's calibration in a cohort, and the market's own."""
    return _ask(record, lambda connection: _read_calibrations(connection, number, of))


def _ask(record: Source, question: Callable[[Connection], Answer]) -> Answer:
    engine = connect(record.address, read_only=True)
    try:
        with reading(engine) as connection:
            return question(connection)
    finally:
        engine.dispose()


def _read_season(connection: Connection) -> Season:
    stored = cohorts(connection)
    kinds = {entrant.name: entrant.kind for one in stored for entrant in one.cohort.entrants}
    return Season(tuple(_line(connection, one) for one in stored), tuple(kinds.items()))


def _line(connection: Connection, stored: StoredCohort) -> CohortLine:
    played = sum(begun.done for begun in rounds(connection, stored.id))
    frozen = stored.cohort
    return CohortLine(
        frozen.number,
        frozen.starts_at,
        stored.ended_at,
        frozen.rounds,
        played,
        frozen.stamp,
        paused=stored.paused_at is not None,
        stopped=stored.stopped_at is not None,
    )


def _read_cohort(connection: Connection, number: int) -> CohortPage:
    stored = _stored(connection, number)
    return CohortPage(
        line=_line(connection, stored),
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
