"""Parts of the arena's status: its leader, rounds that have begun, calls under way, open positions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class LeaderStatus:
    """The process that leads or led, and whether it is alive as far as can be known.

    It last renewed its lease at `until`.
    """

    host: str
    process: str
    alive: bool
    until: datetime


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
        """Return the number of turns that are not in."""
        return self.agents - sum(self.turns.values())


@dataclass(frozen=True, slots=True)
class AgentAnswers:
    """How many of an agent's turns had an answer, and how many of these could not be read."""

    agent: str
    answers: int
    malformed: int


@dataclass(frozen=True, slots=True)
class CallsUnderWay:
    """Calls that are being made, and those that were lost with their worker; what they may cost at most."""

    calls: int = 0
    worst: int = 0
    lost: int = 0
    lost_worst: int = 0


@dataclass(frozen=True, slots=True)
class PublishedHeads:
    """The newest head, the newest that has left the machine (0: none) and when, and since when that fails.

    After a failure it is tried again at `next_try_at`.
    """

    newest: int = 0
    published: int = 0
    at: datetime | None = None
    failing_since: datetime | None = None
    error: str = ""
    next_try_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class WorkerSigns:
    """How many workers take turns from the queue, and of how many nothing was heard for too long.

    Of these `silent_since` is when the first was heard of last, `jobs` counts the turns that they have, and
    at `given_up_at` others get these.
    """

    alive: int
    silent: int = 0
    silent_since: datetime | None = None
    jobs: int = 0
    given_up_at: datetime | None = None


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
class CatalogueRead:
    """A reading of a catalogue: how many markets had a price, were left out by reason, were rejected."""

    venue: str
    at: datetime
    markets: int
    left_out: Mapping[str, int]
    rejected: int

    @property
    def rejected_share(self) -> float:
        """Return the share of records that were rejected."""
        return self.rejected / max(self.markets + self.rejected, 1)


@dataclass(frozen=True, slots=True)
class QuarantineCount:
    """Records of a venue that were quarantined in the last day, by what they were meant to be and why."""

    venue: str
    kind: str
    code: str
    records: int
