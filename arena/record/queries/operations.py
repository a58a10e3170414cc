"""How an arena stands: how turns ended, what was spent lately, and how many positions are open and stale."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func

from arena.record.schema.cohort import SnapshotRow
from arena.record.schema.ledger import MarkRow
from arena.record.schema.turn import TurnRow
from arena.record.schema.typed import IDS, col, select, total


def count_turns(connection: Connection) -> dict[str, int]:
    """Return how all turns ended."""
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
