"""The cost and usage of calls, as sums over calls and turns."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, text

from agents.model import DECIDED_STATUSES
from arena.record.queries.cohorts import ROUND_COLUMNS, StoredRound
from arena.record.schema.cohort import EntrantRow, RoundRow
from arena.record.schema.database_errors import sqlite_path
from arena.record.schema.dialects import is_postgresql
from arena.record.schema.newest import PLAYED_SETTINGS
from arena.record.schema.turn import CallRow, TurnRow
from arena.record.schema.typed import clause, col, count, read_objects_by_key, select, total
from arena.record.write.reservations import COST

CALL_TOTALS: dict[str, Any] = {
    "calls": func.count(),
    "tokens_in": total(CallRow.tokens_in),
    "tokens_out": total(CallRow.tokens_out),
    "cost": total(CallRow.cost),
    "unknown": func.count() - count(CallRow.cost),
}
"""Sums over calls by the names of the fields for them; the cost is of those calls whose cost is known."""


def read_rounds_by_cohort(connection: Connection) -> dict[int, list[StoredRound]]:
    """Return the rounds of every cohort that have begun, oldest first, by the id of the cohort."""
    query = select(RoundRow.cohort_id, *ROUND_COLUMNS).order_by(RoundRow.cohort_id, RoundRow.number)
    return read_objects_by_key(StoredRound, connection.execute(query))


def read_spent_since(connection: Connection, since: datetime) -> int:
    """Return the cost of calls since an instant, counting unknown costs at their worst."""
    return connection.execute(select(total(COST)).where(CallRow.made_at >= since)).scalar_one()


RECENT_TURNS = 40


@dataclass(frozen=True, slots=True)
class RecentUsage:
    """What so many of an agent's newest turns used in all (money at worst, where it is unknown)."""

    turns: int
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0


def read_recent_usage(connection: Connection, agent: str, model: str) -> RecentUsage:
    """Return the usage of the newest turns in which an agent asked this model and decided."""
    entrant_ids = []
    entrants = select(EntrantRow.id, PLAYED_SETTINGS).where(EntrantRow.name == agent)
    for entrant_id, settings in connection.execute(entrants):
        if json.loads(settings).get("model") == model:
            entrant_ids.append(entrant_id)

    query = (
        select(count(CallRow.id), total(CallRow.tokens_in), total(CallRow.tokens_out), total(COST))
        .join(TurnRow, clause(TurnRow.entrant_id == CallRow.entrant_id))
        .where(TurnRow.round_id == CallRow.round_id, col(TurnRow.status).in_(DECIDED_STATUSES))
        .where(col(CallRow.entrant_id).in_(entrant_ids))
        .group_by(CallRow.round_id, CallRow.entrant_id)
        .order_by(func.max(CallRow.made_at).desc())
    )
    turns = connection.execute(query.limit(RECENT_TURNS)).all()
    sums = [sum(column) for column in zip(*turns, strict=True)]
    return RecentUsage(len(turns), *sums)


def record_size(connection: Connection) -> int:
    """Return the size of the record in bytes, including SQLite's log."""
    if is_postgresql(connection):
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())

    size = 0
    path = sqlite_path(connection.engine.url)
    if path:
        for file in (Path(path), Path(f"{path}-wal")):
            if file.exists():
                size += file.stat().st_size
    return size
