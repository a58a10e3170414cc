"""The tools of a turn: what one tells is kept for its round, and told again to whoever asks the same."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from agents.evidence import ResearchError
from agents.guard import Guard
from agents.model import Toolbox, View
from agents.toolbox import SearchSource, Tool, ToolReach, ToolResult, plain_request
from arena.record.model.cohort import NO_EVIDENCE, Cohort, Entrant
from arena.record.queries.cohorts import StoredCohort, StoredRound
from arena.record.queries.context import read_price_history
from arena.record.record import Record
from arena.record.schema.database import open_read_only, reading
from arena.record.write.evidence import GatheredEvidence, read_gathered
from arena.record.write.tools import (
    add_tool_result,
    read_listed,
    read_notes,
    read_recorded,
    read_tool_text,
    request_key,
)
from arena.rounds.world import RecordedLookups, World
from markets.model import MarketId, Quote


def toolbox(
    entrant: Entrant, stored: StoredCohort, round: StoredRound, view: View, world: World, record: Record
) -> Toolbox | None:
    """The tools that an entrant has in a round; None for one without any."""
    if not (names := entrant.settings.get("tools") or ()):
        return None
    tools = {name: world.tool(name) for name in names}

    def history(market: MarketId) -> tuple[Quote, ...]:
        return record.read(read_price_history, [market], round.at).get(market, ())

    reach = ToolReach(
        view=view,
        guard=guard_of(stored.cohort),
        source=lambda: _source(stored.cohort, world),
        history=history,
        listed=lambda: record.read(read_listed, round.id),
        notes=lambda: record.read(read_notes, stored.id, entrant.name, round.number),
        now=world.now,
    )
    bench = _Bench(entrant.name, tools, reach, round, (stored.cohort.number, round.number), world, record)
    return Toolbox(tuple(each.form for each in tools.values()), bench.use)


@dataclass(frozen=True, slots=True)
class _Bench:
    """Tools in the hands of an agent in a round."""

    agent: str
    tools: dict[str, Tool]
    reach: ToolReach
    round: StoredRound
    place: tuple[int, int]
    world: World
    record: Record

    async def use(self, name: str, arguments: str) -> str:
        """What a tool tells; of those who ask the same at once, one asks for all."""
        tool, words = self.tools.get(name), plain_request(arguments)
        request = (self.agent if tool is None or tool.own else "", name, words)
        key = request_key(*request)
        async with self.world.tool_locks[self.round.id, key]:
            if (known := self.record.read(read_tool_text, self.round.id, key)) is not None:
                return known
            result = await self._result(tool, name, words, key)
            keep: Callable[[], str] = partial(
                self.record.write_unfenced,
                add_tool_result,
                self.round.id,
                self.place,
                request,
                result,
                self.world.now(),
            )
            return keep()

    async def _result(self, tool: Tool | None, name: str, words: str, key: str) -> ToolResult:
        if tool is None:
            return ToolResult(f"there is no tool {name}: {', '.join(self.tools)}")
        if tool.fetches and self.world.recorded is not None:
            return self.world.recorded.tool(self.round.at, key, f"{name} {words}")
        return await tool.result(words, self.reach)


def guard_of(cohort: Cohort) -> Guard:
    """What may be shown in a cohort: no odds, and no suspects, where any agent is asked without prices."""
    if all(entrant.settings.get("prices", "shown") == "shown" for entrant in cohort.entrants):
        return cohort.guard
    audited = {"suspects": "withheld"} if cohort.guard.suspects else {}
    return cohort.guard.model_copy(update={"odds": "withheld"} | audited)


def _source(cohort: Cohort, world: World) -> SearchSource:
    """The source of articles that a cohort has frozen, if it can be searched."""
    source = world.research(cohort)
    if cohort.evidence == NO_EVIDENCE or not isinstance(source, SearchSource):
        words = f"the source {cohort.evidence} can't be searched"
        raise ResearchError("no_search", words, "set evidence.from to folder or gdelt")
    return source


@contextmanager
def recorded_lookups(database: str) -> Iterator[RecordedLookups]:
    """What a record has of what was looked up, while it is open."""
    with open_read_only(database) as engine:

        def told(at: datetime, key: str, words: str) -> ToolResult:
            with reading(engine) as connection:
                found = read_recorded(connection, at, key)
            if found is None:
                raise LookupError(f"{database} has no result of {words} for {at:%Y-%m-%d %H:%M}")
            return found

        def gathered(cohort: int, at: datetime) -> GatheredEvidence | None:
            with reading(engine) as connection:
                return read_gathered(connection, cohort, at)

        yield RecordedLookups(told, gathered)
