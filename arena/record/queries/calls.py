"""What agents were asked and how that went: a few sums over all calls and turns, whatever their number.

What calls have cost lately and in what still plays, and what those under way may cost, by indices.

What an operator looks at besides the status: turns that failed, who spent what, the size of it all.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, bindparam, case, func, or_, select, text

from arena.record.model.model_version import ReportedModel
from arena.record.model.status import CallsUnderWay
from arena.record.queries.cohorts import StoredRound
from arena.record.schema.database_errors import sqlite_path
from arena.record.schema.dialects import NOW
from arena.record.schema.tables import CALL, COHORT, ENTRANT, FORECAST, RESERVATION, ROUND, TURN
from arena.record.write.reservations import COST

AGENT_CALLS = CALL.join(ENTRANT, CALL.c.entrant_id == ENTRANT.c.id)
AGENT_TURNS = TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id).join(
    COHORT, ENTRANT.c.cohort_id == COHORT.c.id
)
IS_ANSWERED = (CALL.c.error_code.is_(None), CALL.c.model != "")


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
    told = (CALL.c.model, CALL.c.fingerprint)
    in_order: dict[str, Any] = {
        "partition_by": ENTRANT.c.name,
        "order_by": (CALL.c.made_at, CALL.c.id),
    }
    before = (func.lag(column).over(**in_order).label(f"last_{column.name}") for column in told)
    keys = (ENTRANT.c.name, *told, CALL.c.made_at)
    every = select(*keys, CALL.c.id, *before).select_from(AGENT_CALLS).where(*IS_ANSWERED).subquery()
    one = every.c
    moved: ColumnElement[bool] = (one.model != one.last_model) | (one.fingerprint != one.last_fingerprint)
    rows = connection.execute(
        select(one.name, one.model, one.fingerprint, one.made_at)
        .where(moved | one.last_model.is_(None))
        .order_by(one.made_at, one.id)
    )
    return [ReportedModel(*row) for row in rows]


def read_served_models(connection: Connection, agent: str | None = None) -> list[ServedModel]:
    """Every model and fingerprint that answered under each name, in the order of their first answers."""
    keys = (ENTRANT.c.name, CALL.c.model, CALL.c.fingerprint)
    times = (func.min(CALL.c.made_at), func.max(CALL.c.made_at))
    query = select(*keys, func.count(), *times).select_from(AGENT_CALLS).where(*IS_ANSWERED).group_by(*keys)
    query = query if agent is None else query.where(ENTRANT.c.name == agent)
    return [ServedModel(*row) for row in connection.execute(query.order_by(times[0], *keys))]


def read_call_outcomes(connection: Connection, agent: str) -> list[CallOutcomes]:
    """All calls of an agent, summed up by how they ended."""
    ways = (CALL.c.rung, CALL.c.error_code)
    sums = (func.sum(CALL.c.tokens_in), func.sum(CALL.c.tokens_out), func.coalesce(func.sum(CALL.c.cost), 0))
    unknown = func.count() - func.count(CALL.c.cost)
    query = (
        select(*ways, func.count(), *sums, unknown).select_from(AGENT_CALLS).where(ENTRANT.c.name == agent)
    )
    rows = connection.execute(query.group_by(*ways).order_by(*ways))
    return [CallOutcomes(rung, error, *map(int, counts)) for rung, error, *counts in rows]


def read_latencies(connection: Connection, agent: str) -> list[int]:
    """How long each answer took, in milliseconds, the shortest first."""
    query = select(CALL.c.latency_ms).select_from(AGENT_CALLS).where(ENTRANT.c.name == agent, IS_ANSWERED[0])
    return list(connection.scalars(query.order_by(CALL.c.latency_ms)))


def count_forecasts(connection: Connection, agent: str) -> int:
    """How many final probabilities an agent has stated."""
    joined = AGENT_TURNS.join(FORECAST, FORECAST.c.turn_id == TURN.c.id)
    query = select(func.count()).select_from(joined).where(ENTRANT.c.name == agent)
    return connection.execute(query.where(FORECAST.c.stage == "final")).scalar_one()


def read_rounds_by_cohort(connection: Connection) -> dict[int, list[StoredRound]]:
    """The rounds of every cohort that have begun, oldest first, by the id of the cohort."""
    found: dict[int, list[StoredRound]] = defaultdict(list)
    for row in connection.execute(select(ROUND).order_by(ROUND.c.cohort_id, ROUND.c.number)):
        round = StoredRound(row.id, row.number, row.at, row.snapshot_id, bool(row.done))
        found[row.cohort_id].append(round)
    return dict(found)


OPEN_COHORTS = select(COHORT.c.id).where(COHORT.c.ended_at.is_(None))
ROUND_IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)

SINCE: BindParameter[datetime] = bindparam("since", type_=CALL.c.made_at.type)
SPENT_SINCE = select(func.coalesce(func.sum(COST), 0)).where(CALL.c.made_at >= SINCE)


def read_spent_since(connection: Connection, since: datetime) -> int:
    """What calls have cost since an instant, at their worst where it is unknown."""
    return int(connection.execute(SPENT_SINCE, {"since": since}).scalar_one())


ALL_SPENT = select(func.coalesce(func.sum(COST), 0)).select_from(CALL)


def read_spent_total(connection: Connection) -> int:
    """What all calls have cost: a sum over an index of them."""
    return int(connection.execute(ALL_SPENT).scalar_one())


COST_SUM = select(func.coalesce(func.sum(COST), 0))
OF_ROUND = COST_SUM.where(CALL.c.round_id == ROUND.c.id).correlate(ROUND).scalar_subquery().label("cost")
OF_AGENT = (
    COST_SUM.where(CALL.c.entrant_id == ENTRANT.c.id).correlate(ENTRANT).scalar_subquery().label("cost")
)
COST_OF_ROUND = (
    select(COHORT.c.number, ROUND.c.number, OF_ROUND)
    .select_from(ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id))
    .where(ROUND.c.id.in_(ROUND_IDS))
    .order_by(OF_ROUND.desc(), COHORT.c.number, ROUND.c.number)
    .limit(1)
)
COST_OF_AGENT = (
    select(COHORT.c.number, ENTRANT.c.name, OF_AGENT)
    .select_from(ENTRANT.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id))
    .where(ENTRANT.c.cohort_id.in_(OPEN_COHORTS))
    .order_by(OF_AGENT.desc(), COHORT.c.number, ENTRANT.c.name)
    .limit(1)
)


def read_dearest_round(connection: Connection, ids: Collection[int]) -> tuple[str, int]:
    """Of these rounds the one whose calls have cost most."""
    row = connection.execute(COST_OF_ROUND, {"ids": list(ids)}).first()
    return ("", 0) if row is None else (f"round {row[1]} of cohort {row[0]}", int(row.cost))


def read_dearest_agent(connection: Connection) -> tuple[str, int]:
    """The agent whose calls have cost most in a cohort that has not ended."""
    row = connection.execute(COST_OF_AGENT).first()
    return ("", 0) if row is None else (f"{row[1]} in cohort {row[0]}", int(row.cost))


IS_RUNNING = RESERVATION.c.expires_at > NOW
WORST_COST = func.coalesce(RESERVATION.c.worst, 0)
RESERVED_CALLS = select(
    *(
        func.coalesce(func.sum(case((condition, value), else_=0)), 0)
        for condition in (IS_RUNNING, ~IS_RUNNING)
        for value in (1, WORST_COST)
    )
)


def read_calls_under_way(connection: Connection) -> CallsUnderWay:
    """Calls that are being made, and those whose worker was lost."""
    return CallsUnderWay(*map(int, connection.execute(RESERVED_CALLS).one()))


DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class FailedTurn:
    """A turn without a usable answer: whose, when, and what the last call of it was told."""

    cohort: int
    round: int
    agent: str
    at: datetime
    status: str
    code: str | None
    message: str | None


LAST_CALL = (
    select(func.max(CALL.c.id))
    .where(CALL.c.round_id == TURN.c.round_id, CALL.c.entrant_id == TURN.c.entrant_id)
    .correlate(TURN)
    .scalar_subquery()
)
FAILED_TURNS = (
    select(
        COHORT.c.number.label("cohort"),
        ROUND.c.number.label("round"),
        ENTRANT.c.name.label("agent"),
        ROUND.c.at,
        TURN.c.verdict,
        CALL.c.error_code,
        CALL.c.error_message,
    )
    .select_from(
        TURN.join(ROUND, TURN.c.round_id == ROUND.c.id)
        .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
        .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
        .outerjoin(CALL, CALL.c.id == LAST_CALL)
    )
    .order_by(TURN.c.id.desc())
)


def read_failed_turns(
    connection: Connection, most: int, statuses: Sequence[str] = ("failed",)
) -> list[FailedTurn]:
    """The newest turns that ended so, of each status at most so many."""
    found = [
        FailedTurn(*row)
        for status in statuses
        for row in connection.execute(FAILED_TURNS.where(TURN.c.verdict == status).limit(most))
    ]
    return sorted(found, key=lambda turn: turn.at, reverse=True)[:most]


@dataclass(frozen=True, slots=True)
class AgentSpending:
    """An agent in a cohort: how many calls were made for it, and what they cost (at worst, if unknown)."""

    cohort: int
    agent: str
    calls: int
    spent: int


NEWEST_COHORT = select(func.max(COHORT.c.number)).scalar_subquery()
AGENT_SPENDING = (
    select(COHORT.c.number, ENTRANT.c.name, func.count(CALL.c.id), func.coalesce(func.sum(COST), 0))
    .select_from(
        COHORT.join(ENTRANT, ENTRANT.c.cohort_id == COHORT.c.id).join(CALL, CALL.c.entrant_id == ENTRANT.c.id)
    )
    .where(or_(COHORT.c.ended_at.is_(None), COHORT.c.number == NEWEST_COHORT))
    .group_by(COHORT.c.number, ENTRANT.c.position, ENTRANT.c.name)
    .order_by(COHORT.c.number, ENTRANT.c.position)
)


def read_agent_spending(connection: Connection) -> list[AgentSpending]:
    """Whose calls cost what in the cohorts that play, and in the newest."""
    rows = connection.execute(AGENT_SPENDING)
    return [AgentSpending(cohort, agent, calls, int(spent)) for cohort, agent, calls, spent in rows]


def read_daily_spending(connection: Connection, midnight: datetime, days: int) -> list[tuple[datetime, int]]:
    """What calls cost on each of so many days, the last of which begins at a midnight."""
    starts = [midnight - place * DAY for place in reversed(range(days))]
    sums = [func.coalesce(func.sum(case((_made_on(start), COST), else_=0)), 0) for start in starts]
    row = connection.execute(select(*sums).where(CALL.c.made_at >= starts[0])).one()
    return [(start, int(spent)) for start, spent in zip(starts, row, strict=True)]


def _made_on(start: datetime) -> ColumnElement[bool]:
    return (CALL.c.made_at >= start) & (CALL.c.made_at < start + DAY)


def record_size(connection: Connection) -> int:
    """How many bytes the record takes, with what is still in SQLite's log."""
    if connection.dialect.name == "postgresql":
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
    path = sqlite_path(connection.engine.url)
    files = [Path(path + end) for end in ("", "-wal")] if path else []
    return sum(file.stat().st_size for file in files if file.exists())
