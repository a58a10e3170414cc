"""What agents were asked and how that went: a few sums over all calls and turns, whatever their number."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from arena.record.model.model_version import Reported
from arena.record.queries.read import StoredRound
from arena.record.schema.tables import CALL, COHORT, ENTRANT, FORECAST, ROUND, TURN

CALLS = CALL.join(ENTRANT, CALL.c.entrant_id == ENTRANT.c.id)
TURNS = TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id).join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
ANSWERED = (CALL.c.error_code.is_(None), CALL.c.model != "")


@dataclass(frozen=True, slots=True)
class Asked:
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
class Served:
    """A model as the provider reports it, how many answers came from it, and from when to when."""

    name: str
    model: str
    fingerprint: str
    answers: int
    first_at: datetime
    last_at: datetime


def read_reported(connection: Connection) -> list[Reported]:
    """Where an answer's model or fingerprint is another than that of the agent's answer before it."""
    told = (CALL.c.model, CALL.c.fingerprint)
    in_order: dict[str, Any] = {
        "partition_by": ENTRANT.c.name,
        "order_by": (CALL.c.made_at, CALL.c.id),
    }
    before = (func.lag(column).over(**in_order).label(f"last_{column.name}") for column in told)
    keys = (ENTRANT.c.name, *told, CALL.c.made_at)
    every = select(*keys, CALL.c.id, *before).select_from(CALLS).where(*ANSWERED).subquery()
    one = every.c
    moved: ColumnElement[bool] = (one.model != one.last_model) | (one.fingerprint != one.last_fingerprint)
    rows = connection.execute(
        select(one.name, one.model, one.fingerprint, one.made_at)
        .where(moved | one.last_model.is_(None))
        .order_by(one.made_at, one.id)
    )
    return [Reported(*row) for row in rows]


def read_served(connection: Connection, agent: str | None = None) -> list[Served]:
    """Every model and fingerprint that answered under each name, in the order of their first answers."""
    keys = (ENTRANT.c.name, CALL.c.model, CALL.c.fingerprint)
    times = (func.min(CALL.c.made_at), func.max(CALL.c.made_at))
    query = select(*keys, func.count(), *times).select_from(CALLS).where(*ANSWERED).group_by(*keys)
    query = query if agent is None else query.where(ENTRANT.c.name == agent)
    return [Served(*row) for row in connection.execute(query.order_by(times[0], *keys))]


def read_asked(connection: Connection, agent: str) -> list[Asked]:
    """All calls of an agent, summed up by how they ended."""
    ways = (CALL.c.rung, CALL.c.error_code)
    sums = (func.sum(CALL.c.tokens_in), func.sum(CALL.c.tokens_out), func.coalesce(func.sum(CALL.c.cost), 0))
    unknown = func.count() - func.count(CALL.c.cost)
    query = select(*ways, func.count(), *sums, unknown).select_from(CALLS).where(ENTRANT.c.name == agent)
    rows = connection.execute(query.group_by(*ways).order_by(*ways))
    return [Asked(rung, error, *map(int, counts)) for rung, error, *counts in rows]


def read_latencies(connection: Connection, agent: str) -> list[int]:
    """How long each answer took, in milliseconds, the shortest first."""
    query = select(CALL.c.latency_ms).select_from(CALLS).where(ENTRANT.c.name == agent, ANSWERED[0])
    return list(connection.scalars(query.order_by(CALL.c.latency_ms)))


def count_forecasts(connection: Connection, agent: str) -> int:
    """How many final probabilities an agent has stated."""
    joined = TURNS.join(FORECAST, FORECAST.c.turn_id == TURN.c.id)
    query = select(func.count()).select_from(joined).where(ENTRANT.c.name == agent)
    return connection.execute(query.where(FORECAST.c.stage == "final")).scalar_one()


def read_rounds(connection: Connection) -> dict[int, list[StoredRound]]:
    """The rounds of every cohort that have begun, oldest first, by the id of the cohort."""
    found: dict[int, list[StoredRound]] = defaultdict(list)
    for row in connection.execute(select(ROUND).order_by(ROUND.c.cohort_id, ROUND.c.number)):
        round = StoredRound(row.id, row.number, row.at, row.snapshot_id, bool(row.done))
        found[row.cohort_id].append(round)
    return dict(found)
