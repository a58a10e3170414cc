"""What the pages are made of: answers of the queries, frozen."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import LeaderboardRow
from arena.scores.profiles.detailed_profile import ProfileFigures
from arena.scores.rules.money.luck import Luck
from portfolio.rules import Rules


@dataclass(frozen=True, slots=True)
class CohortLine:
    """A cohort in a list: when it started, how far it is, its markets' origin and rules, if it is halted.

    Rounds are `unfinished` that have begun and of which turns are missing or have failed. One that has ended
    was `corrected_at` when its venue last took back how a market ended.
    `depth` is what has to be said of its money: see `AccountSummary`.
    """

    number: int
    starts_at: datetime
    ended_at: datetime | None
    rounds: int
    played: int
    stamp: str
    venue: str
    rules: Rules
    paused: bool = False
    stopped: bool = False
    unfinished: int = 0
    corrected_at: datetime | None = None
    depth: str = ""


MODELS, PEOPLE = frozenset(("llm", "crowd")), frozenset(("recorded",))
"""Kinds of agents that are models, or made of them; and people. All others are rules to compare with."""
NULLS = ("market", "constant", "random", "favourite")
"""Kinds that hold no opinion: they would be far from all others on every market."""


@dataclass(frozen=True, slots=True)
class SeasonOverview:
    """The record at a glance: cohorts oldest first, agents as (name, kind) in line-up order.

    `models` are the models of those that have one, as the newest cohort names them.
    """

    cohorts: tuple[CohortLine, ...]
    agents: tuple[tuple[str, str], ...]
    models: Mapping[str, str]

    @property
    def is_invented(self) -> bool:
        """Whether all of it is simulated, and so what its calls cost as well."""
        return all(line.stamp == "simulated" for line in self.cohorts)

    def group(self, agent: str) -> str:
        """What an agent is: one of the models, people, or a baseline."""
        kind = dict(self.agents).get(agent, "market")
        return "models" if kind in MODELS else "people" if kind in PEOPLE else "baselines"

    def about(self, agent: str) -> str:
        """Who made it, or by which rule it plays."""
        model, kind = self.models.get(agent, ""), dict(self.agents).get(agent, "market")
        if model:
            return model.partition("/")[0] if model.endswith(f"/{agent}") else model
        return "the price" if kind == "market" else f"{kind} · {self.group(agent).removesuffix('s')}"


@dataclass(frozen=True, slots=True)
class PnlPoint:
    """An account at one instant: its profit or loss, in dollars and in percent of its bankroll."""

    agent: str
    at: datetime
    dollars: float
    percent: float


@dataclass(frozen=True, slots=True)
class RoundDecision:
    """When a round was decided."""

    number: int
    at: datetime


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """A row of the leaderboard: an agent's scores, and beside them what luck and calibration come to."""

    row: LeaderboardRow
    brief: ProfileFigures | None = None

    @property
    def is_on_board(self) -> bool:
        """Whether it stands among those that are ranked, as the market does too."""
        return self.row.ranked or self.row.kind == MARKET

    @property
    def luck(self) -> Luck | None:
        """Its profit among those of skill-less seasons; None where none is known or nothing was at risk."""
        found = self.brief.luck if self.brief else None
        return found if found and found.percentile is not None else None

    @property
    def note(self) -> str:
        """What its figures can't say, and why."""
        return "; ".join(
            ([self.row.reason] if self.row.reason else [])
            + list(self.row.stamps)
            + ([self.row.depth] if self.row.depth else [])
        )
