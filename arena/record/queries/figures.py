"""A few figures of an arena that runs: what it spent today, and what it holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam, func, select

from arena.record.schema.tables import CALL, MARK, SNAPSHOT
from arena.record.write.spending import COST

IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)


@dataclass(frozen=True, slots=True)
class Figures:
    """What calls cost since an instant, in millionths of a dollar; how many positions are open, and stale."""

    spent: int = 0
    positions: int = 0
    stale: int = 0


def spent_since(connection: Connection, since: datetime) -> int:
    """What calls cost since then, at their worst where that is not known."""
    whole = select(func.coalesce(func.sum(COST), 0)).where(CALL.c.made_at >= since)
    return int(connection.execute(whole).scalar_one())


LAST = (
    select(func.max(SNAPSHOT.c.at).label("at"), SNAPSHOT.c.cohort_id)
    .where(SNAPSHOT.c.cohort_id.in_(IDS))
    .group_by(SNAPSHOT.c.cohort_id)
    .subquery()
)
NEWEST = (SNAPSHOT.c.cohort_id == LAST.c.cohort_id) & (SNAPSHOT.c.at == LAST.c.at)
LATEST = SNAPSHOT.join(LAST, NEWEST).join(
    MARK, (MARK.c.at == SNAPSHOT.c.at) & (MARK.c.snapshot_id == SNAPSHOT.c.id)
)
STALE = select(func.coalesce(func.sum(MARK.c.stale), 0)).select_from(LATEST)


def stale_positions(connection: Connection, cohort_ids: Sequence[int]) -> int:
    """How many positions of these cohorts had a stale price when they were last marked."""
    return int(connection.execute(STALE, {"ids": cohort_ids}).scalar_one())
