"""Queries of a benchmark's files."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func

from arena.record.model.benchmark import BenchmarkFile
from arena.record.schema.cohort import EntrantRow
from arena.record.schema.turn import CallRow, ForecastRow, TurnRow
from arena.record.schema.typed import IDS, col, read_objects, select, select_fields, total
from arena.record.schema.work import ReservationRow
from arena.record.schema.world import BenchmarkFileRow
from arena.record.write.benchmark import FILES

NEWEST = select(func.max(BenchmarkFileRow.id)).group_by(BenchmarkFileRow.kind, BenchmarkFileRow.name)


def newest_files(
    connection: Connection, kind: str, due_days: Collection[str] | None = None
) -> list[BenchmarkFile]:
    """Return the newest version of each file of a kind, oldest set first; only of sets due on some days."""
    query = FILES.where(BenchmarkFileRow.kind == kind, col(BenchmarkFileRow.id).in_(NEWEST))
    if due_days is not None:
        query = query.where(col(BenchmarkFileRow.due).in_(due_days))
    rows = connection.execute(query.order_by(BenchmarkFileRow.due, BenchmarkFileRow.name))
    return read_objects(BenchmarkFile, rows)


def read_file(connection: Connection, kind: str, name: str, version: int) -> BenchmarkFile:
    """Return one version of a file, which must exist."""
    query = FILES.where(BenchmarkFileRow.kind == kind, BenchmarkFileRow.name == name)
    [file] = read_objects(BenchmarkFile, connection.execute(query.where(BenchmarkFileRow.version == version)))
    return file


@dataclass(frozen=True, slots=True)
class AnswerUsage:
    """What an agent of a cohort has answered, and what its calls took.

    Where the cost of some is unknown, which a cut connection or a killed process leaves, they cost `at_worst`
    so much more.
    """

    agent: str
    status: str | None
    note: str | None
    forecasts: int
    calls: int
    answered: int
    tokens_in: int
    tokens_out: int
    unknown: int
    cost: int
    at_worst: int


CALLS_OF_AGENT = CallRow.entrant_id == EntrantRow.id
IS_ANSWERED = col(CallRow.error_code).is_(None)
IS_UNPRICED = col(CallRow.cost).is_(None)


def _aggregate_of_calls(aggregate: ColumnElement[Any], *conditions: Any) -> ColumnElement[Any]:
    """Return a figure over the agent's calls that meet some conditions."""
    return (
        select(aggregate).where(CALLS_OF_AGENT, *conditions).correlate(EntrantRow.__table__).scalar_subquery()
    )


def _aggregate_of_lost_calls(aggregate: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a figure over the agent's calls whose process ended while they were under way."""
    is_of_agent = ReservationRow.entrant_id == EntrantRow.id
    return select(aggregate).where(is_of_agent).correlate(EntrantRow.__table__).scalar_subquery()


FINAL_FORECASTS = (
    select(func.count())
    .where(ForecastRow.turn_id == TurnRow.id, ForecastRow.stage == "final")
    .correlate(TurnRow.__table__)
    .scalar_subquery()
)
UNPRICED_CALLS = _aggregate_of_calls(func.count(), IS_UNPRICED) + _aggregate_of_lost_calls(func.count())
WORST_COST = _aggregate_of_calls(total(CallRow.worst), IS_UNPRICED) + _aggregate_of_lost_calls(
    total(ReservationRow.worst)
)
ANSWER_USAGE = (
    select_fields(
        AnswerUsage,
        TurnRow,
        agent=EntrantRow.name,
        forecasts=FINAL_FORECASTS,
        calls=_aggregate_of_calls(func.count()),
        answered=_aggregate_of_calls(func.count(), IS_ANSWERED),
        tokens_in=_aggregate_of_calls(total(CallRow.tokens_in)),
        tokens_out=_aggregate_of_calls(total(CallRow.tokens_out)),
        unknown=UNPRICED_CALLS,
        cost=_aggregate_of_calls(total(CallRow.cost)),
        at_worst=WORST_COST,
    )
    .select_from(EntrantRow.__table__.outerjoin(TurnRow))
    .where(EntrantRow.cohort_id == bindparam("cohort_id"))
    .order_by(EntrantRow.position)
)


def read_answer_usage(connection: Connection, cohort_id: int) -> list[AnswerUsage]:
    """Return the usage of the agents of a cohort of one round, in line-up order."""
    return read_objects(AnswerUsage, connection.execute(ANSWER_USAGE, {"cohort_id": cohort_id}))


ANSWERED_CALLS = (
    select(func.count())
    .from_joined(CallRow, EntrantRow)
    .where(col(EntrantRow.cohort_id).in_(IDS), IS_ANSWERED)
)


def count_answered_calls(connection: Connection, cohort_ids: Sequence[int]) -> int:
    """Return how many calls of these cohorts were answered."""
    return int(connection.scalar(ANSWERED_CALLS, {"ids": cohort_ids}) or 0)
