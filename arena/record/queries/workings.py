"""What an operator looks at besides the status: turns that failed, who spent what, the size of it all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, case, func, or_, select, text

from arena.record.schema.tables import CALL, COHORT, ENTRANT, ROUND, TURN
from arena.record.schema.troubles import file_of
from arena.record.write.spending import COST

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class FailedTurn:
    """A turn without a usable answer: whose, when, and what the last call of it was told."""

    cohort: int
    round: int
    agent: str
    at: datetime
    verdict: str
    code: str | None
    message: str | None


LAST_CALL = (
    select(func.max(CALL.c.id))
    .where(CALL.c.round_id == TURN.c.round_id, CALL.c.entrant_id == TURN.c.entrant_id)
    .correlate(TURN)
    .scalar_subquery()
)
FAILED = (
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


def read_failed(connection: Connection, most: int, verdicts: Sequence[str] = ("failed",)) -> list[FailedTurn]:
    """The newest turns that ended so, of each verdict at most so many."""
    found = [
        FailedTurn(*row)
        for verdict in verdicts
        for row in connection.execute(FAILED.where(TURN.c.verdict == verdict).limit(most))
    ]
    return sorted(found, key=lambda turn: turn.at, reverse=True)[:most]


@dataclass(frozen=True, slots=True)
class Spender:
    """An agent in a cohort: how many calls were made for it, and what they cost (at worst, if unknown)."""

    cohort: int
    agent: str
    calls: int
    spent: int


NEWEST = select(func.max(COHORT.c.number)).scalar_subquery()
SPENDERS = (
    select(COHORT.c.number, ENTRANT.c.name, func.count(CALL.c.id), func.coalesce(func.sum(COST), 0))
    .select_from(
        COHORT.join(ENTRANT, ENTRANT.c.cohort_id == COHORT.c.id).join(CALL, CALL.c.entrant_id == ENTRANT.c.id)
    )
    .where(or_(COHORT.c.ended_at.is_(None), COHORT.c.number == NEWEST))
    .group_by(COHORT.c.number, ENTRANT.c.position, ENTRANT.c.name)
    .order_by(COHORT.c.number, ENTRANT.c.position)
)


def read_spenders(connection: Connection) -> list[Spender]:
    """Whose calls cost what in the cohorts that play, and in the newest."""
    rows = connection.execute(SPENDERS)
    return [Spender(cohort, agent, calls, int(spent)) for cohort, agent, calls, spent in rows]


def read_daily(connection: Connection, midnight: datetime, days: int) -> list[tuple[datetime, int]]:
    """What calls cost on each of so many days, the last of which begins at a midnight."""
    starts = [midnight - place * DAY for place in reversed(range(days))]
    sums = [func.coalesce(func.sum(case((_on(start), COST), else_=0)), 0) for start in starts]
    row = connection.execute(select(*sums).where(CALL.c.made_at >= starts[0])).one()
    return [(start, int(spent)) for start, spent in zip(starts, row, strict=True)]


def _on(start: datetime) -> ColumnElement[bool]:
    return (CALL.c.made_at >= start) & (CALL.c.made_at < start + DAY)


def size_of(connection: Connection) -> int:
    """How many bytes the record takes, with what is still in SQLite's log."""
    if connection.dialect.name == "postgresql":
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
    path = file_of(connection.engine.url)
    files = [Path(path + end) for end in ("", "-wal")] if path else []
    return sum(file.stat().st_size for file in files if file.exists())
