"""What agents see in a round beyond its snapshot: evidence, results of tools, and the record's past.

Evidence is gathered once for all agents and written before they are asked. A tool's result is kept for its
round: the same question gets the same result.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime

from agents.audit import RULES
from agents.evidence import FoundArticle, RefusedQueryError, ResearchError
from agents.guard import Audit, DropReason, Guard, GuardedArticles, Suspect, guard_articles
from agents.model import Context, PastForecast, Toolbox, View
from agents.toolbox import SearchSource, Tool, ToolReach, ToolResult, plain_request
from arena.record.model.cohort import NO_EVIDENCE, Cohort, Entrant
from arena.record.queries.cohorts import StoredCohort, StoredRound
from arena.record.record import Record
from arena.record.schema.database import open_read_only, reading
from arena.record.write.evidence import GatheredEvidence, add_evidence, is_gathered, read_gathered
from arena.record.write.tools import (
    add_tool_result,
    read_listed,
    read_notes,
    read_recorded,
    read_tool_text,
    request_key,
)
from arena.rounds.error_text import code_place, error_text, redact_keys
from arena.rounds.listings import ids_of
from arena.rounds.told_history import (
    read_new_ends,
    read_past_forecasts,
    read_price_history,
    read_siblings,
)
from arena.rounds.world import RecordedLookups, SearchResults, World
from markets.hashes import canonical
from markets.model import Listing, Market, MarketId, Quote, Resolution, Snapshot
from markets.venue import QuarantinedRecord

Judge = Callable[[Mapping[MarketId, Market], GatheredEvidence], Awaitable[tuple[GatheredEvidence, str]]]
"""Returns what is left of what was gathered, and a note on texts without a verdict."""
MOST_FAILURES = 3
"""A source that has no answer on so many markets one after the other is not asked about the rest."""


async def gather_evidence(
    stored: StoredCohort,
    stored_round: StoredRound,
    world: World,
    record: Record,
    judge: Judge | None = None,
) -> tuple[str, ...]:
    """Gather evidence on the markets of a round, store what may be shown, and return what failed.

    What is in the record already is not gathered again. A source that is down stops nothing: the markets
    that it has no answer on go without, and that is kept with what was quarantined.
    """
    cohort = stored.cohort
    if cohort.evidence == NO_EVIDENCE or record.read(is_gathered, stored_round.id):
        return ()

    round_key = cohort.number, stored_round.number
    if world.recorded is not None:
        recorded = world.recorded.evidence(cohort.number, stored_round.at)
        record.write(add_evidence, stored_round.id, round_key, recorded or GatheredEvidence())
        return ()

    taken = record.snapshot(stored.id, stored_round.at)
    if taken is None:
        raise LookupError(f"round {stored_round.number} of cohort {cohort.number} has no snapshot")
    _, snapshot = taken

    # A question that is asked for several dates is looked up once for all of them.
    by_question: dict[str, Market] = {}
    for listing in snapshot:
        by_question.setdefault(listing.market.series or listing.market.id, listing.market)
    markets = list(by_question.values())

    answers, failures = await _ask_source(cohort, markets, stored_round.at, world)
    gathered = _guard_evidence(cohort, markets, stored_round.at, answers)
    notes: tuple[str, ...] = ()
    if judge is not None:
        gathered, note = await judge({market.id: market for market in markets}, gathered)
        notes = (note,) if note else ()
    record.write(add_evidence, stored_round.id, round_key, gathered)

    rejected_articles = [rejected for rejected in world.quarantined if rejected.kind == "article"]
    record.quarantine([*world.quarantined, *failures], stored_round.at)
    world.quarantined.clear()

    if failures:
        unanswered = sum(market.id not in answers for market in markets)
        return (*notes, f"no evidence on {unanswered} of {len(markets)} markets: {failures[-1].reason}")

    if rejected_articles and not gathered.found:
        count = len(rejected_articles)
        first = rejected_articles[0]
        return (f"no article was found, and {count} were left out: {first.record}: {first.reason}",)
    return notes


async def _ask_source(
    cohort: Cohort, markets: Sequence[Market], at: datetime, world: World
) -> tuple[SearchResults, list[QuarantinedRecord]]:
    """Return the source's articles on each market, and its failures.

    What it answered for another cohort at the same time is not asked again: the world keeps it until a round
    of another time.
    """
    for source_key in list(world.searches):
        _, _, searched_at = source_key
        if searched_at != at:
            del world.searches[source_key]

    own_key = cohort.evidence, canonical(cohort.evidence_settings), at
    answers = world.searches.setdefault(own_key, {})

    failures = []
    failures_in_a_row = 0
    for market in markets:
        if market.id in answers or failures_in_a_row == MOST_FAILURES:
            continue

        try:
            articles = await world.research(cohort).articles(market, at)
            answers[market.id] = (_checked_articles(articles), world.now())
            failures_in_a_row = 0
        except ResearchError as error:
            message = f"{error.message}; {error.hint}" if error.hint else error.message
            message = redact_keys(message)  # a source may name the address that it asked
            failures.append(QuarantinedRecord(cohort.evidence, market.id, "page", error.code, message))
            if not isinstance(error, RefusedQueryError):  # that is about one question, not about the source
                failures_in_a_row += 1
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: it must not stop the round
            message = code_place(error) + error_text(error)
            failures.append(QuarantinedRecord(cohort.evidence, market.id, "page", "broken", message))
            failures_in_a_row += 1

    return answers, failures


def _checked_articles(answer: object) -> list[FoundArticle]:
    """Return the articles of an extension's answer; raise `TypeError` if it is no list of articles."""
    fault = TypeError("a source answers with a list of FoundArticle, and they are made of texts")
    items = answer if isinstance(answer, list | tuple) else [answer]

    articles = []
    for item in items:
        if type(item) is not FoundArticle:
            raise fault
        for field in fields(FoundArticle):
            if type(getattr(item, field.name)) is not str:
                raise fault
        articles.append(item)

    return articles


def _guard_evidence(
    cohort: Cohort, markets: Sequence[Market], at: datetime, answers: SearchResults
) -> GatheredEvidence:
    """Return the articles that the guard lets through by market, with counts of the others by reason."""
    rule = guard_of(cohort)
    shown = {}
    dropped = Counter[DropReason]()
    article_count = 0
    text_count = 0
    suspects: list[Suspect] = []

    for market in markets:
        articles, fetched_at = answers.get(market.id, ([], at))
        guarded = guard_articles(articles, market, at, fetched_at, rule)

        article_count += len(articles)
        dropped.update(guarded.dropped)
        if guarded.audit is not None:
            text_count += guarded.audit.texts
            suspects += guarded.audit.suspects
        if guarded.articles:
            shown[market.id] = guarded.articles

    audit = None
    if rule.suspects is not None:
        audit = Audit(RULES, rule.odds == "withheld", text_count, tuple(suspects))
    counts = GuardedArticles((), dropped, audit).counts
    return GatheredEvidence(articles=shown, found=article_count, dropped=counts)


def toolbox(
    entrant: Entrant,
    stored: StoredCohort,
    stored_round: StoredRound,
    view: View,
    world: World,
    record: Record,
) -> Toolbox | None:
    """Return the tools that an entrant has in a round; None for one without any."""
    names = entrant.settings.get("tools")
    if not names:
        return None

    # In a hidden round no tool may tell a price.
    tools = {}
    for name in names:
        tool = world.tool(name)
        if not (view.hidden and tool.tells_prices):
            tools[name] = tool
    if not tools:
        return None

    def history(market: MarketId) -> tuple[Quote, ...]:
        return record.read(read_price_history, [market], stored_round.at).get(market, ())

    reach = ToolReach(
        view=view,
        guard=guard_of(stored.cohort),
        source=lambda: _source(stored.cohort, world),
        history=history,
        listed=lambda: record.read(read_listed, stored_round.id),
        notes=lambda: record.read(read_notes, stored.id, entrant.name, stored_round.number),
        now=world.now,
    )
    round_key = stored.cohort.number, stored_round.number
    bench = _ToolBench(entrant.name, tools, reach, stored_round, round_key, world, record)
    forms = tuple(tool.form for tool in tools.values())
    return Toolbox(forms, bench.use)


@dataclass(frozen=True, slots=True)
class _ToolBench:
    """The tools of an agent in a round; `round_key` has the numbers of its cohort and round."""

    agent: str
    tools: dict[str, Tool]
    reach: ToolReach
    stored_round: StoredRound
    round_key: tuple[int, int]
    world: World
    record: Record

    async def use(self, name: str, arguments: str) -> str:
        """Return a tool's result; of several identical requests at once, only the first is made."""
        tool = self.tools.get(name)
        query = plain_request(arguments)

        # The result of a tool that is not the agent's own is shared by all agents of the round.
        agent = self.agent if tool is None or tool.own else ""
        request = agent, name, query
        key = request_key(*request)

        async with self.world.tool_locks[self.stored_round.id, key]:
            recorded = self.record.read(read_tool_text, self.stored_round.id, key)
            if recorded is not None:
                return recorded

            result = await self._result(tool, name, query, key)
            return self.record.write_unfenced(
                add_tool_result, self.stored_round.id, self.round_key, request, result, self.world.now()
            )

    async def _result(self, tool: Tool | None, name: str, query: str, key: str) -> ToolResult:
        """Return the result of a request: from an earlier record if there is one, else a new one."""
        if tool is None:
            return ToolResult(f"there is no tool {name}: {', '.join(self.tools)}")
        if tool.fetches and self.world.recorded is not None:
            return self.world.recorded.tool(self.stored_round.at, key, f"{name} {query}")
        return await tool.result(query, self.reach)


def guard_of(cohort: Cohort) -> Guard:
    """Return the guard of a cohort.

    If any agent is asked without prices, ever or in hidden rounds, nobody is shown odds or suspects.
    """
    all_see_prices = all(entrant.settings.get("prices", "shown") == "shown" for entrant in cohort.entrants)
    if all_see_prices and not cohort.hidden:
        return cohort.guard

    withheld = {"odds": "withheld"}
    if cohort.guard.suspects:
        withheld["suspects"] = "withheld"
    return cohort.guard.model_copy(update=withheld)


def _source(cohort: Cohort, world: World) -> SearchSource:
    """Return the source that a cohort has frozen; raise `ResearchError` if it can't be searched."""
    source = world.research(cohort)
    if cohort.evidence == NO_EVIDENCE or not isinstance(source, SearchSource):
        message = f"the source {cohort.evidence} can't be searched"
        raise ResearchError("no_search", message, "set evidence.from to folder or gdelt")
    return source


@contextmanager
def recorded_lookups(database: str) -> Iterator[RecordedLookups]:
    """Yield the lookups of a record while it is open."""
    with open_read_only(database) as engine:

        def tool(at: datetime, key: str, request: str) -> ToolResult:
            with reading(engine) as connection:
                result = read_recorded(connection, at, key)
            if result is None:
                raise LookupError(f"{database} has no result of {request} for {at:%Y-%m-%d %H:%M}")
            return result

        def evidence(cohort: int, at: datetime) -> GatheredEvidence | None:
            with reading(engine) as connection:
                return read_gathered(connection, cohort, at)

        yield RecordedLookups(tool, evidence)


@dataclass(frozen=True, slots=True)
class RoundContext:
    """The record's past that a view may show beside the snapshot, and the parts each entrant wants.

    `ends` are how markets ended since the round before; `past` are forecasts by entrant.
    """

    wanted: Mapping[int, Context]
    ends: Mapping[MarketId, Resolution]
    history: Mapping[MarketId, tuple[Quote, ...]]
    siblings: Mapping[str, tuple[Listing, ...]]
    past: Mapping[int, Sequence[PastForecast]]

    def add_to(self, view: View, entrant_id: int) -> View:
        """Return an entrant's view with the parts of this context that its settings ask for.

        Its past forecasts are by market; those on markets that have ended since the round before are apart,
        in `ended`, with their outcomes.
        """
        wanted = self.wanted.get(entrant_id)
        if wanted is None:
            return view

        own_past = self.past.get(entrant_id, ()) if wanted.past else ()
        past: dict[MarketId, tuple[PastForecast, ...]] = {}
        for past_forecast in own_past:
            market_id = past_forecast.forecast.market_id
            past[market_id] = (*past.get(market_id, ()), past_forecast)

        ended: list[PastForecast] = []
        for market_id, end in self.ends.items():
            own_forecasts = past.pop(market_id, ())
            ended.extend(
                replace(forecast, outcome=end.outcome, answer=end.answer) for forecast in own_forecasts
            )

        return replace(
            view,
            history=self.history if wanted.history else {},
            siblings=self.siblings if wanted.siblings else None,
            ended=tuple(ended),
            past=past,
        )


def gather_context(
    entrants: Sequence[Entrant],
    stored: StoredCohort,
    snapshot: Snapshot,
    since: datetime | None,
    record: Record,
) -> RoundContext:
    """Read the context that these entrants want, in a few queries.

    `since` is the time of the round before; None in a first round. Old cohorts want no context.
    """
    wanted = {}
    ids_with_past = []
    wants_history = False
    wants_siblings = False
    for entrant in entrants:
        # An extension's kind may have another setting of that name.
        setting = entrant.settings.get("context")
        if not isinstance(setting, Mapping) or setting.keys() != Context.model_fields.keys():
            continue

        entrant_id = stored.entrant_ids[entrant.name]
        context = Context.model_validate(setting)
        wanted[entrant_id] = context
        if context.past:
            ids_with_past.append(entrant_id)
        wants_history |= context.history
        wants_siblings |= context.siblings

    market_ids = ids_of(snapshot)
    ends: Mapping[MarketId, Resolution] = {}
    past: Mapping[int, Sequence[PastForecast]] = {}
    if ids_with_past and since is not None:
        ends = record.read(read_new_ends, stored.id, since, snapshot.at)
        markets = {*market_ids, *ends}
        past = record.read(read_past_forecasts, stored.id, ids_with_past, markets, snapshot.at)

    history = record.read(read_price_history, market_ids, snapshot.at) if wants_history else {}
    siblings = record.read(read_siblings, snapshot) if wants_siblings else {}
    return RoundContext(wanted, ends, history, siblings, past)
