"""What agents were asked, how that went and what it cost: sums over calls and turns, whatever their number.

Recent costs, those of cohorts that still play and those of calls under way are found by index.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, bindparam, func, text
from sqlmodel import case, or_

from agents.model import DECIDED_STATUSES
from arena.record.model.model_version import ReportedModel
from arena.record.model.status import CallsUnderWay
from arena.record.queries.cohorts import PLACE, ROUND_COLUMNS, StoredRound
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow
from arena.record.schema.database_errors import sqlite_path
from arena.record.schema.newest import PLAYED_SETTINGS
from arena.record.schema.turn import CallRow, ForecastRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    clause,
    col,
    column_of,
    count,
    joined,
    read_grouped_nouns,
    read_nouns,
    select,
    select_as,
    select_noun,
    total,
)
from arena.record.schema.work import ReservationRow
from arena.record.write.reservations import COST

AGENT_CALLS = joined(CallRow, EntrantRow)
IS_ANSWERED = (col(CallRow.error_code).is_(None), CallRow.model != "")


CALL_TOTALS: dict[str, Any] = {
    "calls": func.count(),
    "tokens_in": total(CallRow.tokens_in),
    "tokens_out": total(CallRow.tokens_out),
    "cost": total(CallRow.cost),
    "unknown": func.count() - count(CallRow.cost),
}


@dataclass(frozen=True, slots=True)
class CallOutcomes:
    """Calls of an agent that ended alike: on the same rung, with the same error or with an answer.

    `cost` is of those calls whose cost is known; of `unknown` calls it isn't.
    """

    rung: str
    error: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    cost: int
    unknown: int


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as the provider reports it, how many answers came from it, and from when to when."""

    name: str
    model: str
    fingerprint: str
    answers: int
    first_at: datetime
    last_at: datetime


def read_reported_models(connection: Connection) -> list[ReportedModel]:
    """Where an answer's model or fingerprint is another than that of the agent's answer before it."""
    told = (CallRow.model, CallRow.fingerprint)
    in_order: dict[str, Any] = {
        "partition_by": EntrantRow.name,
        "order_by": (CallRow.made_at, CallRow.id),
    }
    before = (func.lag(column).over(**in_order).label(f"last_{column_of(column).name}") for column in told)
    keys = (EntrantRow.name, *told, CallRow.made_at)
    every = select(*keys, CallRow.id, *before).select_from(AGENT_CALLS).where(*IS_ANSWERED).subquery()
    one = every.c
    moved: ColumnElement[bool] = (one.model != one.last_model) | (one.fingerprint != one.last_fingerprint)
    rows = connection.execute(
        select_as(name=one.name, model=one.model, fingerprint=one.fingerprint, at=one.made_at)
        .where(moved | one.last_model.is_(None))
        .order_by(one.made_at, one.id)
    )
    return read_nouns(ReportedModel, rows)


def read_served_models(connection: Connection, agent: str | None = None) -> list[ServedModel]:
    """Every model and fingerprint that answered under each name, in the order of their first answers."""
    keys = {"name": EntrantRow.name, "model": CallRow.model, "fingerprint": CallRow.fingerprint}
    first_at, last_at = func.min(CallRow.made_at), func.max(CallRow.made_at)
    query = select_as(**keys, answers=func.count(), first_at=first_at, last_at=last_at)
    query = query.select_from(AGENT_CALLS).where(*IS_ANSWERED).group_by(*keys.values())
    query = query if agent is None else query.where(EntrantRow.name == agent)
    return read_nouns(ServedModel, connection.execute(query.order_by(first_at, *keys.values())))


def read_call_outcomes(connection: Connection, agent: str) -> list[CallOutcomes]:
    """All calls of an agent, summed up by how they ended."""
    ways = {"rung": CallRow.rung, "error": CallRow.error_code}
    query = select_as(**ways, **CALL_TOTALS).select_from(AGENT_CALLS).where(EntrantRow.name == agent)
    rows = connection.execute(query.group_by(*ways.values()).order_by(*ways.values()))
    return read_nouns(CallOutcomes, rows)


def read_latencies(connection: Connection, agent: str) -> list[int]:
    """How long each answer took, in milliseconds, the shortest first."""
    query = (
        select(CallRow.latency_ms).select_from(AGENT_CALLS).where(EntrantRow.name == agent, IS_ANSWERED[0])
    )
    return list(connection.scalars(query.order_by(CallRow.latency_ms)))


def count_forecasts(connection: Connection, agent: str) -> int:
    """How many final probabilities an agent has stated."""
    query = select(func.count()).select_from(joined(ForecastRow, TurnRow, EntrantRow, CohortRow))
    query = query.where(EntrantRow.name == agent)
    return connection.execute(query.where(ForecastRow.stage == "final")).scalar_one()


def read_rounds_by_cohort(connection: Connection) -> dict[int, list[StoredRound]]:
    """The rounds of every cohort that have begun, oldest first, by the id of the cohort."""
    query = select(RoundRow.cohort_id, *ROUND_COLUMNS).order_by(RoundRow.cohort_id, RoundRow.number)
    return read_grouped_nouns(StoredRound, connection.execute(query))


OPEN_COHORTS = select(CohortRow.id).where(col(CohortRow.ended_at).is_(None))

SINCE: BindParameter[datetime] = bindparam("since", type_=column_of(CallRow.made_at).type)
SPENT_SINCE = select(total(COST)).where(CallRow.made_at >= SINCE)


def read_spent_since(connection: Connection, since: datetime) -> int:
    """What calls have cost since an instant, at their worst where it is unknown."""
    return connection.execute(SPENT_SINCE, {"since": since}).scalar_one()


ALL_SPENT = select(total(COST)).select_from(CallRow)


def read_spent_total(connection: Connection) -> int:
    """What all calls have cost: a sum over an index of them."""
    return connection.execute(ALL_SPENT).scalar_one()


COST_SUM = select(total(COST))
OF_ROUND = COST_SUM.where(CallRow.round_id == RoundRow.id).correlate(RoundRow).label("cost")
OF_AGENT = COST_SUM.where(CallRow.entrant_id == EntrantRow.id).correlate(EntrantRow).label("cost")
COST_OF_ROUND = (
    select(CohortRow.number, RoundRow.number, OF_ROUND)
    .select_from(joined(RoundRow, CohortRow))
    .where(col(RoundRow.id).in_(IDS))
    .order_by(OF_ROUND.desc(), CohortRow.number, RoundRow.number)
    .limit(1)
)
COST_OF_AGENT = (
    select(CohortRow.number, EntrantRow.name, OF_AGENT)
    .select_from(joined(EntrantRow, CohortRow))
    .where(col(EntrantRow.cohort_id).in_(OPEN_COHORTS))
    .order_by(OF_AGENT.desc(), CohortRow.number, EntrantRow.name)
    .limit(1)
)


def read_dearest_round(connection: Connection, ids: Collection[int]) -> tuple[str, int]:
    """Of these rounds the one whose calls have cost most."""
    row = connection.execute(COST_OF_ROUND, {"ids": list(ids)}).first()
    return ("", 0) if row is None else (f"round {row[1]} of cohort {row[0]}", row.cost)


def read_dearest_agent(connection: Connection) -> tuple[str, int]:
    """The agent whose calls have cost most in a cohort that has not ended."""
    row = connection.execute(COST_OF_AGENT).first()
    return ("", 0) if row is None else (f"{row[1]} in cohort {row[0]}", row.cost)


IS_LOST = col(ReservationRow.beat).is_(None)
RESERVED_CALLS = select_as(
    holder=ReservationRow.holder,
    is_lost=IS_LOST,
    calls=func.count(),
    worst=total(func.coalesce(ReservationRow.worst, 0)),
).group_by(ReservationRow.holder, IS_LOST)


@dataclass(frozen=True, slots=True)
class ReservedCalls:
    """The calls that a holder has reserved, or has lost, and what they may cost at most."""

    holder: str
    is_lost: bool
    calls: int
    worst: int


def read_calls_under_way(connection: Connection, is_gone: Callable[[str], bool]) -> CallsUnderWay:
    """Return the calls that are being made, and those whose worker was lost or has ended."""
    under_way = list[ReservedCalls]()
    lost = list[ReservedCalls]()
    for reserved in read_nouns(ReservedCalls, connection.execute(RESERVED_CALLS)):
        kind = lost if reserved.is_lost or is_gone(reserved.holder) else under_way
        kind.append(reserved)

    return CallsUnderWay(
        calls=sum(reserved.calls for reserved in under_way),
        worst=sum(reserved.worst for reserved in under_way),
        lost=sum(reserved.calls for reserved in lost),
        lost_worst=sum(reserved.worst for reserved in lost),
    )


DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class FailedTurn:
    """A turn without a usable answer: whose, when, and what its last call was told, or its rule said."""

    cohort: int
    round: int
    agent: str
    at: datetime
    status: str
    code: str | None
    message: str | None


LAST_CALL = (
    select(func.max(CallRow.id))
    .where(CallRow.round_id == TurnRow.round_id, CallRow.entrant_id == TurnRow.entrant_id)
    .correlate(TurnRow.__table__)
    .scalar_subquery()
)
FAILED_TURNS = (
    select_noun(
        FailedTurn,
        TurnRow,
        **PLACE,
        code=CallRow.error_code,
        message=func.coalesce(CallRow.error_message, TurnRow.note),
    )
    .select_from(joined(TurnRow, EntrantRow, RoundRow, CohortRow))
    .outerjoin(CallRow, CallRow.id == LAST_CALL)
    .order_by(col(TurnRow.id).desc())
)


def read_failed_turns(
    connection: Connection, most: int, statuses: Sequence[str] = ("failed",)
) -> list[FailedTurn]:
    """The newest turns that ended so, of each status at most so many."""
    queries = [FAILED_TURNS.where(TurnRow.status == status).limit(most) for status in statuses]
    turns = [turn for query in queries for turn in read_nouns(FailedTurn, connection.execute(query))]
    return sorted(turns, key=lambda turn: turn.at, reverse=True)[:most]


@dataclass(frozen=True, slots=True)
class AgentSpending:
    """An agent in a cohort: how many calls were made for it, and what they cost (at worst, if unknown)."""

    cohort: int
    agent: str
    calls: int
    spent: int


NEWEST_COHORT = select(func.max(CohortRow.number)).scalar_subquery()
AGENT_SPENDING = (
    select_noun(AgentSpending, **PLACE, calls=count(CallRow.id), spent=total(COST))
    .select_from(joined(CohortRow, EntrantRow, CallRow))
    .where(or_(col(CohortRow.ended_at).is_(None), CohortRow.number == NEWEST_COHORT))
    .group_by(CohortRow.number, EntrantRow.position, EntrantRow.name)
    .order_by(CohortRow.number, EntrantRow.position)
)


def read_agent_spending(connection: Connection) -> list[AgentSpending]:
    """Whose calls cost what in the cohorts that play, and in the newest."""
    return read_nouns(AgentSpending, connection.execute(AGENT_SPENDING))


RECENT_TURNS = 40
USAGE_OF_TURNS = (
    select(count(CallRow.id), total(CallRow.tokens_in), total(CallRow.tokens_out), total(COST))
    .join(TurnRow, clause(TurnRow.entrant_id == CallRow.entrant_id))
    .where(TurnRow.round_id == CallRow.round_id, col(TurnRow.status).in_(DECIDED_STATUSES))
    .group_by(CallRow.round_id, CallRow.entrant_id)
    .order_by(func.max(CallRow.made_at).desc())
    .limit(RECENT_TURNS)
)


@dataclass(frozen=True, slots=True)
class RecentUsage:
    """What so many of an agent's newest turns used in all (money at worst, where it is unknown)."""

    turns: int
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0


def read_recent_usage(connection: Connection, agent: str, model: str) -> RecentUsage:
    """That of the turns in which it asked this model and decided."""
    entrants = connection.execute(select(EntrantRow.id, PLAYED_SETTINGS).where(EntrantRow.name == agent))
    ids = [entrant_id for entrant_id, settings in entrants if json.loads(settings).get("model") == model]
    turns = connection.execute(USAGE_OF_TURNS.where(col(CallRow.entrant_id).in_(ids))).all()
    return RecentUsage(len(turns), *map(sum, zip(*turns, strict=True)))


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A call whose reply may ask for tools: whose it was, and what it cost, None where that is unknown."""

    agent: str
    cohort: int
    cost: int | None
    reply: str


TOOL_STEPS = (
    select_noun(ToolStep, CallRow, **PLACE)
    .select_from(joined(CallRow, EntrantRow, CohortRow))
    .where(col(CallRow.reply).contains('"tool_calls"'))
)


def read_tool_steps(connection: Connection, agents: Collection[str]) -> list[ToolStep]:
    """Those of some agents."""
    rows = connection.execute(TOOL_STEPS.where(col(EntrantRow.name).in_(agents)))
    return list(read_nouns(ToolStep, rows))


def read_daily_spending(connection: Connection, midnight: datetime, days: int) -> list[tuple[datetime, int]]:
    """What calls cost on each of so many days, the last of which begins at a midnight."""
    starts = [midnight - place * DAY for place in reversed(range(days))]
    days_of_calls = [(CallRow.made_at >= start) & (CallRow.made_at < start + DAY) for start in starts]
    sums: list[Any] = [total(case((clause(that_day), COST), else_=0)) for that_day in days_of_calls]
    row = connection.execute(select(*sums).where(CallRow.made_at >= starts[0])).one()
    return list(zip(starts, row, strict=True))


def record_size(connection: Connection) -> int:
    """How many bytes the record takes, with what is still in SQLite's log."""
    if connection.dialect.name == "postgresql":
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
    path = sqlite_path(connection.engine.url)
    files = [Path(path + end) for end in ("", "-wal")] if path else []
    return sum(file.stat().st_size for file in files if file.exists())
