"""How calibrated every agent of a cohort was, in each of the three readings, and the price that they saw."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from pydantic import TypeAdapter

from arena.belief import stated as probability
from arena.chosen import numbered
from arena.frame import Floats, Ints, Stated, evidence, of_agent, take
from arena.leaderboard import MARKET
from arena.prepared.kept import Kept, kept, rolled
from arena.scoring.calibrating.reliability import Diagram, diagram
from arena.store.bets import read_bets
from arena.store.ends import count_ends
from arena.store.frame import Connection
from arena.store.read import cohorts
from arena.store.rollups import Rollup, read_basis
from arena.store.stated import read_stated

METHOD = "cohort calibration 1"
WORLDS = 250
"""The draws behind a band: an arena has many cohorts, with many agents each, in three readings."""
POINTS = 24
"""The most points of a diagram: more can't be told apart on a page."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A forecaster in one reading: of `made` forecasts `scored` have an outcome, and are in the diagram."""

    agent: str
    made: int
    scored: int
    diagram: Diagram


@dataclass(frozen=True, slots=True)
class Calibrations:
    """A cohort's agents in line-up order in each reading, and the price of every market once a round."""

    stated: tuple[Calibrated, ...]
    anchored: tuple[Calibrated, ...]
    implied: tuple[Calibrated, ...]
    market: Calibrated


FORM = TypeAdapter(Calibrations)


def kept_calibrations(connection: Connection, number: int) -> Kept[Calibrations] | None:
    """A cohort's calibrations as they were worked out last."""
    return kept(connection, name_of(number), _basis(connection, number), FORM)


def stale_calibrations(connection: Connection) -> list[int]:
    """The cohorts that have begun a round, or seen one of their markets end, since."""
    numbers = [stored.cohort.number for stored in cohorts(connection)]
    return [n for n in numbers if read_basis(connection, name_of(n)) != _basis(connection, n)]


def calibrations(connection: Connection, stale: list[int], at: datetime) -> Iterator[Rollup]:
    """The calibrations of these cohorts, worked out anew, one after the other."""
    for number in stale:
        found = calibrations_of(connection, number)
        yield rolled(name_of(number), _basis(connection, number), at, FORM, found)


def calibrations_of(connection: Connection, number: int, seed: int = 0) -> Calibrations:
    """A cohort's calibrations, worked out now; the same seed gives the same digits."""
    [stored] = numbered(cohorts(connection), number)
    names = [entrant.name for entrant in stored.cohort.entrants if entrant.kind != MARKET]
    shown, bets = read_stated(connection, number), read_bets(connection, number)
    placed = [of_agent(bets, name) for name in names]
    return Calibrations(
        stated=of_agents(shown, names, seed),
        anchored=tuple(
            _drawn(name, rows.anchored, rows.outcome, rows.market, [seed, 2, place])
            for place, (name, rows) in enumerate(zip(names, placed, strict=True))
        ),
        implied=tuple(
            _drawn(name, rows.implied, rows.outcome, rows.market, [seed, 3, place])
            for place, (name, rows) in enumerate(zip(names, placed, strict=True))
        ),
        market=of_the_price(shown, seed),
    )


def of_agents(shown: Stated, names: Sequence[str], seed: int = 0) -> tuple[Calibrated, ...]:
    """These agents' calibrations as they stated their probabilities."""
    said = [of_agent(shown, name) for name in names]
    counted = [evidence(rows) for rows in said]
    return tuple(
        _drawn(name, probability(rows.forecast), rows.outcome, rows.market, [seed, 1, place])
        for place, (name, rows) in enumerate(zip(names, counted, strict=True))
    )


def of_the_price(shown: Stated, seed: int = 0) -> Calibrated:
    """The price of every market shown, once a round whoever saw it."""
    rounds = shown.cohort * (shown.round.max(initial=0) + 1) + shown.round
    _, first = np.unique(rounds * len(shown.markets) + shown.market, return_index=True)
    once = take(shown, first)
    return _drawn(MARKET, probability(once.mid), once.outcome, once.market, [seed, 4])


def _drawn(agent: str, forecast: Floats, outcome: Ints, market: Ints, seed: list[int]) -> Calibrated:
    scored = int(np.count_nonzero(outcome >= 0))
    found = diagram(forecast, outcome, np.random.default_rng(seed), market, draws=WORLDS, most=POINTS)
    return Calibrated(agent, int(outcome.size), scored, found)


def name_of(number: int) -> str:
    """Under which name a cohort's calibrations are kept."""
    return f"calibration/cohort {number}"


def _basis(connection: Connection, number: int) -> str:
    return f"{METHOD}: {count_ends(connection, number)}"
