"""What a round needs from outside the record: venues, players, evidence, the clock, a name for its claims."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agents import toolbox
from agents.evidence import FoundArticle, Research
from agents.model import Agent, Ask, Prompt
from agents.research import none
from agents.toolbox import Tool, ToolResult
from arena.calls.desk_turns import DeskTurns
from arena.calls.rate_limit import RunningCalls
from arena.calls.recorded_ask import Sleep
from arena.calls.reservations import CallReservations
from arena.record.model.cohort import Cohort, Entrant, Replacement
from arena.record.queries.cohorts import StoredCohort, StoredRound
from arena.record.write.evidence import GatheredEvidence
from markets.model import Listing, MarketId
from markets.venue import QuarantinedRecord, Venue


@dataclass(frozen=True, slots=True)
class RecordedLookups:
    """What an earlier record has of what was looked up, in place of asking anew.

    `tool` takes the round's time, the request's key, and its words for an error; `evidence` takes a cohort's
    number and a time.
    """

    tool: Callable[[datetime, str, str], ToolResult]
    evidence: Callable[[int, datetime], GatheredEvidence | None]


SearchResults = dict[MarketId, tuple[list[FoundArticle], datetime]]
"""What a source of evidence has on markets, and when it was asked."""
MissingTurns = Callable[[], Collection[str]]
"""Returns the entrants whose turns the record doesn't have."""
Dispatch = Callable[
    [StoredCohort, StoredRound, Sequence[str], MissingTurns, bool], Awaitable[Collection[str]]
]
"""Has workers play turns of a round, `again` where it was begun before, and waits for them.

Returns the entrants whose turns no worker played, for none is there.
"""


@dataclass(frozen=True, slots=True)
class Player:
    """An agent ready to play: its function, its model and provider, and what a question can cost at most.

    An agent that `looks_outside` may know more when it answers than what it was shown. With a `wait` it
    takes its turns at the desk, and has so many seconds for each.
    """

    agent: Agent
    ask: Ask
    worst_case: Callable[[Prompt], int | None]
    provider: str = ""
    looks_outside: bool = False
    wait: float | None = None
    model: str = ""


def no_evidence(_cohort: Cohort) -> Research:
    """Return the empty source of a world without evidence."""
    return none.research(none.Settings())


@dataclass(frozen=True, slots=True)
class OfferedMarkets:
    """What a venue had on offer when it was read; of a live venue also the hash of the sync that keeps it.

    `note` says that it was taken though it is incomplete, or what was set aside.
    """

    read_at: datetime
    listings: Sequence[Listing]
    catalogue: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class World:
    """All that a round needs from outside the record, as `arena.rounds.open_world` opens it.

    `quarantined` is where venues report to. `catalogues` is what was on offer at the last decision time, by
    venue, and `searches` what was found then, by source. With `dispatch` turns are played by workers.
    `missing_key` names the variable in which an entrant's key should be, where it is not. `changed` are the
    entrants of a cohort that the config has other settings for now. Between two attempts at a question an
    agent waits by `sleep`. Where time is `pretended`, a simulated world has prices for every instant of it.
    The venue is asked for ends again until it has corrected none for the time `corrected_within`. Agents
    from outside take their turns at the `desk`; without one they can't. `tool` finds tools by name; with
    `recorded` lookups nothing is searched anew. Where no time passes, a season waits for models that give no
    answer, unless it `leaves_failed` turns as they are. Each turn is played in one of the `turn_places`.
    """

    venue: Callable[[Cohort], Venue]
    player: Callable[[Cohort, Entrant], Player]
    now: Callable[[], datetime]
    holder: str
    code_version: str
    reservations: CallReservations = field(default_factory=CallReservations)
    research: Callable[[Cohort], Research] = no_evidence
    quarantined: list[QuarantinedRecord] = field(default_factory=list)
    catalogues: dict[tuple[str, str, datetime], OfferedMarkets] = field(default_factory=dict)
    searches: dict[tuple[str, str, datetime], SearchResults] = field(default_factory=dict)
    dispatch: Dispatch | None = None
    desk: DeskTurns | None = None
    tool: Callable[[str], Tool] = toolbox.tool
    tool_locks: dict[tuple[int, str], asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    recorded: RecordedLookups | None = None
    missing_key: Callable[[Entrant], str] = lambda _entrant: ""
    changed: Callable[[Cohort], Sequence[Replacement]] = lambda _cohort: ()
    sleep: Sleep = asyncio.sleep
    pretended: bool = False
    corrected_within: timedelta = timedelta(days=60)
    leaves_failed: bool = False
    turn_places: AbstractAsyncContextManager[None] = field(default_factory=nullcontext)

    @property
    def under_way(self) -> RunningCalls:
        """Return the calls to models that are running, and whether more may start."""
        return self.reservations.calls
