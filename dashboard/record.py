"""What several pages ask of the record, and how: as it stood when it last changed."""

import os
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import median
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast

import streamlit as st

from agents.model import USABLE_STATUSES
from arena.clock import now
from arena.cohorts.cohort import ADDRESS_KEY
from arena.errors import ArenaError
from arena.operations.health import Status
from arena.operations.status import read_status_by_config
from arena.record.queries.accounts import AccountEquity, read_account_equity, read_cohort_depths
from arena.record.queries.cohorts import (
    PLACE,
    StoredCohort,
    read_cohorts,
    read_hidden_rounds,
    read_rounds,
)
from arena.record.queries.markets import (
    BEGINNING,
    ListedMarket,
    ShowingRound,
    read_last_shown,
    read_listed_markets,
    read_newest_instant,
)
from arena.record.queries.progress import SEASON_PARTS
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection, cached_engine, check_schema, reading, record_file
from arena.record.schema.dialects import BigInt
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.newest import (
    is_in_markets,
    keyed_instants,
    keyed_instants_parameter,
    markets_parameter,
    newest_rows,
)
from arena.record.schema.statements import batches
from arena.record.schema.turn import CallRow, ForecastRow, TurnRow
from arena.record.schema.typed import (
    Text,
    aliased,
    case,
    clause,
    col,
    count,
    func,
    joined,
    read_objects,
    select,
    select_as,
    select_fields,
    total,
)
from arena.record.schema.work import IncidentRow, JobRow
from arena.record.schema.world import MarketRow, MarketVersionRow, QuarantineRow, QuoteRow
from arena.scores.all_kinds import ALL_KINDS
from arena.scores.cache import CacheEntry
from arena.scores.comparisons import MARKET, REFERENCES
from arena.scores.leaderboard import LEADERBOARD, Leaderboard, LeaderboardRow
from arena.scores.metaculus_scores import MetaculusScores
from arena.scores.profiles.detailed_profile import FIGURES, ProfileFigures
from arena.scores.rules.money.luck import Luck
from arena.scores.slices import CATEGORIES
from arena.scores.verdict import AgentVerdict, Verdict, is_early, profit_order
from dashboard.pictures import CHOSEN
from dashboard.words import moment
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.rules import Rules

if TYPE_CHECKING:
    from arena.config import Config
Answer = TypeVar("Answer")
Asked = ParamSpec("Asked")

OLDEST = 60
"""Seconds after which an answer is read again, whatever the record's state is."""

cached = partial(st.cache_data, ttl=OLDEST, max_entries=256, show_spinner=False)
"""For queries: an answer is kept until the record or the question changes."""


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A record and its state: answers are kept until one of the two changes."""

    address: str
    version: tuple[str, ...]


def source(address: str) -> RecordSource:
    """Return the record at an address as it is now; raise an error with advice if it can't be read."""
    check_schema(cached_engine(address, _file(address)))
    return RecordSource(address, (_file(address), *ask(RecordSource(address, ()), _read_version)))


OPERATIONS_PARTS = (
    func.max(JobRow.started_at),
    func.max(JobRow.ended_at),
    func.max(IncidentRow.id),
    count(IncidentRow.ended_at),
    count(IncidentRow.told_at),
    func.max(QuarantineRow.last_seen_at),
)
RECORD_VERSION = select(*(select(part).scalar_subquery() for part in (*SEASON_PARTS, *OPERATIONS_PARTS)))


def _read_version(connection: Connection) -> tuple[str, ...]:
    """Return a state that changes with everything that matters to a reader of the record."""
    return tuple(map(str, connection.execute(RECORD_VERSION).one()))


def _file(address: str) -> str:
    """Return the identity of the file, as a record may be made anew under its name; nothing for a server."""
    path = record_file(address)
    if path is None or not path.exists():
        return ""
    return str(path.stat().st_ino)


def ask(record: RecordSource, question: Callable[[Connection], Answer]) -> Answer:
    """Return the record's answer to a question, read in one consistent snapshot."""
    engine = cached_engine(record.address, _file(record.address))
    try:
        with reading(engine) as connection:
            return question(connection)
    finally:
        engine.dispose()


def read_cached(
    record: RecordSource,
    read: Callable[Concatenate[Connection, Asked], Answer],
    *asked: Asked.args,
    **more: Asked.kwargs,
) -> Answer:
    """Return what a reader finds in the record, kept until the record or the question changes.

    Readers are told apart by their names, so none may be a lambda.
    """
    return cast(Answer, _read_cached(record, read, asked, more))


def reader_name(read: Callable[..., Any]) -> tuple[str, str, str]:
    """Return the name that tells a reader from others; for cached values with the name of their kind."""
    return read.__module__, read.__qualname__, getattr(getattr(read, "__self__", None), "name", "")


@cached(hash_funcs={FunctionType: reader_name, MethodType: reader_name})
def _read_cached(
    record: RecordSource, read: Callable[..., Any], asked: Sequence[Any], more: Mapping[str, Any]
) -> Any:
    """Read the record, unless Streamlit has kept the answer."""
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


MODELS = frozenset(("llm", "crowd"))
PEOPLE = frozenset(("recorded",))
"""Kinds of agents that are models, or made of them; and people. All others are programs or references."""
NULLS = ("market", "constant", "random", "favourite")
"""Kinds without an opinion: they would be far from all others on every market."""


Colours = Mapping[str, str]
"""The colours of agents by their names, as classes; all others are grey."""


@dataclass(frozen=True, slots=True)
class SeasonOverview:
    """The record at a glance: cohorts oldest first, agents as (name, kind) in line-up order.

    `models` are the models of those that have one, as the newest cohort names them; `own_servers` are the
    agents whose model is reached at an address of its own, whatever provider its name begins with.
    """

    cohorts: tuple[CohortLine, ...]
    agents: tuple[tuple[str, str], ...]
    models: Mapping[str, str]
    own_servers: frozenset[str] = frozenset()

    def cohort(self, number: int) -> CohortLine:
        """Return a cohort by its number."""
        return next(line for line in self.cohorts if line.number == number)

    @property
    def has_money(self) -> bool:
        """Tell whether any cohort bets; the others are of forecasts alone."""
        return any(line.rules.money for line in self.cohorts)

    @property
    def names(self) -> frozenset[str]:
        """Return the agents with a page of their own."""
        return frozenset(self.kinds)

    @property
    def kinds(self) -> dict[str, str]:
        """Return the kinds of agents by their names, in line-up order."""
        return dict(self.agents)

    def has_opinion(self, agent: str) -> bool:
        """Tell whether an agent is of a kind that holds opinions."""
        return self.kinds.get(agent) not in NULLS

    @property
    def is_simulated(self) -> bool:
        """Tell whether all of it is simulated, and so what its calls cost as well."""
        return all(line.stamp == "simulated" for line in self.cohorts)

    def colours(self, chosen: Iterable[str]) -> dict[str, str]:
        """Return the colour of each of these agents: its own, wherever it is drawn.

        Models have the first colours and all others the last, in line-up order, those without an opinion at
        the end. Of two that would share one the later has the next that is free.
        """
        # Models count from the first colour, others back from the last.
        colour_numbers = {}
        models = 0
        others = 0
        for name, kind in sorted(self.agents, key=lambda agent: agent[1] in NULLS):
            if kind in MODELS:
                colour_numbers[name] = models
                models += 1
            else:
                others += 1
                colour_numbers[name] = -others

        colours: dict[str, str] = {}
        for name in chosen:
            preferred = colour_numbers.get(name, -1) % len(CHOSEN)
            colours_in_order = (*CHOSEN[preferred:], *CHOSEN[:preferred])
            free = [colour for colour in colours_in_order if colour not in colours.values()]
            colours[name] = (free or colours_in_order)[0]
        return colours

    def group(self, agent: str) -> str:
        """Return what an agent is: a reference, one of the people, or one of the models and programs."""
        kind = self.kinds.get(agent, MARKET)
        if kind in REFERENCES:
            return "references"
        if kind in PEOPLE:
            return "people"
        return "models"

    def players(self, names: Iterable[str]) -> list[str]:
        """Return those of these agents that are no references."""
        return [name for name in names if not self.is_reference(name)]

    def first(self, names: Sequence[str], most: int) -> list[str]:
        """Return the first of these agents, without references unless there are no others."""
        chosen = self.players(names)
        if not chosen:
            chosen = [name for name in names if self.kinds.get(name) != MARKET]
        return chosen[:most]

    def is_reference(self, agent: str) -> bool:
        """Tell whether the agent is a reference, which others are measured by."""
        return self.group(agent) == "references"

    def about(self, agent: str) -> str:
        """Say who made the agent, or by which rule it plays."""
        model = self.models.get(agent, "")
        if agent in self.own_servers:
            name = model.rpartition("/")[2]
            return "own server" if name == agent else f"{name} · own server"
        if model.endswith(f"/{agent}"):
            return model.partition("/")[0]
        if model:
            return model
        kind = self.kinds.get(agent, MARKET)
        if kind == MARKET:
            return "the price"
        return kind + " · reference" * self.is_reference(agent)


@dataclass(frozen=True, slots=True)
class RoundTime:
    """When a round of a cohort was decided."""

    cohort: int
    number: int
    at: datetime


def read_round_times(connection: Connection) -> tuple[RoundTime, ...]:
    """Return the rounds of all cohorts, oldest first."""
    rounds = select(CohortRow.number, RoundRow.number, RoundRow.at)
    rounds = rounds.select_from(joined(CohortRow, RoundRow))
    return tuple(RoundTime(*row) for row in connection.execute(rounds.order_by(RoundRow.at)))


@dataclass(frozen=True, slots=True)
class PnlPoint:
    """An account at one instant: its profit or loss, in dollars and in percent of its bankroll."""

    agent: str
    at: datetime
    dollars: float
    percent: float


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """A row of the leaderboard with its agent's verdict, luck, calibration, and Metaculus's scores.

    Nothing is told of it on the board of a single cohort.
    """

    row: LeaderboardRow
    brief: ProfileFigures | None = None
    metaculus: MetaculusScores | None = None
    verdict: AgentVerdict | None = None

    @property
    def luck(self) -> Luck | None:
        """Return the luck band of its profit, or None if it is unknown or nothing was at risk."""
        if self.brief is None or self.brief.luck is None or self.brief.luck.low is None:
            return None
        return self.brief.luck

    @property
    def note(self) -> str:
        """Say what its figures can't show, and why."""
        return "; ".join(filter(None, (self.row.reason, *self.row.stamps, self.row.depth)))


ADDRESS = "ARENA_CONFIG"


def known_config() -> "tuple[Config | None, bool]":
    """Return the current config, if there is one, and whether there is one that can't be read.

    What is wrong with it is not told here: it quotes the config, and pages are for others to see.
    """
    named = os.environ.get(ADDRESS)
    if not named:
        return None, False
    file = Path(named)
    changed = 0
    if file.exists():
        changed = file.stat().st_mtime_ns
    return _read_config(file, changed)


@st.cache_resource(max_entries=1, show_spinner=False)
def _read_config(file: Path, _changed: int) -> "tuple[Config | None, bool]":
    """Read the config, unless it was read before and has not changed."""
    from arena.config import load  # with all that a config may name: not for those who have none

    try:
        return load(file), False
    except ArenaError:
        return None, True


def season(record: RecordSource) -> SeasonOverview:
    """Return the record at a glance."""
    return read_cached(record, read_season)


def read_season(connection: Connection) -> SeasonOverview:
    """Return the record at a glance, from an open connection."""
    depths = read_cohort_depths(connection)
    lines = []
    kinds = {}
    models = {}
    own_servers = set()
    for stored in read_cohorts(connection):
        lines.append(line_of(connection, stored, depths))
        for entrant in stored.cohort.entrants:
            kinds[entrant.name] = entrant.kind
            model = entrant.settings.get("model")
            if model:
                models[entrant.name] = str(model)
                own_servers.discard(entrant.name)
            if entrant.settings.get(ADDRESS_KEY):
                own_servers.add(entrant.name)
    return SeasonOverview(tuple(lines), tuple(kinds.items()), models, frozenset(own_servers))


def line_of(connection: Connection, stored: StoredCohort, depths: Mapping[int, str]) -> CohortLine:
    """Return a cohort as lists have it; `depths` are the remarks on the money of each, by number."""
    begun = read_rounds(connection, stored.id)
    played = sum(begun_round.done for begun_round in begun)
    frozen = stored.cohort
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
    """Return the status now. A config that can't be read adds nothing; the page of operations says so."""
    config, _ = known_config()
    return ask(record, lambda connection: read_status_by_config(connection, now(), config))


def latest(record: RecordSource, cohort: CohortLine) -> tuple[datetime, datetime | None]:
    """Return the newest instant of the record, and when the next round is due if the clock decides that."""
    next_round = None
    if cohort.stamp == "live":
        next_round = arena_status(record).calendar.next_round
    return read_cached(record, read_newest_instant, BEGINNING), next_round


class OfAgent(Protocol):
    """Facts about agents, by name."""

    @property
    def agent(self) -> str: ...


Known = TypeVar("Known", bound=OfAgent)


UNUSABLE = ("failed", "late", "malformed")
"""Statuses of turns without a usable answer."""


@dataclass(frozen=True, slots=True)
class FailedTurn:
    """A turn without a usable answer: its place, and the message of its last call or its rule."""

    cohort: int
    round: int
    agent: str
    at: datetime
    status: str
    code: str | None
    message: str | None


def read_failed_turns(
    connection: Connection, most: int, statuses: Sequence[str] = ("failed",), cohort: int | None = None
) -> list[FailedTurn]:
    """Return the newest turns of a cohort, or of all, that ended with these statuses, up to a limit."""
    last_call = (
        select(func.max(CallRow.id))
        .where(CallRow.round_id == TurnRow.round_id, CallRow.entrant_id == TurnRow.entrant_id)
        .correlate(TurnRow.__table__)
        .scalar_subquery()
    )
    message = func.coalesce(CallRow.error_message, TurnRow.note)
    query = (
        select_fields(FailedTurn, TurnRow, **PLACE, code=CallRow.error_code, message=message)
        .select_from(joined(TurnRow, EntrantRow, RoundRow, CohortRow))
        .outerjoin(CallRow, CallRow.id == last_call)
        .order_by(col(TurnRow.id).desc())
        .limit(most)
    )
    if cohort is not None:
        query = query.where(CohortRow.number == cohort)
    turns = list[FailedTurn]()
    for status in statuses:
        turns += read_objects(FailedTurn, connection.execute(query.where(TurnRow.status == status)))
    return sorted(turns, key=lambda turn: turn.at, reverse=True)[:most]


def by_agent(items: Iterable[Known]) -> dict[str, Known]:
    """Return facts about agents, by name."""
    return {item.agent: item for item in items}


def leaderboard_lines(
    board: Leaderboard,
    figures: CacheEntry[tuple[ProfileFigures, ...]] | None = None,
    verdict: Verdict | None = None,
) -> tuple[LeaderboardLine, ...]:
    """Return the rows of a leaderboard with the other facts about each agent.

    `verdict` is that of the whole record, which may also be on questions that the board leaves out; the rows
    follow its order or, until enough has resolved for ranks, that of profit.
    """
    briefs = by_agent(figures.value if figures else ())
    metaculus = by_agent(board.metaculus)
    shown_verdict = verdict or board.verdict
    verdicts = by_agent(shown_verdict.agents if shown_verdict else ())

    lines = []
    for row in board.rows:
        name = row.agent
        lines.append(LeaderboardLine(row, briefs.get(name), metaculus.get(name), verdicts.get(name)))
    if verdict is not None:
        places = {name: place for place, name in enumerate(verdicts)}
        lines.sort(key=lambda line: places.get(line.row.agent, len(places)))
    if is_early(row.events for row in board.rows):
        lines.sort(key=lambda line: profit_order(line.row.agent, line.row.pnl, line.row.is_reference))
    return tuple(lines)


Lines = Sequence[LeaderboardLine]
"""The lines of a board, in its order."""


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
    """Return the leaderboard of all cohorts, or of one."""
    board = LEADERBOARD.read(connection, cohort)
    if board is None:
        return LeaderboardPage(None, (), tuple(read_account_equity(connection, cohort)))
    if cohort is not None:
        return LeaderboardPage(board, leaderboard_lines(board.value), ())
    figures = FIGURES.read(connection)
    lines = leaderboard_lines(board.value, figures, read_verdict(connection))
    if figures is None:
        return LeaderboardPage(board, lines, ())
    made_at = min(board.made_at, figures.made_at)
    board = replace(board, made_at=made_at, is_current=board.is_current and figures.is_current)
    return LeaderboardPage(board, lines, ())


def read_verdict(connection: Connection) -> Verdict | None:
    """Return the verdict of the whole record as it was computed last, or None before there is one.

    It is that of all kinds of questions where there are others than of yes or no.
    """
    all_kinds = ALL_KINDS.read(connection)
    if all_kinds is not None:
        return all_kinds.value.report.verdict
    board = LEADERBOARD.read(connection)
    if board is None:
        return None
    return board.value.verdict


@cached()
def by_leaderboard(record: RecordSource) -> tuple[str, ...]:
    """Return the names of all agents; those that stand on no board yet come last, in line-up order."""
    kinds = season(record).kinds
    ordered_names = list(kinds)
    board = ask(record, LEADERBOARD.read)
    if board is not None:
        ordered_names = [*(row.agent for row in board.value.rows if row.agent in kinds), *ordered_names]
    return tuple(sorted(dict.fromkeys(ordered_names), key=lambda name: kinds[name] != "llm"))


@dataclass(frozen=True, slots=True)
class AccountSpan:
    """The time within which an entrant's account was valued."""

    entrant_id: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class EntrantEquity:
    """The worth of an entrant's account at a mark, in millionths: cash with open positions at mid."""

    entrant_id: int
    at: datetime
    total: int


OWN_MARK = aliased(MarkRow, name="own")


def read_account_spans(connection: Connection, entrant_ids: Collection[int]) -> list[AccountSpan]:
    """Return the time within which each of these accounts was valued, without those never valued."""
    is_own = OWN_MARK.entrant_id == EntrantRow.id
    first_at = select(func.min(OWN_MARK.at)).where(is_own).scalar_subquery()
    last_at = select(func.max(OWN_MARK.at)).where(is_own).scalar_subquery()
    query = (
        select_as(entrant_id=EntrantRow.id, first_at=first_at, last_at=last_at)
        .where(col(EntrantRow.id).in_(entrant_ids), first_at.is_not(None))
        .order_by(EntrantRow.id)
    )
    return read_objects(AccountSpan, connection.execute(query))


def read_equity_at(connection: Connection, wanted: Sequence[tuple[int, datetime]]) -> list[EntrantEquity]:
    """Return each entrant's worth at each instant by the newest mark until then, if there is one."""
    asked = keyed_instants(connection.dialect.name, BigInt)
    newest = select(func.max(OWN_MARK.at)).where(
        OWN_MARK.entrant_id == asked.c.key, OWN_MARK.at <= asked.c.at
    )
    is_newest = MarkRow.at == newest.correlate(asked).scalar_subquery()
    query = select_fields(EntrantEquity, MarkRow, total=MarkRow.cash + MarkRow.value).select_from(
        asked.join(MarkRow, clause(MarkRow.entrant_id == asked.c.key) & clause(is_newest))
    )
    return read_objects(
        EntrantEquity, connection.execute(query, keyed_instants_parameter(connection, wanted))
    )


INSTANTS = 200
"""The most instants of its whole life at which an agent's curve is read."""
MARKED_AT = attrgetter("at")


def read_summed_curves(
    connection: Connection, names: Collection[str], instants: int = INSTANTS
) -> dict[str, tuple[PnlPoint, ...]]:
    """Return the profit of each agent's accounts together, each account by its newest mark until then."""
    owners = {}
    given = {}
    for stored in read_cohorts(connection):
        for name in names:
            entrant_id = stored.entrant_ids.get(name)
            if entrant_id is not None:
                owners[entrant_id] = name
                given[entrant_id] = stored.cohort.bankroll

    worth: dict[str, list[EntrantEquity]] = {name: [] for name in names}
    spans = read_account_spans(connection, list(owners))
    for equity in read_equity_at(connection, list(_account_instants(spans, instants))):
        worth[owners[equity.entrant_id]].append(equity)
    return {name: _summed_profit_curve(name, mine, given) for name, mine in worth.items()}


def _account_instants(spans: Sequence[AccountSpan], instant_count: int) -> Iterator[tuple[int, datetime]]:
    """Yield evenly spaced instants of the whole time, for each account those at which it was open."""
    if not spans:
        return
    first = min(span.first_at for span in spans)
    step = (max(span.last_at for span in spans) - first) / (instant_count - 1)
    shared_instants = [first + step * number for number in range(instant_count - 1)]
    for span in spans:
        for at in shared_instants[
            bisect_left(shared_instants, span.first_at) : bisect_right(shared_instants, span.last_at)
        ]:
            yield span.entrant_id, at
        yield span.entrant_id, span.last_at


def _summed_profit_curve(
    name: str, equities: Iterable[EntrantEquity], bankroll_of: Mapping[int, int]
) -> tuple[PnlPoint, ...]:
    """Return the summed profit of all accounts, at the instants at which one of them was marked."""
    last_gain_of: dict[int, int] = {}
    points = []
    total_gain = 0
    total_bankroll = 0
    for at, marks in groupby(sorted(equities, key=MARKED_AT), MARKED_AT):
        for mark in marks:
            account = mark.entrant_id
            bankroll = bankroll_of[account]
            if account not in last_gain_of:
                total_bankroll += bankroll
            gain = mark.total - bankroll
            total_gain += gain - last_gain_of.get(account, 0)
            last_gain_of[account] = gain
        points.append(PnlPoint(name, at, total_gain / ONE, 100 * total_gain / total_bankroll))
    return tuple(points)


SOON = "This page shows it as soon as it is there."


def cache_note(entry: CacheEntry[Any] | None, what: str = "Skill, intervals and calibration") -> str:
    """Say since when figures hold, if they are not up to date."""
    if entry is None:
        return f"{what} are being computed. {SOON}"
    if entry.is_current:
        return ""
    newer = "newer results are being computed and appear here by themselves"
    return f"Figures of {moment(entry.made_at)}; {newer}."


MarketStatus = Literal["open", "waiting", "resolved"]
MarketOrder = Literal["shown", "closes", "volume", "apart"]

PAGE_ROWS = 50
"""Rows of a page."""

WEIGHED = 250
COMPARED = 100
"""The newest markets, among which the most traded, first to close and most disputed are found."""

PRICES_DRAWN = 20
PRICES_BACK = timedelta(days=30)
"""Instants at which a sparkline reads the price, and the time that it covers."""


@dataclass(frozen=True, slots=True)
class ForecastSpread:
    """The lowest, median and highest probability that agents gave a market, in millionths."""

    agents: int
    low: int
    median: int
    high: int


@dataclass(frozen=True, slots=True)
class MarketInterest:
    """The trades of a market, and its open lots, one for each agent and cohort."""

    trades: int
    held: int


def was_any_shown(connection: Connection) -> bool:
    """Return whether any round has shown agents a market."""
    shown = select(SnapshotItemRow.market_id).where(SnapshotItemRow.shown == 1)
    return connection.scalar(shown.limit(1)) is not None


def read_forecast_spreads(
    connection: Connection, newest_rounds: Mapping[MarketId, ShowingRound], left_out_kinds: Collection[str]
) -> dict[MarketId, ForecastSpread]:
    """Return the range of agents' probabilities in the newest round of each market, without some kinds."""
    rounds = {newest_round.round_id for newest_round in newest_rounds.values()} - read_hidden_rounds(
        connection
    )
    query = (
        select(ForecastRow.market_id, TurnRow.round_id, ForecastRow.probability)
        .select_from(joined(TurnRow, EntrantRow, ForecastRow))
        .where(col(TurnRow.round_id).in_(rounds), col(TurnRow.status).in_(USABLE_STATUSES))
        .where(col(ForecastRow.market_id).in_(newest_rounds), ForecastRow.stage == "final")
        .where(col(EntrantRow.kind).not_in(sorted(left_out_kinds)))
    )
    stated: dict[MarketId, list[int]] = defaultdict(list)
    for market, round_id, probability in connection.execute(query):
        newest_round = newest_rounds.get(MarketId(market))
        if newest_round is not None and newest_round.round_id == round_id:
            stated[MarketId(market)].append(probability)

    spreads = {}
    for market_id, all_stated in stated.items():
        middle = round(median(all_stated))
        spreads[market_id] = ForecastSpread(len(all_stated), min(all_stated), middle, max(all_stated))
    return spreads


def read_market_interest(connection: Connection, ids: Sequence[str]) -> dict[MarketId, MarketInterest]:
    """Return the trades of these markets, and their open lots."""
    is_trade = case((col(EntryRow.kind).in_(("buy", "sell")), 1), else_=0)
    lots = (
        select(
            EntryRow.market_id,
            func.sum(EntryRow.shares).label("shares"),
            func.sum(is_trade).label("trades"),
        )
        .join_from(MarketRow, EntryRow, EntryRow.market_id == MarketRow.id)
        .where(is_in_markets(connection.dialect.name))
        .group_by(EntryRow.market_id, EntryRow.entrant_id, EntryRow.side)
        .subquery()
    )
    held = total(case((lots.c.shares > 0, 1), else_=0))
    query = select(lots.c.market_id, total(lots.c.trades), held).group_by(lots.c.market_id)

    interest = {}
    for market, trades, lots_held in connection.execute(query, markets_parameter(connection, ids)):
        interest[MarketId(market)] = MarketInterest(trades, lots_held)
    return interest


def read_price_lines(
    connection: Connection, ends: Mapping[MarketId, datetime], back: timedelta, most: int
) -> dict[MarketId, list[int]]:
    """Return the known prices of each market at evenly spaced instants before its end, oldest first."""
    pairs = []
    for market, end in ends.items():
        pairs += [(market, end - back * place / (most - 1)) for place in range(most)]

    asked = keyed_instants(connection.dialect.name, Text)
    quote = aliased(QuoteRow, name="one")
    newest = (
        select(func.coalesce(quote.mid, quote.last))
        .where(quote.market_id == asked.c.key, quote.at <= asked.c.at)
        .order_by(col(quote.at).desc(), col(quote.id).desc())
        .limit(1)
    )
    query = select(asked.c.key, asked.c.at, newest.correlate(asked).scalar_subquery())
    prices: dict[MarketId, dict[datetime, int]] = defaultdict(dict)
    for key, at, price in connection.execute(query, keyed_instants_parameter(connection, pairs)):
        if price is not None:
            prices[MarketId(key)][at] = price
    return {market: [line[at] for at in sorted(line)] for market, line in prices.items()}


def read_event_questions(connection: Connection, event_ids: Sequence[str]) -> dict[str, str]:
    """Return the question of the first market seen of each event, as the subject of the event."""
    # The newest come first, so that in the dict the oldest of each event is the last, and stays.
    query = select(MarketVersionRow.event_id, MarketVersionRow.question).order_by(
        col(MarketVersionRow.id).desc()
    )
    questions: dict[str, str] = {}
    for batch in batches(event_ids):
        rows = connection.execute(query.where(col(MarketVersionRow.event_id).in_(batch)))
        questions.update(dict(rows.all()))
    return questions


@dataclass(frozen=True, slots=True)
class MarketFilter:
    """A filter of the list: `status` is one of `MarketStatus` or empty; `page` counts from 1."""

    search: str = ""
    status: str = ""
    category: str = ""
    event: str = ""
    order: MarketOrder = "shown"
    page: int = 1


@dataclass(frozen=True, slots=True)
class FilterMenu:
    """The options of the list; `about` is the question of a market of the event, if one is named.

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
    interest: MarketInterest
    spread: ForecastSpread | None
    prices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MarketList:
    """A page of a list, and the number of markets on all its pages.

    If it is `whole` those are all that are as asked for; else the newest of them. `more` follow on a page.
    """

    lines: tuple[MarketLine, ...]
    markets: int
    whole: bool
    more: bool = False


@dataclass(frozen=True, slots=True)
class MarketMatch:
    """A market that passes the filter."""

    market: ListedMarket
    status: MarketStatus
    shown: ShowingRound


Quotes = Mapping[str, Any]
Matches = Mapping[MarketId, MarketMatch]


def read_menu(connection: Connection, event: str) -> FilterMenu:
    """Return the filters that there are beside the search."""
    market_count = None
    current_counts = CATEGORIES.read_current(connection)
    if current_counts is not None:
        market_count = sum(number for _, number in current_counts)

    categories: tuple[str, ...] = ()
    cached_counts = CATEGORIES.read(connection)
    if cached_counts is not None:
        categories = tuple(name for name, _ in cached_counts.value if name)

    event_question = None
    if event:
        event_question = read_event_questions(connection, [event]).get(event)
    return FilterMenu(not was_any_shown(connection), market_count, categories, event_question)


def read_market_list(connection: Connection, asked: MarketFilter) -> MarketList:
    """Return the markets that pass the filter, the first of them with all their figures."""
    page_end = PAGE_ROWS * asked.page
    wanted_matches = max(ENOUGH.get(asked.order, 0), page_end)
    matching, is_all = _find_matches(connection, asked, wanted_matches)

    sort_ids = SORTED.get(asked.order)
    sorted_ids = sort_ids(connection, matching) if sort_ids else list(matching)
    shown = [matching[market_id] for market_id in sorted_ids[page_end - PAGE_ROWS : page_end]]
    has_next_page = len(sorted_ids) > page_end or (sort_ids is None and not is_all)
    return MarketList(tuple(market_lines(connection, shown)), len(sorted_ids), is_all, has_next_page)


def _find_matches(
    connection: Connection, asked: MarketFilter, wanted_matches: int
) -> tuple[dict[MarketId, MarketMatch], bool]:
    """Return the markets that pass the filter, those shown last first, and whether that is all."""
    now = read_newest_instant(connection, BEGINNING)
    matching: dict[MarketId, MarketMatch] = {}
    for shown in read_last_shown(connection):
        for market in read_listed_markets(connection, list(shown)):
            match = MarketMatch(market, _market_status(market, now), shown[market.id])
            if _matches(match, asked):
                matching[market.id] = match
        if len(matching) > wanted_matches:
            return dict(list(matching.items())[:wanted_matches]), False
    return matching, True


def _market_status(market: ListedMarket, now: datetime) -> MarketStatus:
    """Return the status of a market at an instant."""
    if market.ended:
        return "resolved"
    if market.closes_at <= now:
        return "waiting"
    return "open"


def _matches(match: MarketMatch, asked: MarketFilter) -> bool:
    """Tell whether a market passes the filter."""
    market = match.market
    if asked.status not in ("", match.status):
        return False
    if asked.category not in ("", market.category):
        return False
    if asked.event not in ("", market.event_id):
        return False

    question = market.question.casefold()
    return all(word in question for word in asked.search.casefold().split())


def _by_closing(_: Connection, matching: Matches) -> list[MarketId]:
    """Return markets, the first to close first."""
    return sorted(matching, key=lambda market_id: (matching[market_id].market.closes_at, market_id))


def _by_volume(connection: Connection, matching: Matches) -> list[MarketId]:
    """Return markets, the most traded first."""
    quotes = _read_quotes(connection, list(matching))
    volumes = {market_id: quote.volume for market_id, quote in quotes.items() if quote.volume is not None}
    return sorted(matching, key=lambda market_id: (-volumes.get(market_id, -1), market_id))


def _by_spread(connection: Connection, matching: Matches) -> list[MarketId]:
    """Return the markets that several agents have forecast, those they disagree on most first."""
    apart = {}
    for market_id, spread in _read_match_spreads(connection, matching.values()).items():
        if spread.agents > 1:
            apart[market_id] = spread.high - spread.low
    return sorted(apart, key=lambda market_id: (-apart[market_id], market_id))


def _read_match_spreads(
    connection: Connection, matches: Iterable[MarketMatch]
) -> Mapping[MarketId, ForecastSpread]:
    """Return the agents' disagreement on markets, without agents that hold no opinion."""
    return read_forecast_spreads(connection, {match.market.id: match.shown for match in matches}, NULLS)


ENOUGH: Mapping[MarketOrder, int] = {"closes": WEIGHED, "volume": WEIGHED, "apart": COMPARED}
"""Markets, those shown last, among which an order is made."""
SORTED: Mapping[MarketOrder, Callable[[Connection, Matches], list[MarketId]]] = {
    "closes": _by_closing,
    "volume": _by_volume,
    "apart": _by_spread,
}
"""Orders other than the one in which markets are found."""


def all_markets(connection: Connection) -> list[MarketMatch]:
    """Return every market that was shown, those shown last first."""
    matching, _ = _find_matches(connection, MarketFilter(), sys.maxsize)
    return list(matching.values())


def market_lines(connection: Connection, chosen: Sequence[MarketMatch]) -> list[MarketLine]:
    """Return these markets with all their figures."""
    now = read_newest_instant(connection, BEGINNING)
    ends = {}
    for match in chosen:
        ends[match.market.id] = min(match.market.closes_at, now)
    ids = list(ends)
    quotes = _read_quotes(connection, ids)
    interest = read_market_interest(connection, ids)
    spreads = _read_match_spreads(connection, chosen)
    prices = read_price_lines(connection, ends, PRICES_BACK, PRICES_DRAWN)

    lines = []
    for match in chosen:
        market_id = match.market.id
        quote = quotes.get(market_id)
        lines.append(
            MarketLine(
                match.market,
                match.status,
                quote_price(quote),
                quote and quote.volume,
                interest.get(market_id, MarketInterest(0, 0)),
                spreads.get(market_id),
                tuple(prices.get(market_id, ())),
            )
        )
    return lines


def _read_quotes(connection: Connection, ids: Sequence[MarketId]) -> Quotes:
    """Return the newest quotes of markets."""
    return newest_rows(connection, QuoteRow, ids, "at", "mid", "last", "volume")


def quote_price(quote: Any) -> int | None:
    """Return the mid or, where there is none, the price of the last trade."""
    if quote is None:
        return None
    price: int | None = quote.mid
    if price is None:
        price = quote.last
    return price
