"""What the page of operations asks of the record beside how the arena stands."""

from dataclasses import dataclass
from datetime import datetime

from arena.clock import now
from arena.record.model.incident import RecordedIncident
from arena.record.model.reservation import midnight
from arena.record.queries.calls import (
    AgentSpending,
    FailedTurn,
    read_agent_spending,
    read_daily_spending,
    read_failed_turns,
    record_size,
)
from arena.record.schema.database import Connection, schema_version
from arena.record.write.operations import read_recent_incidents
from arena.record.write.quarantine import StoredQuarantine, read_quarantine
from dashboard.source import RecordSource, ask, cached

FAILED = 40
INCIDENTS = 30
REJECTED = 200
DAYS = 30
"""How many of the newest are shown."""


@dataclass(frozen=True, slots=True)
class OperationsPage:
    """How an arena works; `daily` is what calls cost on each of the last days."""

    failed: tuple[FailedTurn, ...]
    spenders: tuple[AgentSpending, ...]
    daily: tuple[tuple[datetime, int], ...]
    incidents: tuple[RecordedIncident, ...]
    size: int
    schema: str


@cached
def operations_page(record: RecordSource) -> OperationsPage:
    """All that the page says but what was set aside."""
    return ask(record, lambda connection: _read(connection, now()))


@cached
def rejected_data(record: RecordSource, kind: str | None) -> tuple[StoredQuarantine, ...]:
    """Rejected venue data, the newest first."""
    return ask(record, lambda connection: tuple(read_quarantine(connection, kind=kind, limit=REJECTED)))


def _read(connection: Connection, at: datetime) -> OperationsPage:
    return OperationsPage(
        failed=tuple(
            read_failed_turns(connection, FAILED, ("failed", "late", "malformed", "declined", "partly"))
        ),
        spenders=tuple(read_agent_spending(connection)),
        daily=tuple(read_daily_spending(connection, midnight(at), DAYS)),
        incidents=tuple(read_recent_incidents(connection, INCIDENTS)),
        size=record_size(connection),
        schema=schema_version(connection) or "",
    )
