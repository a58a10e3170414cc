"""What a round's agents are told beyond its snapshot: evidence, what tools tell, and what the record knows.

Evidence is gathered once for all agents, kept, and only then are they asked. What a tool tells is kept for
its round, and told again to whoever asks the same.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import partial

from agents.audit import RULES
from agents.evidence import FoundArticle, RefusedQueryError, ResearchError
from agents.guard import Audit, DropReason, Guard, GuardedArticles, Suspect, guard_articles
from agents.model import Article, Context, PastForecast, Toolbox, View
from agents.text import one_line
from agents.toolbox import SearchSource, Tool, ToolReach, ToolResult, plain_request
from arena.record.model.cohort import NO_EVIDENCE, Cohort, Entrant
from arena.record.queries.cohorts import StoredCohort, StoredRound
from arena.record.queries.context import (
    read_new_ends,
    read_past_forecasts,
    read_price_history,
    read_siblings,
)
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
from arena.rounds.world import RecordedLookups, SearchResults, World
from markets.hashes import canonical
from markets.model import Listing, Market, MarketId, Quote, Snapshot
from markets.venue import QuarantinedRecord

MOST_FAILURES = 3
"""A source that has no answer on so many markets one after the other is not asked about the rest."""


async def gather_evidence(
    stored: StoredCohort, round: StoredRound, world: World, record: Record
) -> tuple[str, ...]:
    """Ask the cohort's source about the markets of a round and keep what may be shown; what failed, in words.

    What is in the record already is not gathered again. A source that is down stops nothing: the markets
    that it has no answer on go without, and that is kept with what was quarantined.
    """
    cohort = stored.cohort
    if cohort.evidence == NO_EVIDENCE or record.read(is_gathered, round.id):
        return ()
    place = cohort.number, round.number
    if world.recorded is not None:
        known = world.recorded.evidence(cohort.number, round.at)
        record.write(add_evidence, round.id, place, known or GatheredEvidence())
        return ()
    taken = record.snapshot(stored.id, round.at)
    if taken is None:
        raise LookupError(f"round {round.number} of cohort {cohort.number} has no snapshot")
    firsts: dict[str, Market] = {}
    for listing in taken[1]:  # of a question that is asked for several dates, once for all of them
        firsts.setdefault(listing.market.series or listing.market.id, listing.market)
    markets = list(firsts.values())
    answers, failed = await _ask_source(cohort, markets, round.at, world)
    gathered = _guarded_evidence(cohort, markets, round.at, answers)
    record.write(add_evidence, round.id, place, gathered)
    record.quarantine([*world.quarantined, *failed], round.at)
    world.quarantined.clear()
    pending = sum(market.id not in answers for market in markets)
    return (f"no evidence on {pending} of {len(markets)} markets: {failed[-1].reason}",) if failed else ()


async def _ask_source(
    cohort: Cohort, markets: Sequence[Market], at: datetime, world: World
) -> tuple[SearchResults, list[QuarantinedRecord]]:
    """What the source has on each market, and where it failed. What it told another cohort does as well."""
    for other in [key for key in world.searches if key[2] != at]:
        del world.searches[other]
    answers = world.searches.setdefault((cohort.evidence, canonical(cohort.evidence_settings), at), {})
    failed, in_a_row = list[QuarantinedRecord](), 0
    for market in markets:
        if market.id in answers or in_a_row == MOST_FAILURES:
            continue
        try:
            articles = await world.research(cohort).articles(market, at)
            answers[market.id], in_a_row = (_checked_articles(articles), world.now()), 0
        except ResearchError as error:
            words = f"{error.message}; {error.hint}" if error.hint else error.message
            failed.append(QuarantinedRecord(cohort.evidence, market.id, "page", error.code, words))
            in_a_row += not isinstance(error, RefusedQueryError)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: it must not stop the round
            words = one_line(f"{type(error).__name__}: {error}")
            failed.append(QuarantinedRecord(cohort.evidence, market.id, "page", "broken", words))
            in_a_row += 1
    return answers, failed


def _checked_articles(answer: object) -> list[FoundArticle]:
    """The articles of an answer, which anyone's code may have made."""
    items = answer if isinstance(answer, list | tuple) else [answer]
    for item in items:
        if type(item) is not FoundArticle or any(
            type(getattr(item, x.name)) is not str for x in fields(FoundArticle)
        ):
            raise TypeError("a source answers with a list of FoundArticle, and they are made of texts")
    return [item for item in items if isinstance(item, FoundArticle)]


def _guarded_evidence(
    cohort: Cohort, markets: Sequence[Market], at: datetime, answers: SearchResults
) -> GatheredEvidence:
    """What the guard lets through, market by market."""
    rule = guard_of(cohort)
    shown: dict[MarketId, tuple[Article, ...]] = {}
    dropped, count, texts, suspects = Counter[DropReason](), 0, 0, list[Suspect]()
    for market in markets:
        items, fetched_at = answers.get(market.id, ([], at))
        guarded = guard_articles(items, market, at, fetched_at, rule)
        count += len(items)
        dropped.update(guarded.dropped)
        if guarded.audit is not None:
            texts, suspects = texts + guarded.audit.texts, [*suspects, *guarded.audit.suspects]
        if guarded.articles:
            shown[market.id] = guarded.articles
    audit = None if rule.suspects is None else Audit(RULES, rule.odds == "withheld", texts, tuple(suspects))
    return GatheredEvidence(shown, count, GuardedArticles((), dropped, audit).counts)


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


@dataclass(frozen=True, slots=True)
class RoundContext:
    """What there is to tell, and who wants to hear what; `past` is by entrant."""

    wanted: Mapping[int, Context]
    ends: Mapping[MarketId, int | None] = field(default_factory=dict)
    history: Mapping[MarketId, tuple[Quote, ...]] = field(default_factory=dict)
    siblings: Mapping[str, tuple[Listing, ...]] = field(default_factory=dict)
    past: Mapping[int, Sequence[PastForecast]] = field(default_factory=dict)

    def told(self, view: View, entrant: int) -> View:
        """An entrant's view with what it wants of all this."""
        if (wants := self.wanted.get(entrant)) is None:
            return view
        past = self.past.get(entrant, ()) if wants.past else ()
        last: dict[MarketId, tuple[PastForecast, ...]] = {}
        for each in past:
            market = each.forecast.market_id
            last[market] = (*last.get(market, ()), each)
        ended = (replace(x, outcome=self.ends[m]) for m in self.ends for x in last.pop(m, ()))
        return replace(
            view,
            history=self.history if wants.history else {},
            siblings=self.siblings if wants.siblings else None,
            ended=tuple(ended),
            past=last,
        )


def _is_context(value: object) -> bool:
    """Whether a setting of that name is this one, and not some own one of a kind of somebody's."""
    return isinstance(value, Mapping) and value.keys() == Context.model_fields.keys()


def gather_context(
    entrants: Sequence[Entrant],
    stored: StoredCohort,
    snapshot: Snapshot,
    since: datetime | None,
    record: Record,
) -> RoundContext:
    """Read what these entrants want, in a few queries. Cohorts of before there was any want nothing."""
    wanted = {
        stored.entrant_ids[entrant.name]: Context.model_validate(entrant.settings["context"])
        for entrant in entrants
        if _is_context(entrant.settings.get("context"))
    }
    every = wanted.values()
    ids = [listing.market.id for listing in snapshot]
    recalling = [entrant for entrant, context in wanted.items() if context.past]
    ends: Mapping[MarketId, int | None] = {}
    past: Mapping[int, Sequence[PastForecast]] = {}
    if recalling and since is not None:
        ends = record.read(read_new_ends, stored.id, since, snapshot.at)
        past = record.read(read_past_forecasts, stored.id, recalling, {*ids, *ends}, snapshot.at)
    return RoundContext(
        wanted,
        ends,
        record.read(read_price_history, ids, snapshot.at) if any(x.history for x in every) else {},
        record.read(read_siblings, snapshot) if any(x.siblings for x in every) else {},
        past,
    )
