"""Cohorts, rounds, snapshots, turns and calls read back as the nouns they were, in a few queries each.

Also which cohort and which agent a command is about; where there are none such, an error that names those
there are.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, Row, bindparam, case, exists, func, or_

from agents.model import USABLE_STATUSES, Call, CallError, ErrorCode, Forecast, Message, Prompt
from arena.errors import ArenaError
from arena.record.model.benchmark import FORECASTBENCH
from arena.record.model.cohort import BENCHMARK, MIN_COVERAGE, REFUSED_CODES, Cohort, UnansweredTurn
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
from arena.record.schema.statements import attributes_of
from arena.record.schema.turn import CallRow, ForecastRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    clause,
    col,
    column_of,
    columns_of,
    joined,
    read_grouped_nouns,
    read_nouns,
    select,
    select_as,
)
from arena.record.schema.world import MarketRow, MarketVersionRow, QuoteRow, ResolutionRow
from arena.record.write.listings import PAGE_FIELDS, QUOTE_FIELDS, quote_of
from markets.millionths import ONE
from markets.model import BY_HAND, Listing, Market, MarketId, Quote, Resolution, Snapshot

# The questions are made once each: that takes longer than to have them answered.
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
"""Where a turn is found, as nouns call it."""


def item_of(market: Any) -> ColumnElement[bool]:
    """That a place in the snapshot of a round is that of a market."""
    own = SnapshotItemRow.snapshot_id == RoundRow.snapshot_id
    return clause(own) & clause(SnapshotItemRow.market_id == market)


IS_TRADING = ~col(CohortRow.frozen).contains(f'"stamp":"{BENCHMARK}"')
"""Whether a cohort plays for money. One that answers a benchmark's questions is in no figure of the arena."""

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
    """When a correction was paid last after it had ended."""


NEWEST_COHORT = select(CohortRow.frozen).where(IS_TRADING).order_by(col(CohortRow.number).desc()).limit(1)


def read_min_coverage(connection: Connection, cohort: int | None = None) -> float:
    """How much agents must have forecast to be ranked, from 0 to 1, by one cohort or the newest."""
    query = NEWEST_COHORT if cohort is None else NEWEST_COHORT.where(CohortRow.number == cohort)
    frozen = json.loads(connection.scalar(query) or "{}")
    return float(frozen.get("min_coverage", MIN_COVERAGE) / ONE)


@dataclass(frozen=True, slots=True)
class StoredRound:
    """A round with the ids of its rows."""

    id: int
    number: int
    at: datetime
    snapshot_id: int
    done: bool


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
    .select_from(joined(EntrantRow, ReplacementRow))
    .order_by(ReplacementRow.round)
)


def _as_played(cohort: Cohort, newest: Mapping[str, Mapping[str, Any]]) -> Cohort:
    """A cohort with the settings that its agents play by now, in place of those that were replaced."""
    if not newest:
        return cohort
    return replace(cohort, entrants=tuple(replace(x, **newest.get(x.name, {})) for x in cohort.entrants))


def read_unproven(connection: Connection, cohort_id: int, waiting: bool = True) -> set[str]:
    """The agents of a cohort that have had a turn, but not one good one; those that only wait too, or not."""
    rows = connection.execute(TURN_STATUSES_BY_AGENT, {"cohort_id": cohort_id})
    statuses: dict[str, set[str]] = defaultdict(set)
    for name, status in rows:
        statuses[name].add(status)
    unproven = {name for name, found in statuses.items() if found.isdisjoint(PROVEN_STATUSES)}
    return {name for name in unproven if waiting or statuses[name] != {"waiting"}}


def read_cohorts(
    connection: Connection, line_ups: LineUps | None = None, only_open: bool = False, trading: bool = True
) -> list[StoredCohort]:
    """All cohorts, oldest first, as they are played now; those that answer a benchmark only if not `trading`.

    Who is in one never changes: it is read once.
    """
    known: LineUps = {} if line_ups is None else line_ups
    query = COHORTS if trading else ALL_COHORTS
    rows = connection.execute(OPEN_COHORTS if only_open else query).all()
    fresh = [row.id for row in rows if row.id not in known]
    if fresh:
        for cohort_id, name, entrant_id in connection.execute(LINE_UPS, {"ids": fresh}).all():
            known.setdefault(cohort_id, {})[name] = entrant_id
    replaced: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    for cohort_id, name, since, settings, prompts in connection.execute(REPLACEMENTS):
        newest = {"since": since, "settings": json.loads(settings), "prompts": json.loads(prompts)}
        replaced[cohort_id][name] = newest
    return [
        StoredCohort(
            id=row.id,
            cohort=_as_played(cohort_of(row.frozen), replaced.get(row.id, {})),
            entrant_ids=known[row.id],
            **attributes_of(row, "ended_at", "paused_at", "stopped_at", "corrected_at"),
        )
        for row in rows
    ]


def read_address(connection: Connection, cohort: int, agent: str) -> str:
    """Where the server of an agent was when its cohort, by number, began; nothing if it is not known."""
    query = select(EntrantRow.address).join(CohortRow, EntrantRow.cohort_id == CohortRow.id)
    found = connection.scalar(query.where(CohortRow.number == cohort, EntrantRow.name == agent))
    return str(found or "")


PROVEN_STATUSES = frozenset[str]((*USABLE_STATUSES, "out"))
"""Of turns that show that an agent's settings can be played by; who is out once had such a turn."""
TURN_STATUSES_BY_AGENT = (
    select(EntrantRow.name, TurnRow.status)
    .distinct()
    .select_from(joined(RoundRow, TurnRow, EntrantRow))
    .where(RoundRow.cohort_id == COHORT_ID)
)
PROMPTS = select(PromptRow.hash, PromptRow.text).where(col(PromptRow.hash).in_(IDS))


def read_prompts(connection: Connection, hashes: Collection[str]) -> dict[str, str]:
    """Texts by hash."""
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
    """The rounds of a cohort that have begun."""
    return read_nouns(StoredRound, connection.execute(ROUNDS, {"cohort_id": cohort_id}))


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


def read_snapshot(connection: Connection, cohort_id: int, at: datetime) -> tuple[int, Snapshot] | None:
    """A cohort's snapshot at an instant, with its id."""
    identity = read_snapshot_time(connection, cohort_id, at)
    if identity is None:
        return None
    snapshot_id, taken_at = identity
    rows = connection.execute(SNAPSHOT_LISTINGS, {"snapshot_id": snapshot_id})
    items = [(row.shown, _listing(row)) for row in rows]
    shown, held = ([x for flag, x in items if flag == kind] for kind in (1, 0))
    return snapshot_id, Snapshot(at, tuple(shown), tuple(held), None if taken_at == at else taken_at)


OF_COHORT_AT = (SnapshotRow.cohort_id == COHORT_ID, SnapshotRow.at == AT)
SNAPSHOT_TIME = select(SnapshotRow.id, SnapshotRow.taken_at).where(*OF_COHORT_AT)


def read_taken_at(connection: Connection, cohort_id: int, at: datetime) -> datetime | None:
    """When a cohort's snapshot of an instant was really taken; None where there is none."""
    _, taken_at = read_snapshot_time(connection, cohort_id, at) or (None, None)
    return taken_at


def read_snapshot_time(connection: Connection, cohort_id: int, at: datetime) -> tuple[int, datetime] | None:
    """The id of a cohort's snapshot, and when it was really looked at."""
    row = connection.execute(SNAPSHOT_TIME, {"cohort_id": cohort_id, "at": at}).one_or_none()
    return None if row is None else (row.id, row.taken_at)


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
    """The snapshot's id, when it was looked at, and its prices without books and pages."""
    found = read_snapshot_time(connection, cohort_id, at)
    if found is None:
        return None
    snapshot_id, taken_at = found
    rows = connection.execute(SNAPSHOT_PRICES, {"snapshot_id": snapshot_id})
    quotes = dict[MarketId, Quote | None]()
    for row in rows:  # the last comes first: of a market that is listed twice, the first counts
        market, prices = MarketId(row.market_id), attributes_of(row, "bid", "ask", "mid", "last")
        quotes[market] = None if row.quote_id is None else Quote(market, row.quoted_at, **prices)
    return snapshot_id, taken_at, quotes


def _listing(row: Row[Any]) -> Listing:
    market_id = MarketId(row.market_id)
    market = Market(market_id, **attributes_of(row, *PAGE_FIELDS))
    return Listing(market, None if row.quote_id is None else quote_of(row, row.quoted_at))


COHORT_COUNT = select(func.count()).select_from(CohortRow)


def next_cohort_number(connection: Connection) -> int:
    """The number of the cohort that starts next: all kinds are counted together."""
    return int(connection.scalar(COHORT_COUNT) or 0) + 1


NEWEST_TIME = select(SnapshotRow.at).order_by(col(SnapshotRow.at).desc()).limit(1)
NEWEST_OF_EACH = (
    select(func.max(SnapshotRow.at)).where(SnapshotRow.cohort_id == CohortRow.id).correlate(CohortRow)
)
"""By the index of each cohort: a year has many thousands of snapshots."""
NEWEST_TRADING_TIME = (
    select(func.max(NEWEST_OF_EACH.scalar_subquery())).select_from(CohortRow).where(IS_TRADING)
)
NEWEST_OF_COHORT = NEWEST_TIME.where(SnapshotRow.cohort_id == COHORT_ID)


def read_newest_time(connection: Connection, cohort_id: int | None = None) -> datetime | None:
    """The time of the newest snapshot, of all that trade or of one cohort."""
    wanted = NEWEST_TRADING_TIME if cohort_id is None else NEWEST_OF_COHORT
    newest: datetime | None = connection.scalar(wanted, {} if cohort_id is None else {"cohort_id": cohort_id})
    return newest


WENT_ON = or_(col(CohortRow.ended_at).is_(None), column_of(SnapshotRow.at) <= column_of(CohortRow.ended_at))
NEWEST_PLAYED = (
    select(func.max(NEWEST_OF_EACH.where(WENT_ON).scalar_subquery())).select_from(CohortRow).where(IS_TRADING)
)


def read_newest_played_time(connection: Connection) -> datetime | None:
    """The time of the newest snapshot of a cohort that went on: none that pays a correction after its end."""
    newest: datetime | None = connection.scalar(NEWEST_PLAYED)
    return newest


DECIDED_VERSION = case((col(ResolutionRow.source).startswith(BY_HAND), ResolutionRow.version), else_=0)
SAID_LAST = (
    select(ResolutionRow.market_id)
    .group_by(ResolutionRow.market_id)
    .having(func.max(ResolutionRow.learnt_at) < bindparam("since"))
    .having(func.max(DECIDED_VERSION) < func.max(ResolutionRow.version))
)
"""Markets of whose end nothing was learnt for long. A venue is asked on for what a person decided."""
UNRESOLVED_MARKETS = (
    select(MarketRow.id)
    .where(
        exists().where(clause(SnapshotItemRow.market_id == MarketRow.id)),
        ~col(MarketRow.id).startswith(f"{FORECASTBENCH}:"),
        col(MarketRow.id).not_in(SAID_LAST),
    )
    .order_by(MarketRow.id)
)


def read_unresolved_markets(connection: Connection, since: datetime) -> list[MarketId]:
    """Markets that any snapshot held and that have not ended, or of whose end something was learnt since."""
    return [MarketId(row) for row in connection.scalars(UNRESOLVED_MARKETS, {"since": since})]


FOLLOWED_MARKETS = UNRESOLVED_MARKETS.where(MarketRow.first_seen_at <= AT)


def read_followed_markets(connection: Connection, at: datetime) -> list[MarketId]:
    """Markets that any snapshot held, that were seen by an instant, and that had not ended before it."""
    return [MarketId(row) for row in connection.scalars(FOLLOWED_MARKETS, {"since": at, "at": at})]


RESOLUTIONS = (
    select(*columns_of(ResolutionRow, Resolution.__dataclass_fields__))
    .where(col(ResolutionRow.market_id).in_(IDS), ResolutionRow.known_at <= AT)
    .order_by(ResolutionRow.market_id, ResolutionRow.version)
)


def read_resolutions(connection: Connection, ids: Collection[MarketId], at: datetime) -> list[Resolution]:
    """All versions known by then of how these markets ended."""
    return read_nouns(Resolution, connection.execute(RESOLUTIONS, {"ids": ids, "at": at}))


def read_learnt_resolutions(
    connection: Connection, ids: Collection[MarketId], at: datetime
) -> list[tuple[Resolution, datetime]]:
    """All versions known by then, each with the decision time at which it was learnt."""
    rows = connection.execute(RESOLUTIONS.add_columns(ResolutionRow.learnt_at), {"ids": ids, "at": at})
    nouns = Resolution.__dataclass_fields__
    return [(Resolution(**attributes_of(row, *nouns)), row.learnt_at) for row in rows]


TURN_STATUSES = select(TurnRow.entrant_id, TurnRow.status).where(TurnRow.round_id == ROUND_ID)


def read_turn_statuses(connection: Connection, round_id: int) -> dict[int, str]:
    """How each entrant's turn of a round ended, by entrant id."""
    return dict(connection.execute(TURN_STATUSES, {"round_id": round_id}).all())


FORECAST_COLUMNS = (
    ForecastRow.market_id,
    col(ForecastRow.probability).label("millionths"),
    ForecastRow.stage,
    ForecastRow.reason,
)
FINAL_FORECASTS = (
    select(EntrantRow.name, *FORECAST_COLUMNS)
    .select_from(joined(TurnRow, EntrantRow, ForecastRow))
    .where(TurnRow.round_id == ROUND_ID, col(EntrantRow.name).in_(IDS), ForecastRow.stage == "final")
    .order_by(EntrantRow.position, ForecastRow.market_id)
)


def read_final_forecasts(
    connection: Connection, round_id: int, agents: Sequence[str]
) -> dict[str, tuple[Forecast, ...]]:
    """The final forecasts of those of these agents whose turns are in."""
    if not agents:
        return {}
    rows = connection.execute(FINAL_FORECASTS, {"round_id": round_id, "ids": agents})
    return {name: tuple(forecasts) for name, forecasts in read_grouped_nouns(Forecast, rows).items()}


NOT_AS_IT_IS = ("prompt", "error", "citations", "usage_doubt")
"""Fields of a call that its row has in another form, or not at all."""
CALL_FIELDS = [name for name in Call.__dataclass_fields__ if name not in NOT_AS_IT_IS]
CALLS = (
    select(CallRow.__table__)
    .where(CallRow.round_id == ROUND_ID, col(CallRow.entrant_id).in_(IDS))
    .order_by(CallRow.entrant_id, CallRow.stage, CallRow.sample, CallRow.attempt)
)


def read_calls(connection: Connection, round_id: int, entrant_ids: Sequence[int]) -> dict[int, list[Call]]:
    """Every attempt that entrants of a round have made, in order, by entrant id."""
    calls: dict[int, list[Call]] = defaultdict(list)
    for row in connection.execute(CALLS, {"round_id": round_id, "ids": entrant_ids}):
        calls[row.entrant_id].append(_call(row))
    return calls


def _call(row: Row[Any]) -> Call:
    messages = tuple(Message(**message) for message in json.loads(row.messages))
    error = CallError(row.error_code, row.error_message, bool(row.error_retry)) if row.error_code else None
    return Call(
        Prompt(messages, row.seed, row.stage, row.sample),
        error=error,
        citations=tuple(json.loads(row.citations)),
        **attributes_of(row, *CALL_FIELDS),
    )


SNAPSHOT_MARKS = (
    select(MarkRow.at)
    .select_from(joined(MarkRow, SnapshotRow))
    .where(*OF_COHORT_AT, MarkRow.at == AT)
    .limit(1)
)


def has_marks(connection: Connection, cohort_id: int, at: datetime) -> bool:
    """Whether a cohort's holdings were already valued at an instant."""
    return connection.scalar(SNAPSHOT_MARKS, {"cohort_id": cohort_id, "at": at}) is not None


def read_refused_entrants(connection: Connection, round_id: int, code: ErrorCode) -> set[int]:
    """The entrants whose last call in a round ended in this error."""
    last = select(func.max(CallRow.id)).where(CallRow.round_id == round_id).group_by(CallRow.entrant_id)
    rows = select(CallRow.entrant_id).where(col(CallRow.id).in_(last), CallRow.error_code == code)
    return set(connection.execute(rows).scalars())


FAILED_CALLS = (
    select_as(
        name=EntrantRow.name,
        stage=CallRow.stage,
        sample=CallRow.sample,
        code=CallRow.error_code,
        message=CallRow.error_message,
        retry=CallRow.error_retry,
        at=CallRow.made_at,
    )
    .select_from(
        joined(CallRow, EntrantRow).join(
            TurnRow.__table__,
            clause((TurnRow.round_id == CallRow.round_id) & (TurnRow.entrant_id == CallRow.entrant_id)),
        )
    )
    .where(CallRow.round_id == ROUND_ID, TurnRow.status == "failed")
    .order_by(EntrantRow.position, CallRow.id)
)


def read_unanswered_turns(connection: Connection, round_id: int) -> list[UnansweredTurn]:
    """Return the failed turns of a round whose model gave no answer, in the order of the line-up.

    Of each question the last attempt counts. A turn that failed for another reason is left out: one that a
    budget stopped, say, or an agent's own code that broke.
    """
    first_failures: dict[str, datetime] = {}
    last_attempts: dict[tuple[str, str, int], Row[Any]] = {}
    for row in connection.execute(FAILED_CALLS, {"round_id": round_id}):
        if row.code is not None:
            first_failures.setdefault(row.name, row.at)
        last_attempts[row.name, row.stage, row.sample] = row

    unanswered: dict[str, UnansweredTurn] = {}
    for row in last_attempts.values():
        if row.code is None or not (row.retry or row.code in REFUSED_CODES):
            continue
        turn = UnansweredTurn(row.name, row.code, row.message, bool(row.retry), first_failures[row.name])
        before = unanswered.get(row.name)
        if before is None or before.passing:
            unanswered[row.name] = turn
    return list(unanswered.values())


def count_facts(connection: Connection) -> dict[str, int]:
    """How much was played."""
    played = select(SnapshotItemRow.version_id)
    events = select(func.count(col(MarketVersionRow.event_id).distinct())).where(
        col(MarketVersionRow.id).in_(played)
    )
    tables = {
        "cohorts": CohortRow,
        "rounds": RoundRow,
        "turns": TurnRow,
        "entries": EntryRow,
        "calls": CallRow,
    }
    queries = {name: select(func.count()).select_from(table) for name, table in tables.items()} | {
        "decision_times": select(func.count(col(RoundRow.at).distinct())),
        "markets": select(func.count(col(SnapshotItemRow.market_id).distinct())),
        "events": events,
        "fills": select(func.count()).where(col(EntryRow.kind).in_(("buy", "sell"))),
        "settlements": select(func.count()).where(col(EntryRow.kind).in_(("settle", "refund"))),
    }
    return {name: connection.execute(query).scalar_one() for name, query in queries.items()}


def select_cohorts(stored: Sequence[StoredCohort], number: int | None) -> list[StoredCohort]:
    """The cohort of that number; all of them without one."""
    if number is None:
        return list(stored)
    found = [each for each in stored if each.cohort.number == number]
    if not found:
        known = ", ".join(str(each.cohort.number) for each in stored) or "none yet"
        raise ArenaError("no_cohort", f"there is no cohort {number} here", f"cohorts: {known}")
    return found


def cohorts_of_agent(stored: Sequence[StoredCohort], agent: str | None) -> list[StoredCohort]:
    """Those cohorts that an agent plays in; all of them without one."""
    found = [each for each in stored if agent is None or agent in each.entrant_ids]
    if agent is not None and not found:
        where = f"in cohort {stored[0].cohort.number}" if len(stored) == 1 else "here"
        known = ", ".join(dict.fromkeys(name for each in stored for name in each.entrant_ids)) or "none yet"
        raise ArenaError("no_agent", f"there is no agent {agent!r} {where}", f"agents: {known}")
    return found
