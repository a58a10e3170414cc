"""What several pages ask of the record, and how: as it stood when it last changed."""

import os
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, cast

import streamlit as st

from arena.clock import now
from arena.errors import ArenaError
from arena.operations.status import Status, read_status_by_config
from arena.record.queries.accounts import AccountEquity, read_account_equity, read_cohort_depths
from arena.record.queries.agents import AccountSpan, EntrantEquity, read_account_spans, read_equity_at
from arena.record.queries.cohorts import StoredCohort, read_cohorts, read_rounds
from arena.record.queries.market_history import read_event_questions, read_price_lines
from arena.record.queries.markets import (
    BEGINNING,
    ForecastSpread,
    ListedMarket,
    MarketInterest,
    ShowingRound,
    read_forecast_spreads,
    read_last_shown,
    read_listed_markets,
    read_market_interest,
    read_newest_instant,
    was_any_shown,
)
from arena.record.queries.progress import read_record_version
from arena.record.schema.database import Connection, cached_engine, check_schema, reading, record_file
from arena.record.schema.newest import newest_rows
from arena.record.schema.world import QuoteRow
from arena.scores.cache import CacheEntry
from arena.scores.comparisons import MARKET, REFERENCES
from arena.scores.leaderboard import LEADERBOARD, Leaderboard, LeaderboardRow
from arena.scores.metaculus_scores import MetaculusScores
from arena.scores.profiles.detailed_profile import FIGURES, ProfileFigures
from arena.scores.rules.money.luck import Luck
from arena.scores.slices import CATEGORIES
from arena.scores.verdict import AgentVerdict, Verdict
from dashboard.html import CHOSEN
from dashboard.words import moment
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.rules import Rules

if TYPE_CHECKING:
    from arena.config import Config
Answer = TypeVar("Answer")
Asked = ParamSpec("Asked")

OLDEST = 60
"""Seconds after which an answer is read anew, whatever the record says of itself."""

cached = partial(st.cache_data, ttl=OLDEST, max_entries=256, show_spinner=False)
"""For queries: an answer is kept until the record, or what is asked, is another."""


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A record and its state: answers are kept until one of the two is another."""

    address: str
    version: tuple[str, ...]


def source(address: str) -> RecordSource:
    """The record at an address, as it is now; an error that says what to do where it can't be read."""
    check_schema(cached_engine(address, _file(address)))
    return RecordSource(address, (_file(address), *ask(RecordSource(address, ()), read_record_version)))


def _file(address: str) -> str:
    """Which file it is: a record may be thrown away and made anew under its name. Empty for a server."""
    path = record_file(address)
    return str(path.stat().st_ino) if path is not None and path.exists() else ""


def ask(record: RecordSource, question: Callable[[Connection], Answer]) -> Answer:
    """What the record answers to a question, read in one consistent look."""
    engine = cached_engine(record.address, _file(record.address))
    try:
        with reading(engine) as connection:
            return question(connection)
    finally:
        engine.dispose()


def kept(
    record: RecordSource,
    read: Callable[Concatenate[Connection, Asked], Answer],
    *asked: Asked.args,
    **more: Asked.kwargs,
) -> Answer:
    """What a reader finds in the record, kept until the record, or what is asked, is another.

    Readers are told apart by their names, so none may be a lambda.
    """
    return cast(Answer, _kept(record, read, asked, more))


def reader_name(read: Callable[..., Any]) -> tuple[str, str, str]:
    """By what a reader is told from another; one of a kind of cached values by the name of the kind."""
    return read.__module__, read.__qualname__, getattr(getattr(read, "__self__", None), "name", "")


@cached(hash_funcs={FunctionType: reader_name, MethodType: reader_name})
def _kept(
    record: RecordSource, read: Callable[..., Any], asked: Sequence[Any], more: Mapping[str, Any]
) -> Any:
    return ask(record, lambda connection: read(connection, *asked, **more))


@dataclass(frozen=True, slots=True)
class CohortLine:
    """A cohort in a list: when it started, how far it is, its markets' origin and rules, if it is halted.

    Rounds are `unfinished` that have begun and of which turns are missing or have failed. One that has ended
    was `corrected_at` when its venue last took back how a market ended.
    `depth` is what has to be said of its money: see `AccountSummary`. `later_models` may know how a
    replay ended.
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
    later_models: Mapping[str, date | None] = field(default_factory=dict)


MODELS, PEOPLE = frozenset(("llm", "crowd")), frozenset(("recorded",))
"""Kinds of agents that are models, or made of them; and people. All others are programs or references."""
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
    def names(self) -> frozenset[str]:
        """Who has a page."""
        return frozenset(name for name, _ in self.agents)

    @property
    def is_simulated(self) -> bool:
        """Whether all of it is simulated, and so what its calls cost as well."""
        return all(line.stamp == "simulated" for line in self.cohorts)

    def colours(self, chosen: Iterable[str]) -> dict[str, str]:
        """The colour of each of these agents: its own, wherever it is drawn.

        Models have the first colours and all others the last, in line-up order, those without an opinion at
        the end. Of two that would share one the later has the next that is free.
        """
        models = [name for name, kind in self.agents if kind in MODELS]
        others = [name for name, kind in self.agents if kind not in MODELS]
        others.sort(key=lambda name: dict(self.agents)[name] in NULLS)
        own = {name: place for place, name in enumerate(models)}
        own |= {name: -place for place, name in enumerate(others, start=1)}
        found: dict[str, str] = {}
        for name in chosen:
            first = own.get(name, -1) % len(CHOSEN)
            order = (*CHOSEN[first:], *CHOSEN[:first])
            found[name] = next((one for one in order if one not in found.values()), order[0])
        return found

    def group(self, agent: str) -> str:
        """What an agent is: a reference, one of the people, or one of the models and programs."""
        kind = dict(self.agents).get(agent, MARKET)
        if kind in REFERENCES:
            return "references"
        return "people" if kind in PEOPLE else "models"

    def players(self, names: Iterable[str]) -> list[str]:
        """Those of these agents that are no references, which others are measured by."""
        kinds = dict(self.agents)
        return [name for name in names if name in kinds and kinds[name] not in REFERENCES]

    def first(self, names: Iterable[str], most: int) -> list[str]:
        """The first of these agents, none of them a reference as long as there are others."""
        every = list(names)
        kinds = dict(self.agents)
        return (self.players(every) or [name for name in every if kinds.get(name) != MARKET])[:most]

    def is_reference(self, agent: str) -> bool:
        """Whether others are measured by it."""
        return self.group(agent) == "references"

    def about(self, agent: str) -> str:
        """Who made it, or by which rule it plays."""
        model, kind = self.models.get(agent, ""), dict(self.agents).get(agent, "market")
        if model:
            return model.partition("/")[0] if model.endswith(f"/{agent}") else model
        if kind == MARKET:
            return "the price"
        return f"{kind} · reference" if self.is_reference(agent) else kind


@dataclass(frozen=True, slots=True)
class PnlPoint:
    """An account at one instant: its profit or loss, in dollars and in percent of its bankroll."""

    agent: str
    at: datetime
    dollars: float
    percent: float


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """A row of the leaderboard, what is told of its agent, its luck and calibration, and Metaculus's scores.

    Nothing is told of it on the board of a single cohort.
    """

    row: LeaderboardRow
    brief: ProfileFigures | None = None
    metaculus: MetaculusScores | None = None
    told: AgentVerdict | None = None

    @property
    def is_on_board(self) -> bool:
        """Whether it stands among the agents that are ranked."""
        return self.row.ranked and not self.row.is_reference

    @property
    def luck(self) -> Luck | None:
        """Its profit among those of skill-less seasons; None where none is known or nothing was at risk."""
        found = self.brief.luck if self.brief else None
        return found if found and found.low is not None else None

    @property
    def note(self) -> str:
        """What its figures can't say, and why."""
        return "; ".join(
            ([self.row.reason] if self.row.reason else [])
            + list(self.row.stamps)
            + ([self.row.depth] if self.row.depth else [])
        )


ADDRESS = "ARENA_CONFIG"


def known_config() -> "tuple[Config | None, bool]":
    """What the config says now, if there is one; and whether there is one that can't be read.

    What is wrong with it is not told here: it quotes the config, and pages are for others to see.
    """
    named = os.environ.get(ADDRESS)
    if not named:
        return None, False
    file = Path(named)
    return _read_config(file, file.stat().st_mtime_ns if file.exists() else 0)


@st.cache_resource(max_entries=1, show_spinner=False)
def _read_config(file: Path, _changed: int) -> "tuple[Config | None, bool]":
    from arena.config import load  # with all that a config may name: not for those who have none

    try:
        return load(file), False
    except ArenaError:
        return None, True


def season(record: RecordSource) -> SeasonOverview:
    """The record at a glance."""
    return kept(record, read_season)


def read_season(connection: Connection) -> SeasonOverview:
    """The same, of a record that is open."""
    stored = read_cohorts(connection)
    depths = read_cohort_depths(connection)
    kinds = {entrant.name: entrant.kind for one in stored for entrant in one.cohort.entrants}
    models = {
        entrant.name: str(entrant.settings["model"])
        for one in stored
        for entrant in one.cohort.entrants
        if entrant.settings.get("model")
    }
    lines = tuple(line_of(connection, one, depths) for one in stored)
    return SeasonOverview(lines, tuple(kinds.items()), models)


def line_of(connection: Connection, stored: StoredCohort, depths: Mapping[int, str]) -> CohortLine:
    """A cohort as lists have it; `depths` are what has to be said of the money of each, by number."""
    begun, frozen = read_rounds(connection, stored.id), stored.cohort
    played = sum(begun_round.done for begun_round in begun)
    return CohortLine(
        frozen.number,
        frozen.starts_at,
        stored.ended_at,
        frozen.rounds,
        played,
        frozen.stamp,
        frozen.venue,
        frozen.rules,
        paused=stored.paused_at is not None,
        stopped=stored.stopped_at is not None,
        unfinished=len(begun) - played,
        corrected_at=stored.corrected_at,
        depth=depths.get(frozen.number, ""),
        later_models=frozen.later_models,
    )


@cached()
def arena_status(record: RecordSource) -> Status:
    """The status now. A config that can't be read adds nothing; the page of operations says so."""
    config, _ = known_config()
    return ask(record, lambda connection: read_status_by_config(connection, now(), config))


def leaderboard_lines(
    board: Leaderboard, briefs: Mapping[str, ProfileFigures] | None = None
) -> tuple[LeaderboardLine, ...]:
    """The rows of a leaderboard with what else is known of each agent."""
    known = briefs or {}
    metaculus = {one.agent: one for one in board.metaculus}
    told = {} if board.verdict is None else {one.agent: one for one in board.verdict.agents}

    lines = []
    for row in board.rows:
        name = row.agent
        lines.append(LeaderboardLine(row, known.get(name), metaculus.get(name), told.get(name)))
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A leaderboard as it was computed last; without one, the equity of every account.

    The figures beside the rows are of all cohorts together: the leaderboard of one has none. The entry has
    the time of what is older.
    """

    board: CacheEntry[Leaderboard] | None
    lines: tuple[LeaderboardLine, ...]
    money: tuple[AccountEquity, ...]


def read_leaderboard_page(connection: Connection, cohort: int | None = None) -> LeaderboardPage:
    """The leaderboard of all cohorts, or of one."""
    board = LEADERBOARD.read(connection, cohort)
    if board is None:
        return LeaderboardPage(None, (), tuple(read_account_equity(connection, cohort)))
    figures = FIGURES.read(connection) if cohort is None else None
    by_agent = {} if figures is None else {one.agent: one for one in figures.value}
    if figures is not None:
        made_at = min(board.made_at, figures.made_at)
        board = replace(board, made_at=made_at, is_current=board.is_current and figures.is_current)
    return LeaderboardPage(board, leaderboard_lines(board.value, by_agent), ())


def read_verdict(connection: Connection) -> Verdict | None:
    """The verdict of the whole record as it was computed last; None before there is one."""
    board = LEADERBOARD.read(connection)
    return None if board is None else board.value.verdict


@cached()
def by_leaderboard(record: RecordSource) -> tuple[str, ...]:
    """The names of all agents; those that stand on no board yet come last, in line-up order."""
    board = ask(record, LEADERBOARD.read)
    kinds = dict(season(record).agents)
    ranked = [row.agent for row in board.value.rows if row.agent in kinds] if board is not None else []
    return tuple(sorted(dict.fromkeys([*ranked, *kinds]), key=lambda name: kinds[name] != "llm"))


INSTANTS = 200
"""How many instants of its whole life an agent's curve is asked for at most."""
MARKED_AT = attrgetter("at")


def read_summed_curves(
    connection: Connection, names: Collection[str], instants: int = INSTANTS
) -> dict[str, tuple[PnlPoint, ...]]:
    """What all accounts of each of these agents together had made, over time: each as last marked by then."""
    stored = read_cohorts(connection)
    given = {
        name: {one.entrant_ids[name]: one.cohort.bankroll for one in stored if name in one.entrant_ids}
        for name in names
    }
    ids = [entrant_id for mine in given.values() for entrant_id in mine]
    worth = defaultdict[int, list[EntrantEquity]](list)
    for one in read_equity_at(connection, _wanted(read_account_spans(connection, ids), instants)):
        worth[one.entrant_id].append(one)
    return {
        name: _curve(name, [one for entrant_id in mine for one in worth[entrant_id]], mine)
        for name, mine in given.items()
    }


def _wanted(spans: Sequence[AccountSpan], instants: int) -> list[tuple[int, datetime]]:
    """Evenly spaced instants of the whole time, for each account those at which it was open."""
    if not spans:
        return []
    first, last = min(s.first_at for s in spans), max(s.last_at for s in spans)
    step = (last - first) / (instants - 1)
    grid = [first + step * place for place in range(instants - 1)]
    return [(s.entrant_id, at) for s in spans for at in (*_within(grid, s), s.last_at)]


def _within(grid: Sequence[datetime], span: AccountSpan) -> Sequence[datetime]:
    return grid[bisect_left(grid, span.first_at) : bisect_right(grid, span.last_at)]


def _curve(name: str, worth: Sequence[EntrantEquity], given: dict[int, int]) -> tuple[PnlPoint, ...]:
    """The sum of what all accounts had made, at the instants at which one of them was marked."""
    made: dict[int, int] = {}
    points = list[PnlPoint]()
    total = money = 0
    for at, marks in groupby(sorted(worth, key=MARKED_AT), MARKED_AT):
        for one in marks:
            bankroll = given[one.entrant_id]
            gain = one.total - bankroll
            money += 0 if one.entrant_id in made else bankroll
            total += gain - made.get(one.entrant_id, 0)
            made[one.entrant_id] = gain
        points.append(PnlPoint(name, at, total / ONE, 100 * total / money))
    return tuple(points)


SOON = "This page shows it as soon as it is there."


def cache_note(entry: CacheEntry[Any] | None, what: str = "Skill, intervals and calibration") -> str:
    """Since when figures hold, where that has to be said; empty where they are up to date."""
    if entry is None:
        return f"{what} are being computed. {SOON}"
    newer = "newer results are being computed and appear here by themselves"
    return "" if entry.is_current else f"Figures of {moment(entry.made_at)}; {newer}."


MarketStatus = Literal["open", "waiting", "resolved"]
MarketOrder = Literal["shown", "closes", "volume", "apart"]

PAGE_ROWS = 50
"""So many rows a page has."""

WEIGHED, COMPARED = 250, 100
"""Among so many, those shown last, are the most traded and the first to close looked for, and those where
agents disagree most."""

PRICES_DRAWN, PRICES_BACK = 20, timedelta(days=30)
"""At so many instants a sparkline looks at the price, over so long a time."""


@dataclass(frozen=True, slots=True)
class MarketFilter:
    """What the list is to hold: `status` is one of `MarketStatus` or nothing at all; `page` counts from 1."""

    search: str = ""
    status: str = ""
    category: str = ""
    event: str = ""
    order: MarketOrder = "shown"
    page: int = 1


@dataclass(frozen=True, slots=True)
class FilterMenu:
    """What the list can be narrowed to; `about` is what a market of the event asks, if one is named.

    `markets` are all that agents were shown, where that is known as of now.
    """

    is_empty: bool
    markets: int | None
    categories: tuple[str, ...]
    about: str | None


@dataclass(frozen=True, slots=True)
class MarketLine:
    """A market in the list. Prices are in millionths, `prices` oldest first."""

    market: ListedMarket
    status: MarketStatus
    price: int | None
    volume: int | None
    shown: ShowingRound
    interest: MarketInterest
    spread: ForecastSpread | None
    prices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MarketList:
    """A page of a list, and on how many markets its pages are.

    If it is `whole` those are all that are as asked for; else the newest of them. `more` follow on a page.
    """

    lines: tuple[MarketLine, ...]
    markets: int
    whole: bool
    more: bool = False


@dataclass(frozen=True, slots=True)
class MarketMatch:
    """A market that is as asked for."""

    market: ListedMarket
    status: MarketStatus
    shown: ShowingRound


Quotes = Mapping[str, Any]
Matches = Mapping[MarketId, MarketMatch]


def read_menu(connection: Connection, event: str) -> FilterMenu:
    """What can be chosen beside words to search for."""
    counts, now = CATEGORIES.read(connection), CATEGORIES.read_current(connection)
    return FilterMenu(
        is_empty=not was_any_shown(connection),
        markets=None if now is None else sum(markets for _, markets in now),
        categories=() if counts is None else tuple(name for name, _ in counts.value if name),
        about=read_event_questions(connection, [event]).get(event) if event else None,
    )


def read_market_list(connection: Connection, asked: MarketFilter) -> MarketList:
    """The markets that are as asked for, the first of them with all their figures."""
    start, order = PAGE_ROWS * (asked.page - 1), SORTED.get(asked.order)
    enough = max(ENOUGH.get(asked.order, 0), start + PAGE_ROWS)
    matching, whole = _matching(connection, asked, enough)
    chosen = list(matching) if order is None else order(connection, matching)
    lines = market_lines(connection, [matching[market_id] for market_id in chosen[start : start + PAGE_ROWS]])
    more = len(chosen) > start + PAGE_ROWS or (order is None and not whole)
    return MarketList(tuple(lines), len(chosen), whole, more)


def _matching(
    connection: Connection, asked: MarketFilter, enough: int
) -> tuple[dict[MarketId, MarketMatch], bool]:
    """The markets that are as asked for, those shown last first, and whether there are no others."""
    found, now = dict[MarketId, MarketMatch](), read_newest_instant(connection, BEGINNING)
    for shown in read_last_shown(connection):
        for market in read_listed_markets(connection, list(shown)):
            match = MarketMatch(market, _status(market, now), shown[market.id])
            if _matches(match, asked):
                found[market.id] = match
        if len(found) > enough:
            return dict(list(found.items())[:enough]), False
    return found, True


def _status(market: ListedMarket, now: datetime) -> MarketStatus:
    if market.ended:
        return "resolved"
    return "waiting" if market.closes_at <= now else "open"


def _matches(match: MarketMatch, asked: MarketFilter) -> bool:
    market, question = match.market, match.market.question.casefold()
    return (
        asked.status in ("", match.status)
        and asked.category in ("", market.category)
        and asked.event in ("", market.event_id)
        and all(word in question for word in asked.search.casefold().split())
    )


def _by_volume(connection: Connection, matching: Matches) -> list[MarketId]:
    quotes = _quotes(connection, list(matching))
    volumes = {market_id: quote.volume for market_id, quote in quotes.items() if quote.volume is not None}
    return sorted(matching, key=lambda market_id: (-volumes.get(market_id, -1), market_id))


def _by_spread(connection: Connection, matching: Matches) -> list[MarketId]:
    spreads = read_forecast_spreads(
        connection, {market_id: match.shown for market_id, match in matching.items()}, NULLS
    )
    apart = {
        market_id: spread.high - spread.low for market_id, spread in spreads.items() if spread.agents > 1
    }
    return sorted(apart, key=lambda market_id: (-apart[market_id], market_id))


ENOUGH: Mapping[MarketOrder, int] = {"closes": WEIGHED, "volume": WEIGHED, "apart": COMPARED}
"""From so many markets an order is made, those shown last."""
SORTED: Mapping[MarketOrder, Callable[[Connection, Matches], list[MarketId]]] = {
    "closes": lambda _, matching: sorted(matching, key=lambda id: (matching[id].market.closes_at, id)),
    "volume": _by_volume,
    "apart": _by_spread,
}
"""Other orders than that in which markets are found."""


def all_markets(connection: Connection) -> list[MarketMatch]:
    """Every market that was shown, those shown last first."""
    return list(_matching(connection, MarketFilter(), sys.maxsize)[0].values())


def market_lines(connection: Connection, chosen: Sequence[MarketMatch]) -> list[MarketLine]:
    """These markets with all their figures."""
    ids = [match.market.id for match in chosen]
    quotes, interest = _quotes(connection, ids), read_market_interest(connection, ids)
    spreads = read_forecast_spreads(connection, {match.market.id: match.shown for match in chosen}, NULLS)
    now = read_newest_instant(connection, BEGINNING)
    ends = {match.market.id: min(match.market.closes_at, now) for match in chosen}
    prices = read_price_lines(connection, ends, PRICES_BACK, PRICES_DRAWN)
    return [
        MarketLine(
            match.market,
            match.status,
            quote_price(quotes.get(match.market.id)),
            quotes[match.market.id].volume if match.market.id in quotes else None,
            match.shown,
            interest.get(match.market.id, MarketInterest(0, 0)),
            spreads.get(match.market.id),
            tuple(prices.get(match.market.id, ())),
        )
        for match in chosen
    ]


def _quotes(connection: Connection, ids: Sequence[MarketId]) -> Quotes:
    return newest_rows(connection, QuoteRow, ids, "at", "mid", "last", "volume")


def quote_price(quote: Any) -> int | None:
    """The mid; where there is none, the last trade."""
    if quote is None:
        return None
    price: int | None = quote.last if quote.mid is None else quote.mid
    return price
