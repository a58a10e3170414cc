"""What the pages are made of: answers of the queries, frozen."""

from dataclasses import dataclass
from datetime import datetime

from arena.leaderboard import Row
from arena.model import Cohort
from arena.scoring.calibration import Bin


@dataclass(frozen=True, slots=True)
class CohortLine:
    """A cohort in a list: when it started, how far it is, where its markets come from, if it is halted."""

    number: int
    starts_at: datetime
    ended_at: datetime | None
    rounds: int
    played: int
    stamp: str
    paused: bool = False
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Season:
    """The record at a glance: cohorts oldest first, agents as (name, kind) in line-up order."""

    cohorts: tuple[CohortLine, ...]
    agents: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Point:
    """An account at one instant: its profit or loss, in dollars and in percent of its bankroll."""

    agent: str
    at: datetime
    dollars: float
    percent: float


@dataclass(frozen=True, slots=True)
class Decided:
    """When a round was decided."""

    number: int
    at: datetime


@dataclass(frozen=True, slots=True)
class CohortPage:
    """One cohort: what was frozen, its standings, its curves and the rounds along them."""

    line: CohortLine
    cohort: Cohort
    rows: tuple[Row, ...]
    curves: tuple[Point, ...]
    rounds: tuple[Decided, ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Forecasts in one reading, by bins. Of `made` forecasts `scored` can be judged."""

    agent: str
    bins: tuple[Bin, ...]
    scored: int
    made: int


@dataclass(frozen=True, slots=True)
class Calibrations:
    """A cohort's calibration in one reading: each agent's in line-up order, and that of the price."""

    agents: tuple[Calibration, ...]
    market: Calibration
