"""Cohorts, rounds, snapshots, turns and calls, each read in a few queries.

Also the cohorts and the agent that a command is about. Where there are none such, the error names those that
there are.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, Result, Row, bindparam, case, exists, func

from agents.model import USABLE_STATUSES, Call, CallError, Forecast, Message, Prompt
from arena.errors import ArenaError, did_you_mean
from arena.record.model.benchmark import FORECASTBENCH
from arena.record.model.cohort import (
    BENCHMARK,
    MIN_COVERAGE,
    REFUSED_CODES,
    Cohort,
    UnansweredTurn,
    server_of,
)
from arena.record.schema.codec import cohort_of
from arena.record.schema.cohort import (
    CohortRow,
    EntrantRow,
    PromptRow,
    ReplacementRow,
    RoundRow,
    SnapshotItemRow,
    SnapshotRow,
)
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.newest import NEWEST_TIME, PLAYED_SETTINGS
from arena.record.schema.statements import attributes_of
from arena.record.schema.turn import CallRow, ForecastRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    AnySelect,
    clause,
    col,
    column_of,
    columns_of,
    count_rows,
    joined,
    read_objects,
    read_objects_by_key,
    select,
    select_as,
)
from arena.record.schema.work import ClaimRow
from arena.record.schema.world import MarketRow, MarketVersionRow, QuoteRow, ResolutionRow
from arena.record.write.listings import PAGE_FIELDS, QUOTE_FIELDS, quote_of
from markets.millionths import ONE
from markets.model import BY_HAND, Listing, Market, MarketId, Quote, Resolution, Snapshot

COHORT_ID: BindParameter[int] = bindparam("cohort_id")
ROUND_ID: BindParameter[int] = bindparam("round_id")
SNAPSHOT_ID: BindParameter[int] = bindparam("snapshot_id")
AT: BindParameter[datetime] = bindparam("at")

PLACE: dict[str, Any] = {
    "cohort": CohortRow.number,
    "round": RoundRow.number,
    "agent": EntrantRow.name,
    "kind": EntrantRow.kind,
    "at": RoundRow.at,
}
"""The columns that say where a turn belongs, by the names of the fields for them."""

IS_TRADING = ~col(CohortRow.frozen).contains(f'"stamp":"{BENCHMARK}"')
"""The condition that a cohort plays for money. One that answers a benchmark is in no figure of the arena."""


IS_ASKED_FOR = CohortRow.number == bindparam("cohort")


def read_of_cohorts(
    connection: Connection, query: AnySelect, cohort: int | None, **values: Any
) -> Result[*tuple[Any, ...]]:
    """Return the rows of a query, a constant, for the cohort of a number, or for all that trade."""
    if cohort is None:
        return connection.execute(_of_trading_cohorts(query), values)
    return connection.execute(_of_one_cohort(query), values | {"cohort": cohort})


@cache
def _of_trading_cohorts(query: AnySelect) -> AnySelect:
    """Return a query for all cohorts that trade."""
    return query.where(IS_TRADING)


@cache
def _of_one_cohort(query: AnySelect) -> AnySelect:
    """Return a query for the cohort that is asked for."""
    return query.where(IS_ASKED_FOR)


LineUps = dict[int, dict[str, int]]
"""The ids of each cohort's entrants, by name and in line-up order."""


@dataclass(frozen=True, slots=True)
class StoredCohort:
    """A cohort with the ids of its rows, and what became of it."""

    id: int
    cohort: Cohort
    entrant_ids: dict[str, int]
    ended_at: datetime | None
    paused_at: datetime | None = None
    stopped_at: datetime | None = None
    corrected_at: datetime | None = None
    """When the last correction was paid after it had ended."""


@dataclass(frozen=True, slots=True)
class StoredRound:
    """A round with the ids of its rows."""

    id: int
    number: int
    at: datetime
    snapshot_id: int
    done: bool


def item_of(market: Any) -> ColumnElement[bool]:
    """Return the condition that a row of a round's snapshot is about a market."""
    of_snapshot = SnapshotItemRow.snapshot_id == RoundRow.snapshot_id
    return clause(of_snapshot) & clause(SnapshotItemRow.market_id == market)


@dataclass(frozen=True, slots=True)
class HiddenPeriods:
    """How many first rounds each cohort hides, by its number; of cohorts that hide any.

    `ids` are the rounds whose forecasts nobody may see yet.
    """

    counts: Mapping[int, int]
    ids: frozenset[int]


HIDING_COHORTS = select(CohortRow.__table__).where(col(CohortRow.frozen).contains('"hidden":'))


def read_hiding(connection: Connection) -> HiddenPeriods:
    """Return which rounds are hidden.

    A cohort's hidden period is over when a later round of it has begun, or it has ended or was stopped.
    """
    hidden_counts = {}
    hidden_ids = set[int]()
    for row in connection.execute(HIDING_COHORTS).all():
        cohort = cohort_of(row.frozen)
        if not cohort.hidden:
            continue

        hidden_counts[cohort.number] = cohort.hidden
        rounds = read_rounds(connection, row.id)
        all_hide = all(cohort.hides(begun.number) for begun in rounds)
        if all_hide and not row.ended_at and not row.stopped_at:
            hidden_ids.update(begun.id for begun in rounds)
    return HiddenPeriods(hidden_counts, frozenset(hidden_ids))


def read_hidden_rounds(connection: Connection) -> frozenset[int]:
    """Return the ids of the rounds whose forecasts nobody may see yet."""
    return read_hiding(connection).ids


NEWEST_FROZEN = select(CohortRow.frozen).where(IS_TRADING).order_by(col(CohortRow.number).desc()).limit(1)


def read_min_coverage(connection: Connection, cohort: int | None = None) -> float:
    """Return how much agents must have forecast to be ranked, from 0 to 1, by one cohort or the newest."""
    text = read_of_cohorts(connection, NEWEST_FROZEN, cohort).scalar()
    frozen = json.loads(text or "{}")
    return float(frozen.get("min_coverage", MIN_COVERAGE) / ONE)


LINE_UPS = (
    select(EntrantRow.cohort_id, EntrantRow.name, EntrantRow.id)
    .where(col(EntrantRow.cohort_id).in_(IDS))
    .order_by(EntrantRow.cohort_id, EntrantRow.position)
)
CORRECTED_AT = select(func.max(SnapshotRow.at)).where(
    SnapshotRow.cohort_id == CohortRow.id, column_of(SnapshotRow.at) > column_of(CohortRow.ended_at)
)
ALL_COHORTS = select(
    CohortRow.id,
    CohortRow.frozen,
    CohortRow.ended_at,
    CohortRow.paused_at,
    CohortRow.stopped_at,
    CORRECTED_AT.scalar_subquery().label("corrected_at"),
).order_by(CohortRow.number)
COHORTS = ALL_COHORTS.where(IS_TRADING)
OPEN_COHORTS = COHORTS.where(col(CohortRow.ended_at).is_(None))
REPLACEMENTS = (
    select(
        EntrantRow.cohort_id,
        EntrantRow.name,
        ReplacementRow.round,
        ReplacementRow.settings,
        ReplacementRow.prompts,
    )
    .from_joined(EntrantRow, ReplacementRow)
    .order_by(ReplacementRow.round)
)


def read_cohorts(
    connection: Connection, line_ups: LineUps | None = None, only_open: bool = False, trading: bool = True
) -> list[StoredCohort]:
    """Return all cohorts as they are played now, oldest first; benchmark cohorts only if not `trading`.

    Line-ups never change: those that are missing in `line_ups` are read and put there.
    """
    query = COHORTS if trading else ALL_COHORTS
    rows = connection.execute(OPEN_COHORTS if only_open else query).all()

    cached: LineUps = {} if line_ups is None else line_ups
    uncached_ids = [row.id for row in rows if row.id not in cached]
    if uncached_ids:
        for cohort_id, name, entrant_id in connection.execute(LINE_UPS, {"ids": uncached_ids}).all():
            cached.setdefault(cohort_id, {})[name] = entrant_id

    replacements = _read_replacements(connection)
    cohorts = []
    for row in rows:
        cohort = _as_played(cohort_of(row.frozen), replacements[row.id])
        times = attributes_of(row, "ended_at", "paused_at", "stopped_at", "corrected_at")
        cohorts.append(StoredCohort(row.id, cohort, cached[row.id], **times))
    return cohorts


def _read_replacements(connection: Connection) -> dict[int, dict[str, dict[str, Any]]]:
    """Return the replaced settings of agents, by the id of the cohort and the agent."""
    replacements: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    for cohort_id, name, since, settings, prompts in connection.execute(REPLACEMENTS):
        replacement = {"since": since, "settings": json.loads(settings), "prompts": json.loads(prompts)}
        replacements[cohort_id][name] = replacement
    return replacements


def _as_played(cohort: Cohort, replacements: Mapping[str, Mapping[str, Any]]) -> Cohort:
    """Return a cohort with the settings that replaced those which its agents froze."""
    if not replacements:
        return cohort

    entrants = [replace(entrant, **replacements.get(entrant.name, {})) for entrant in cohort.entrants]
    return replace(cohort, entrants=tuple(entrants))


PROVEN_STATUSES = frozenset[str]((*USABLE_STATUSES, "out"))
"""How turns end that show an agent's settings to work; who is out once had such a turn."""


SEEN_STATUSES = (
    select(EntrantRow.name, TurnRow.status)
    .distinct()
    .from_joined(RoundRow, TurnRow, EntrantRow)
    .where(RoundRow.cohort_id == COHORT_ID)
)


def read_unproven(connection: Connection, cohort_id: int, include_waiting: bool = True) -> set[str]:
    """Return the agents of a cohort that had turns, but no good one.

    Those that have only waited for a key are left out unless `include_waiting`.
    """
    statuses: dict[str, set[str]] = defaultdict(set)
    for name, status in connection.execute(SEEN_STATUSES, {"cohort_id": cohort_id}):
        statuses[name].add(status)

    unproven = set[str]()
    for name, own_statuses in statuses.items():
        only_waited = own_statuses == {"waiting"}
        if own_statuses.isdisjoint(PROVEN_STATUSES) and (include_waiting or not only_waited):
            unproven.add(name)
    return unproven


PROMPTS = select(PromptRow.hash, PromptRow.text).where(col(PromptRow.hash).in_(IDS))


def read_prompts(connection: Connection, hashes: Collection[str]) -> dict[str, str]:
    """Return the texts of prompts by their hashes."""
    return dict(connection.execute(PROMPTS, {"ids": hashes}).all())


ROUND_COLUMNS = (
    RoundRow.id,
    RoundRow.number,
    RoundRow.at,
    RoundRow.snapshot_id,
    clause(RoundRow.done == 1).label("done"),
)
ROUNDS = select(*ROUND_COLUMNS).where(RoundRow.cohort_id == COHORT_ID).order_by(RoundRow.number)


def read_rounds(connection: Connection, cohort_id: int) -> list[StoredRound]:
    """Return the rounds of a cohort that have begun."""
    return read_objects(StoredRound, connection.execute(ROUNDS, {"cohort_id": cohort_id}))


SNAPSHOT_LISTINGS = (
    select(
        SnapshotItemRow.market_id,
        SnapshotItemRow.shown,
        SnapshotItemRow.quote_id,
        SnapshotItemRow.quoted_at,
        *columns_of(MarketVersionRow, PAGE_FIELDS),
        *columns_of(QuoteRow, QUOTE_FIELDS),
    )
    .select_from(joined(SnapshotItemRow, MarketVersionRow).outerjoin(QuoteRow))
    .where(SnapshotItemRow.snapshot_id == SNAPSHOT_ID)
    .order_by(SnapshotItemRow.position)
)
OF_COHORT_AT = (SnapshotRow.cohort_id == COHORT_ID, SnapshotRow.at == AT)
SNAPSHOT_TIME = select(SnapshotRow.id, SnapshotRow.taken_at).where(*OF_COHORT_AT)


def _find_snapshot(connection: Connection, cohort_id: int, at: datetime) -> Row[int, datetime] | None:
    """Return the id of a cohort's snapshot of an instant, and when it was really taken."""
    return connection.execute(SNAPSHOT_TIME, {"cohort_id": cohort_id, "at": at}).one_or_none()


def read_snapshot(connection: Connection, cohort_id: int, at: datetime) -> tuple[int, Snapshot] | None:
    """Return the id and the snapshot of a cohort at an instant; None if there is none."""
    row = _find_snapshot(connection, cohort_id, at)
    if row is None:
        return None

    shown = list[Listing]()
    held = list[Listing]()
    for item in connection.execute(SNAPSHOT_LISTINGS, {"snapshot_id": row.id}):
        market = Market(MarketId(item.market_id), **attributes_of(item, *PAGE_FIELDS))
        quote = None if item.quote_id is None else quote_of(item, item.quoted_at)
        listings = shown if item.shown else held
        listings.append(Listing(market, quote))

    taken_at = None if row.taken_at == at else row.taken_at
    return row.id, Snapshot(at, tuple(shown), tuple(held), taken_at)


def read_taken_at(connection: Connection, cohort_id: int, at: datetime) -> datetime | None:
    """Return when a cohort's snapshot of an instant was really taken; None if there is none."""
    row = _find_snapshot(connection, cohort_id, at)
    return None if row is None else row.taken_at


SNAPSHOT_PRICES = (
    select(SnapshotItemRow.market_id, SnapshotItemRow.quote_id, SnapshotItemRow.quoted_at)
    .add_columns(QuoteRow.bid, QuoteRow.ask, QuoteRow.mid, QuoteRow.last)
    .select_from(SnapshotItemRow.__table__.outerjoin(QuoteRow))
    .where(SnapshotItemRow.snapshot_id == SNAPSHOT_ID)
    .order_by(col(SnapshotItemRow.position).desc())
)


def read_quotes(
    connection: Connection, cohort_id: int, at: datetime
) -> tuple[int, datetime, dict[MarketId, Quote | None]] | None:
    """Return a snapshot's id, when it was taken, and its prices without books and pages."""
    row = _find_snapshot(connection, cohort_id, at)
    if row is None:
        return None

    # The last item comes first: of a market that is listed twice, the first item counts.
    quotes = dict[MarketId, Quote | None]()
    for item in connection.execute(SNAPSHOT_PRICES, {"snapshot_id": row.id}):
        market = MarketId(item.market_id)
        quotes[market] = None
        if item.quote_id is not None:
            prices = attributes_of(item, "bid", "ask", "mid", "last")
            quotes[market] = Quote(market, item.quoted_at, **prices)
    return row.id, row.taken_at, quotes


COUNT_COHORTS = count_rows(CohortRow)


def next_cohort_number(connection: Connection) -> int:
    """Return the number of the cohort that starts next: all kinds are counted together."""
    count = connection.scalar(COUNT_COHORTS)
    return int(count or 0) + 1


NEWEST_TRADING_TIME = NEWEST_TIME.where(IS_TRADING)
NEWEST_OF_COHORT = select(func.max(SnapshotRow.at)).where(SnapshotRow.cohort_id == COHORT_ID)


def read_newest_time(connection: Connection, cohort_id: int | None = None) -> datetime | None:
    """Return the time of the newest snapshot, of one cohort or of all that trade."""
    newest: datetime | None
    if cohort_id is None:
        newest = connection.scalar(NEWEST_TRADING_TIME)
    else:
        newest = connection.scalar(NEWEST_OF_COHORT, {"cohort_id": cohort_id})
    return newest


DECIDED_VERSION = case((col(ResolutionRow.source).startswith(BY_HAND), ResolutionRow.version), else_=0)
SAID_LAST = (
    select(ResolutionRow.market_id)
    .group_by(ResolutionRow.market_id)
    .having(func.max(ResolutionRow.learnt_at) < bindparam("since"))
    .having(func.max(DECIDED_VERSION) < func.max(ResolutionRow.version))
)
"""Markets of whose end nothing was learnt for long. What a person decided is asked about on and on."""
UNRESOLVED_MARKETS = (
    select(MarketRow.id)
    .where(
        exists().where(clause(SnapshotItemRow.market_id == MarketRow.id)),
        ~col(MarketRow.id).startswith(f"{FORECASTBENCH}:"),
        col(MarketRow.id).not_in(SAID_LAST),
    )
    .order_by(MarketRow.id)
)


ASKED_WITHIN = timedelta(days=60)
"""How long a market that has closed or lost its price is asked about, if nobody says how it ended."""


def read_unresolved_markets(connection: Connection, since: datetime) -> list[MarketId]:
    """Return the markets of snapshots without a resolution, or with one learnt since an instant."""
    ids = connection.scalars(UNRESOLVED_MARKETS, {"since": since})
    return [MarketId(market) for market in ids]


FOLLOWED_MARKETS = UNRESOLVED_MARKETS.where(MarketRow.first_seen_at <= bindparam("since"))


def read_followed_markets(connection: Connection, at: datetime) -> list[MarketId]:
    """Return the markets of snapshots that were seen by an instant and had not ended before it."""
    return [MarketId(market) for market in connection.scalars(FOLLOWED_MARKETS, {"since": at})]


SHOWN_TO_TRADERS = (
    select(SnapshotItemRow.market_id)
    .select_from(joined(SnapshotItemRow, SnapshotRow, CohortRow))
    .where(IS_TRADING, SnapshotItemRow.shown == 1)
)
NEWEST_PAGES_OF_OPEN = (
    select(func.max(MarketVersionRow.id))
    .where(col(MarketVersionRow.market_id).in_(SHOWN_TO_TRADERS))
    .where(col(MarketVersionRow.market_id).not_in(select(ResolutionRow.market_id)))
    .group_by(MarketVersionRow.market_id)
)
COUNT_AWAITED_ENDS = count_rows(MarketVersionRow).where(
    col(MarketVersionRow.id).in_(NEWEST_PAGES_OF_OPEN), MarketVersionRow.closes_at > bindparam("since")
)


def count_awaited_ends(connection: Connection, since: datetime) -> int:
    """Return how many markets agents were shown whose end isn't known and that close after an instant."""
    return connection.scalar(COUNT_AWAITED_ENDS, {"since": since}) or 0


ENDED_BY_THEN = select(ResolutionRow.market_id).where(
    ResolutionRow.known_at <= AT, ResolutionRow.learnt_at <= AT
)
OPEN_QUESTIONS = (
    select(SnapshotItemRow.market_id)
    .select_from(joined(SnapshotItemRow, SnapshotRow))
    .where(SnapshotRow.cohort_id == COHORT_ID, SnapshotItemRow.shown == 1)
    .where(col(SnapshotItemRow.market_id).not_in(ENDED_BY_THEN))
    .limit(1)
)


def has_open_questions(connection: Connection, cohort_id: int, at: datetime) -> bool:
    """Tell whether a cohort was shown a market of which the arena did not know at an instant how it ended.

    A resolution may be dated back: what was learnt later does not count, whenever one asks.
    """
    return connection.scalar(OPEN_QUESTIONS, {"cohort_id": cohort_id, "at": at}) is not None


RESOLUTION_FIELDS = tuple(Resolution.__dataclass_fields__)
RESOLUTIONS = (
    select(*columns_of(ResolutionRow, RESOLUTION_FIELDS))
    .where(col(ResolutionRow.market_id).in_(IDS), ResolutionRow.known_at <= AT)
    .order_by(ResolutionRow.market_id, ResolutionRow.version)
)


def read_resolutions(connection: Connection, ids: Collection[MarketId], at: datetime) -> list[Resolution]:
    """Return every version of these markets' resolutions that was known at an instant."""
    return read_objects(Resolution, connection.execute(RESOLUTIONS, {"ids": ids, "at": at}))


LEARNT_RESOLUTIONS = RESOLUTIONS.add_columns(ResolutionRow.learnt_at)


def read_learnt_resolutions(
    connection: Connection, ids: Collection[MarketId], at: datetime
) -> list[tuple[Resolution, datetime]]:
    """Return the resolutions known at an instant, each with the decision time at which it was learnt."""
    learnt = []
    for row in connection.execute(LEARNT_RESOLUTIONS, {"ids": ids, "at": at}):
        resolution = Resolution(**attributes_of(row, *RESOLUTION_FIELDS))
        learnt.append((resolution, row.learnt_at))
    return learnt


TURN_STATUSES = select(TurnRow.entrant_id, TurnRow.status).where(TurnRow.round_id == ROUND_ID)


TURN_STATUSES_OF = TURN_STATUSES.where(col(TurnRow.entrant_id).in_(IDS))


def read_turn_statuses(
    connection: Connection, round_id: int, entrant_ids: Collection[int] | None = None
) -> dict[int, str]:
    """Return the statuses of a round's turns, of all entrants or of these, by entrant id."""
    if entrant_ids is None:
        return dict(connection.execute(TURN_STATUSES, {"round_id": round_id}).all())
    return dict(connection.execute(TURN_STATUSES_OF, {"round_id": round_id, "ids": entrant_ids}).all())


HELD_TURNS = select(ClaimRow.entrant_id).where(ClaimRow.round_id == ROUND_ID, col(ClaimRow.beat).is_not(None))


def read_held_turns(connection: Connection, round_id: int) -> set[int]:
    """Return the entrants of a round whose turns a process plays now, or died playing."""
    return set(connection.scalars(HELD_TURNS, {"round_id": round_id}))


FAILED_NOTES = select(TurnRow.entrant_id, TurnRow.note).where(
    TurnRow.round_id == ROUND_ID, TurnRow.status == "failed"
)
EXCLUDED = " failed"
"""What the note of a turn says of the agents without whose forecasts it could not be played."""


def read_retried_turns(connection: Connection, stored: StoredCohort, round_id: int) -> set[int]:
    """Return the entrants whose failed turns are not over, as another try of the round was broken off.

    A process tries such a turn again now, or died trying, and may have paid; or the agents without which the
    turn could not be played have played by now.
    """
    failed_notes = dict(connection.execute(FAILED_NOTES, {"round_id": round_id}).all())
    retried = read_held_turns(connection, round_id) & failed_notes.keys()
    for entrant_id, note in failed_notes.items():
        if not note.endswith(EXCLUDED):
            continue

        # Another text may end so too. A word in it that is no agent's name stands for this agent, which has
        # failed, so that the turn is not taken for one that can be played now.
        excluded_names = note.removesuffix(EXCLUDED).split(", ")
        excluded_ids = {stored.entrant_ids.get(name, entrant_id) for name in excluded_names}
        if excluded_ids.isdisjoint(failed_notes):
            retried.add(entrant_id)
    return retried


FORECAST_COLUMNS = (
    ForecastRow.market_id,
    col(ForecastRow.probability).label("millionths"),
    ForecastRow.stage,
    ForecastRow.reason,
    ForecastRow.distribution,
)
FINAL_FORECASTS = (
    select(EntrantRow.name, *FORECAST_COLUMNS)
    .from_joined(TurnRow, EntrantRow, ForecastRow)
    .where(TurnRow.round_id == ROUND_ID, col(EntrantRow.name).in_(IDS), ForecastRow.stage == "final")
    .order_by(EntrantRow.position, ForecastRow.market_id)
)


def read_final_forecasts(
    connection: Connection, round_id: int, agents: Sequence[str]
) -> dict[str, tuple[Forecast, ...]]:
    """Return the final forecasts of these agents, as far as their turns are in."""
    if not agents:
        return {}

    rows = connection.execute(FINAL_FORECASTS, {"round_id": round_id, "ids": agents})
    forecasts = read_objects_by_key(Forecast, rows)
    return {name: tuple(own) for name, own in forecasts.items()}


NOT_AS_IT_IS = ("prompt", "error", "citations", "usage_doubt")
"""Fields of a call that its row has in another form, or not at all."""
CALL_FIELDS = [name for name in Call.__dataclass_fields__ if name not in NOT_AS_IT_IS]
CALLS = (
    select(CallRow.__table__)
    .where(CallRow.round_id == ROUND_ID, col(CallRow.entrant_id).in_(IDS))
    .order_by(CallRow.entrant_id, CallRow.stage, CallRow.sample, CallRow.attempt)
)
OF_TURNS = CALLS.where(CallRow.stage != "judge")
OF_JUDGE = (
    select(CallRow.__table__)
    .where(CallRow.round_id == ROUND_ID, CallRow.stage == "judge")
    .order_by(CallRow.entrant_id, CallRow.sample, CallRow.attempt)
)


def read_calls(connection: Connection, round_id: int, entrant_ids: Sequence[int]) -> dict[int, list[Call]]:
    """Return every call of entrants in the turns of a round, in order, by entrant id."""
    return _calls_by_entrant(connection.execute(OF_TURNS, {"round_id": round_id, "ids": entrant_ids}))


def read_judge_calls(connection: Connection, round_id: int) -> dict[int, list[Call]]:
    """Return every judge's call of a round, in order, by entrant id."""
    return _calls_by_entrant(connection.execute(OF_JUDGE, {"round_id": round_id}))


def _calls_by_entrant(rows: Iterable[Row[Any]]) -> dict[int, list[Call]]:
    """Return calls by entrant id from their rows."""
    calls: dict[int, list[Call]] = defaultdict(list)
    for row in rows:
        messages = tuple(Message(**message) for message in json.loads(row.messages))
        prompt = Prompt(messages, row.seed, row.stage, row.sample)

        error = None
        if row.error_code:
            error = CallError(row.error_code, row.error_message, bool(row.error_retry))

        citations = tuple(json.loads(row.citations))
        fields = attributes_of(row, *CALL_FIELDS)
        calls[row.entrant_id].append(Call(prompt, error=error, citations=citations, **fields))
    return calls


ANY_MARK = (
    select(MarkRow.at)
    .from_joined(MarkRow, SnapshotRow)
    .where(SnapshotRow.cohort_id == COHORT_ID, SnapshotRow.at == AT, MarkRow.at == AT)
    .limit(1)
)


def has_marks(connection: Connection, cohort_id: int, at: datetime) -> bool:
    """Tell whether a cohort's holdings were already marked at an instant."""
    return connection.scalar(ANY_MARK, {"cohort_id": cohort_id, "at": at}) is not None


IS_TURN_OF_CALL = (TurnRow.round_id == CallRow.round_id) & (TurnRow.entrant_id == CallRow.entrant_id)
FAILED_CALLS = (
    select_as(
        name=EntrantRow.name,
        stage=CallRow.stage,
        sample=CallRow.sample,
        prompt=CallRow.prompt_hash,
        code=CallRow.error_code,
        message=CallRow.error_message,
        retry=CallRow.error_retry,
        at=CallRow.made_at,
        settings=PLAYED_SETTINGS,
        address=EntrantRow.address,
    )
    .select_from(joined(CallRow, EntrantRow).join(TurnRow, clause(IS_TURN_OF_CALL)))
    .where(CallRow.round_id == ROUND_ID, TurnRow.status == "failed")
    .order_by(EntrantRow.position, CallRow.id)
)


def read_unanswered_turns(connection: Connection, round_id: int) -> list[UnansweredTurn]:
    """Return the failed turns of a round whose model gave no answer, in the order of the line-up.

    Of each question the last attempt counts; an agent that asks in parts has several of a stage. A turn that
    failed for another reason is left out: one that a budget stopped, say, or an agent's own code that broke.
    """
    first_failures: dict[str, datetime] = {}
    last_attempts: dict[tuple[str, str, int, str], Row[Any]] = {}
    for row in connection.execute(FAILED_CALLS, {"round_id": round_id}):
        if row.code is not None:
            first_failures.setdefault(row.name, row.at)
        last_attempts[row.name, row.stage, row.sample, row.prompt] = row

    unanswered: dict[str, UnansweredTurn] = {}
    for row in last_attempts.values():
        if row.code is None or not (row.retry or row.code in REFUSED_CODES):
            continue

        turn = UnansweredTurn(
            agent=row.name,
            code=row.code,
            message=row.message,
            passing=bool(row.retry),
            since=first_failures[row.name],
            server=server_of(json.loads(row.settings).get("model"), row.address),
        )
        # Of several failures the first that does not pass by itself counts, else the last.
        counted_turn = unanswered.get(row.name)
        if counted_turn is None or counted_turn.passing:
            unanswered[row.name] = turn
    return list(unanswered.values())


def count_facts(connection: Connection) -> dict[str, int]:
    """Return the counts of what was played."""
    shown_pages = col(MarketVersionRow.id).in_(select(SnapshotItemRow.version_id))
    queries = {
        "cohorts": count_rows(CohortRow),
        "rounds": count_rows(RoundRow),
        "turns": count_rows(TurnRow),
        "entries": count_rows(EntryRow),
        "calls": count_rows(CallRow),
        "decision_times": select(func.count(col(RoundRow.at).distinct())),
        "markets": select(func.count(col(SnapshotItemRow.market_id).distinct())),
        "events": select(func.count(col(MarketVersionRow.event_id).distinct())).where(shown_pages),
        "fills": select(func.count()).where(col(EntryRow.kind).in_(("buy", "sell"))),
        "settlements": select(func.count()).where(col(EntryRow.kind).in_(("settle", "refund"))),
    }
    return {name: connection.execute(query).scalar_one() for name, query in queries.items()}


def select_cohorts(cohorts: Sequence[StoredCohort], number: int | None) -> list[StoredCohort]:
    """Return the cohort of that number, or all without one. Raise `ArenaError` if there is none."""
    if number is None:
        return list(cohorts)

    selected = [stored for stored in cohorts if stored.cohort.number == number]
    if not selected:
        raise ArenaError("no_cohort", f"there is no cohort {number} here", f"cohorts: {_numbers_of(cohorts)}")
    return selected


def _numbers_of(cohorts: Sequence[StoredCohort]) -> str:
    return ", ".join(str(stored.cohort.number) for stored in cohorts) or "none yet"


def numbered_cohort(cohorts: Sequence[StoredCohort], number: str) -> StoredCohort:
    """Return the cohort with a typed number; raise `ArenaError` if there is none."""
    if not number.isdecimal():
        message = f"there is no cohort {number}; cohorts: {_numbers_of(cohorts)}"
        raise ArenaError("bad_cohort", message, "arena show cohorts shows them")
    (stored,) = select_cohorts(cohorts, int(number))
    return stored


def cohorts_of_agent(cohorts: Sequence[StoredCohort], agent: str | None) -> list[StoredCohort]:
    """Return the cohorts that an agent plays in, or all without one. Raise `ArenaError` if there is none."""
    if agent is None:
        return list(cohorts)

    with_agent = [stored for stored in cohorts if agent in stored.entrant_ids]
    if not with_agent:
        where = f"in cohort {cohorts[0].cohort.number}" if len(cohorts) == 1 else "here"
        names = dict[str, int]()
        for stored in cohorts:
            names |= stored.entrant_ids
        listed_names = ", ".join(names) or "none yet"
        raise ArenaError(
            "no_agent",
            f"there is no agent {agent!r} {where}",
            f"{did_you_mean(agent, names)}agents: {listed_names}",
        )
    return with_agent
