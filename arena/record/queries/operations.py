"""Figures of an arena: turns by status, recent spending, open and stale positions, and workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta

from sqlalchemy import Connection, func, text

from arena.record.model.status import WorkerSigns
from arena.record.schema.cohort import SnapshotRow
from arena.record.schema.dialects import is_postgresql
from arena.record.schema.ledger import MarkRow
from arena.record.schema.turn import TurnRow
from arena.record.schema.typed import IDS, col, select, total


def count_turns(connection: Connection) -> dict[str, int]:
    """Return the counts of all turns by status."""
    query = select(TurnRow.status, func.count()).group_by(TurnRow.status).order_by(TurnRow.status)
    return dict(connection.execute(query).all())


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What calls cost since an instant, in millionths of a dollar; how many positions are open, and stale."""

    spent: int = 0
    positions: int = 0
    stale: int = 0


LAST_SNAPSHOT_TIMES = (
    select(func.max(SnapshotRow.at).label("at"), SnapshotRow.cohort_id)
    .where(col(SnapshotRow.cohort_id).in_(IDS))
    .group_by(SnapshotRow.cohort_id)
    .subquery()
)
IS_LAST_SNAPSHOT = (SnapshotRow.cohort_id == LAST_SNAPSHOT_TIMES.c.cohort_id) & (
    SnapshotRow.at == LAST_SNAPSHOT_TIMES.c.at
)


def count_stale_positions(connection: Connection, cohort_ids: Sequence[int]) -> int:
    """Return how many positions of these cohorts had a stale price when they were last marked."""
    query = (
        select(total(MarkRow.stale))
        .join_from(SnapshotRow, LAST_SNAPSHOT_TIMES, IS_LAST_SNAPSHOT)
        .join(MarkRow, (MarkRow.at == SnapshotRow.at) & (MarkRow.snapshot_id == SnapshotRow.id))
    )
    return connection.execute(query, {"ids": cohort_ids}).scalar_one()


READ_WORKERS = """
    SELECT count(*) FILTER (WHERE is_silent) AS silent, count(*) FILTER (WHERE NOT is_silent) AS alive,
        min(last_heartbeat) FILTER (WHERE is_silent) AS silent_since,
        coalesce(sum(jobs) FILTER (WHERE is_silent), 0) AS jobs
    FROM (
        SELECT last_heartbeat,
            last_heartbeat < clock_timestamp() - make_interval(secs => :silence) AS is_silent,
            (SELECT count(*) FROM procrastinate_jobs WHERE worker_id = w.id AND status = 'doing') AS jobs
        FROM procrastinate_workers AS w
    ) AS signs"""
HAS_QUEUE = """
    SELECT count(*) FROM (VALUES ('procrastinate_workers'), ('procrastinate_jobs')) AS queue (name)
    WHERE to_regclass(name) IS NOT NULL AND has_table_privilege(to_regclass(name), 'SELECT')"""
SILENCE = timedelta(seconds=30)
"""After so long without a sign a worker counts as gone."""
GIVEN_UP = timedelta(seconds=60)
"""After so long its turns are played by others, or by `arena run` itself."""


def read_worker_signs(connection: Connection) -> WorkerSigns | None:
    """Return how many workers take turns, and of how many nothing was heard; None without a queue."""
    if not is_postgresql(connection) or connection.scalar(text(HAS_QUEUE)) != 2:
        return None

    row = connection.execute(text(READ_WORKERS), {"silence": SILENCE.total_seconds()}).one()
    if not row.silent:
        return WorkerSigns(row.alive)

    since = row.silent_since.astimezone(UTC)
    return WorkerSigns(row.alive, row.silent, since, int(row.jobs), since + GIVEN_UP)
