"""What the page of operations asks of the record beside how the arena stands."""

from dataclasses import dataclass
from datetime import datetime

from arena.clock import now
from arena.record.model.budget import midnight
from arena.record.model.incident import Told
from arena.record.queries.frame import Connection
from arena.record.queries.workings import FailedTurn, Spender, read_daily, read_failed, read_spenders, size_of
from arena.record.schema.database import version_of
from arena.record.write.aside import StoredAside, read_aside
from arena.record.write.incidents import recent
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
    spenders: tuple[Spender, ...]
    daily: tuple[tuple[datetime, int], ...]
    incidents: tuple[Told, ...]
    size: int
    schema: str


@cached
def operations_page(record: RecordSource) -> OperationsPage:
    """All that the page says but what was set aside."""
    return ask(record, lambda connection: _read(connection, now()))


@cached
def rejected_data(record: RecordSource, kind: str | None) -> tuple[StoredAside, ...]:
    """What venues sent in vain, the newest first."""
    return ask(record, lambda connection: tuple(read_aside(connection, kind=kind, limit=REJECTED)))


def _read(connection: Connection, at: datetime) -> OperationsPage:
    return OperationsPage(
        failed=tuple(read_failed(connection, FAILED, ("failed", "malformed"))),
        spenders=tuple(read_spenders(connection)),
        daily=tuple(read_daily(connection, midnight(at), DAYS)),
        incidents=tuple(recent(connection, INCIDENTS)),
        size=size_of(connection),
        schema=version_of(connection) or "",
    )
