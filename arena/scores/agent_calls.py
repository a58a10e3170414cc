"""An agent's calls: their outcomes, models and latencies, and the number of forecasts they led to."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from arena.record.model.model_version import ReportedModel
from arena.record.queries.calls import CALL_TOTALS
from arena.record.schema.cohort import CohortRow, EntrantRow
from arena.record.schema.database import Connection
from arena.record.schema.turn import CallRow, ForecastRow, TurnRow
from arena.record.schema.typed import (
    AnySelect,
    clause,
    col,
    column_of,
    func,
    joined,
    read_objects,
    select,
    select_as,
)

AGENT_CALLS = joined(CallRow, EntrantRow)
IS_ANSWERED = (col(CallRow.error_code).is_(None), CallRow.model != "")


@dataclass(frozen=True, slots=True)
class CallOutcomes:
    """Calls of an agent with the same outcome: on the same rung, with the same error or an answer.

    `cost` covers calls whose cost is known; that of `unknown` calls isn't.
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
    """A model as the provider reports it, the number of its answers, and the first and last of them."""

    name: str
    model: str
    fingerprint: str
    answers: int
    first_at: datetime
    last_at: datetime


@cache
def _model_changes_query() -> AnySelect:
    """Return the query for the answers that changed an agent's reported model or fingerprint."""
    by_agent_in_time: dict[str, Any] = {
        "partition_by": EntrantRow.name,
        "order_by": (CallRow.made_at, CallRow.id),
    }

    # `lag` gives the value of the answer before, which is NULL for an agent's first.
    last_model = func.lag(column_of(CallRow.model)).over(**by_agent_in_time).label("last_model")
    last_fingerprint = (
        func.lag(column_of(CallRow.fingerprint)).over(**by_agent_in_time).label("last_fingerprint")
    )

    answers = (
        select(EntrantRow.name, CallRow.model, CallRow.fingerprint, CallRow.made_at, CallRow.id)
        .add_columns(last_model, last_fingerprint)
        .select_from(AGENT_CALLS)
        .where(*IS_ANSWERED)
        .subquery()
    )

    answer = answers.c
    is_other_model = answer.model != answer.last_model
    is_other_fingerprint = answer.fingerprint != answer.last_fingerprint
    has_changed = clause(is_other_model | is_other_fingerprint)
    is_first = answer.last_model.is_(None)

    # The first answer of an agent is a change, too.
    return (
        select_as(name=answer.name, model=answer.model, fingerprint=answer.fingerprint, at=answer.made_at)
        .where(has_changed | is_first)
        .order_by(answer.made_at, answer.id)
    )


def read_reported_models(connection: Connection) -> list[ReportedModel]:
    """Return the answers that changed an agent's reported model or fingerprint."""
    return read_objects(ReportedModel, connection.execute(_model_changes_query()))


def read_served_models(connection: Connection, agent: str | None = None) -> list[ServedModel]:
    """Return the models and fingerprints that answered under each name, in order of first answers."""
    keys = {"name": EntrantRow.name, "model": CallRow.model, "fingerprint": CallRow.fingerprint}
    first_at = func.min(CallRow.made_at)
    last_at = func.max(CallRow.made_at)
    query = (
        select_as(**keys, answers=func.count(), first_at=first_at, last_at=last_at)
        .select_from(AGENT_CALLS)
        .where(*IS_ANSWERED)
        .group_by(*keys.values())
        .order_by(first_at, *keys.values())
    )
    if agent is not None:
        query = query.where(EntrantRow.name == agent)
    return read_objects(ServedModel, connection.execute(query))


def read_call_outcomes(connection: Connection, agent: str) -> list[CallOutcomes]:
    """Return an agent's calls, summed by outcome."""
    outcome_columns = (CallRow.rung, CallRow.error_code)
    query = (
        select_as(rung=CallRow.rung, error=CallRow.error_code, **CALL_TOTALS)
        .select_from(AGENT_CALLS)
        .where(EntrantRow.name == agent)
        .group_by(*outcome_columns)
        .order_by(*outcome_columns)
    )
    return read_objects(CallOutcomes, connection.execute(query))


def read_latencies(connection: Connection, agent: str) -> list[int]:
    """Return the latency of each answer in milliseconds, in ascending order."""
    query = (
        select(CallRow.latency_ms)
        .select_from(AGENT_CALLS)
        .where(EntrantRow.name == agent, col(CallRow.error_code).is_(None))
        .order_by(CallRow.latency_ms)
    )
    return list(connection.scalars(query))


def count_forecasts(connection: Connection, agent: str) -> int:
    """Return the number of final probabilities that an agent has stated."""
    query = (
        select(func.count())
        .select_from(joined(ForecastRow, TurnRow, EntrantRow, CohortRow))
        .where(EntrantRow.name == agent, ForecastRow.stage == "final")
    )
    return connection.execute(query).scalar_one()
