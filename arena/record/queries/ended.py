"""How far a record has come: which ends are known since when, and how often its cohorts were looked at."""

from datetime import datetime

from sqlalchemy import Connection, func, select

from arena.record.schema.tables import CALL, COHORT, MARK, RESOLUTION, TURN

LEARNT = select(RESOLUTION.c.market_id, func.min(RESOLUTION.c.learnt_at)).group_by(RESOLUTION.c.market_id)


def read_learnt(connection: Connection) -> dict[str, datetime]:
    """When each market's first end was learnt; later versions correct it."""
    return {row.market_id: row[1] for row in connection.execute(LEARNT)}


def is_over(connection: Connection, cohort: int) -> bool:
    """Whether a cohort has ended, so that its accounts stay as they are."""
    return connection.scalar(select(COHORT.c.ended_at).where(COHORT.c.number == cohort)) is not None


LOOKS = select(
    select(func.max(TURN.c.id)).scalar_subquery(),
    select(func.count()).where(TURN.c.verdict == "failed").scalar_subquery(),
    select(func.max(MARK.c.at)).scalar_subquery(),
    select(func.max(CALL.c.id)).scalar_subquery(),
)


def count_looks(connection: Connection) -> str:
    """How far turns, calls and marks have come: it changes with what accounts are worth and have cost."""
    turn, failed, mark, call = connection.execute(LOOKS).one()
    return f"turn {turn}, {failed} failed, call {call}, marked {mark}"
