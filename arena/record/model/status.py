"""How an arena stands: who is on duty, what was played and is due, what it cost, what is old or broken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from arena.record.model.incident import RecordedIncident

HealthWord = Literal["ok", "waiting", "late", "trouble"]
HEALTH_WORDS: tuple[HealthWord, ...] = ("ok", "waiting", "late", "trouble")
"""Health in one word, the best first: all is as it should be; something is still to come by itself; a round
is over its time; something does not pass by itself."""


@dataclass(frozen=True, slots=True)
class HealthReason:
    """Why health is no better than a word; `code` is for programs."""

    word: HealthWord
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class LeaderStatus:
    """Who schedules: a process of a host, whether it is alive as far as can be known, on duty until then."""

    host: str
    process: str
    alive: bool
    until: datetime


@dataclass(frozen=True, slots=True)
class OpenCohort:
    """A cohort that has not ended: its schedule, and when a price that it holds counts as old."""

    id: int
    number: int
    starts_at: datetime
    every: timedelta
    rounds: int
    stamp: str
    venue: str
    quote_age: timedelta
    agents: int
    paused_at: datetime | None
    stopped_at: datetime | None

    @property
    def live(self) -> bool:
        """Whether its world goes on by the clock."""
        return self.stamp == "live"


@dataclass(frozen=True, slots=True)
class RoundState:
    """A round that has begun: when its prices were looked at, and how many turns ended in which way."""

    id: int
    cohort: int
    number: int
    at: datetime
    taken_at: datetime
    done: bool
    agents: int
    turns: Mapping[str, int]

    @property
    def missing(self) -> int:
        """Turns that are not in."""
        return self.agents - sum(self.turns.values())


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """A budget: what it is for, whose it is where there are several, what was spent of it. In millionths."""

    scope: str
    whose: str
    spent: int
    limit: int

    @property
    def used(self) -> float:
        """The share of it that is spent, all of it at most."""
        return min(self.spent / self.limit, 1.0) if self.limit else 1.0


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls cost today and this month (UTC), at their worst where it is unknown; and all budgets."""

    today: int = 0
    month: int = 0
    limits: tuple[BudgetUse, ...] = ()


@dataclass(frozen=True, slots=True)
class CallsUnderWay:
    """Calls that are being made, and those that were lost with their worker; what they may cost at most."""

    calls: int = 0
    worst: int = 0
    lost: int = 0
    lost_worst: int = 0


@dataclass(frozen=True, slots=True)
class OpenPositions:
    """Open positions, in how many markets, and how many of these had no price or an old one when last seen.

    `oldest` is since when the oldest of these prices is known.
    """

    positions: int = 0
    markets: int = 0
    stale: int = 0
    oldest: datetime | None = None


@dataclass(frozen=True, slots=True)
class QuarantineCount:
    """Records of a venue that were quarantined in the last day, by what they were meant to be and why."""

    venue: str
    kind: str
    code: str
    records: int


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job of `arena run`: when it last began and ended, for what time, how often in a row it failed."""

    name: str
    due_at: datetime
    started_at: datetime
    ended_at: datetime | None
    failures: int
    note: str
    next_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RoundCalendar:
    """How many cohorts there are, how many rounds were due and are done, and what comes next if known."""

    cohorts: int = 0
    due: int = 0
    done: int = 0
    next_round: datetime | None = None
    next_cohort: datetime | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """How an arena stands at an instant.

    `rounds` are those of cohorts that play, and of the newest decision time. `looked_at` is when prices were
    last read; `lag` by how much the latest round is late that should have been played. `clock` is whose time
    it is: the real one, the pretended one of a rehearsal, or the real one over a rehearsal's record.
    """

    at: datetime
    leader: LeaderStatus | None = None
    calendar: RoundCalendar = RoundCalendar()
    playing: tuple[OpenCohort, ...] = ()
    rounds: tuple[RoundState, ...] = ()
    lag: timedelta = timedelta()
    turns: Mapping[str, int] = field(default_factory=dict)
    spend: Spending = Spending()
    under_way: CallsUnderWay = CallsUnderWay()
    held: OpenPositions = OpenPositions()
    looked_at: datetime | None = None
    quarantined: tuple[QuarantineCount, ...] = ()
    jobs: tuple[JobStatus, ...] = ()
    incidents: tuple[RecordedIncident, ...] = ()
    reasons: tuple[HealthReason, ...] = ()
    clock: Literal["real", "pretended", "mixed"] = "real"

    @property
    def last(self) -> tuple[RoundState, ...]:
        """The rounds of the newest decision time."""
        newest = max((round.at for round in self.rounds), default=None)
        return tuple(round for round in self.rounds if round.at == newest)

    @property
    def word(self) -> HealthWord:
        """Health in one word."""
        return worst_health(self.reasons)

    @property
    def backup(self) -> JobStatus | None:
        """When a backup was last made."""
        return next((job for job in self.jobs if job.name == "backup"), None)


def worst_health(reasons: Sequence[HealthReason]) -> HealthWord:
    """The worst word that any reason has.

    >>> worst_health([]), worst_health([HealthReason("late", "a", ""), HealthReason("waiting", "b", "")])
    ('ok', 'late')
    """
    return max((reason.word for reason in reasons), key=HEALTH_WORDS.index, default="ok")
