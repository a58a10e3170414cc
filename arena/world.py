"""What a round needs from outside the record: venues, minds, the clock, a name for its claims."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from agents.model import Agent, Ask, Prompt
from arena.budget import Budget
from arena.gate import Gate
from arena.model import Cohort, Entrant
from markets.model import Listing
from markets.venue import SetAside, Venue


@dataclass(frozen=True, slots=True)
class Mind:
    """An agent ready to play: its function, its model and where that is, what a question can cost at most."""

    agent: Agent
    ask: Ask
    worst_case: Callable[[Prompt], int | None]
    provider: str = ""


@dataclass(frozen=True, slots=True)
class World:
    """The doors, as the composition root has opened them.

    `asides` is where venues report to, `catalogues` what was on offer at the last decision time, by venue.
    """

    venue: Callable[[Cohort], Venue]
    mind: Callable[[Cohort, Entrant], Mind]
    now: Callable[[], datetime]
    holder: str
    budget: Budget
    code_version: str
    gate: Gate = field(default_factory=Gate)
    asides: list[SetAside] = field(default_factory=list)
    catalogues: dict[tuple[str, str, datetime], list[Listing]] = field(default_factory=dict)
