"""What the page of operations asks of the record beside how the arena stands."""

from dataclasses import dataclass
from datetime import datetime

from arena.budget import midnight
from arena.clock import now
from arena.incidents import Told
from arena.store.aside import StoredAside, read_aside
from arena.store.database import version_of
from arena.store.frame import Connection
from arena.store.incidents import recent
from arena.store.workings import FailedTurn, Spender, read_daily, read_failed, read_spenders, size_of
from dashboard.source import Source, ask, cached

FAILED = 40
INCIDENTS = 30
ASIDES = 200
DAYS = 30
"""How many of the newest are shown."""


@dataclass(frozen=True, slots=True)
class Workings:
    """How an arena works; `daily` is what calls cost on each of the last days."""

    failed: tuple[FailedTurn, ...]
    spenders: tuple[Spender, ...]
    daily: tuple[tuple[datetime, int], ...]
    incidents: tuple[Told, ...]
    size: int
    schema: str


@cached
def workings(record: Source) -> Workings:
    """All that the page says but what was set aside."""
    return ask(record, lambda connection: _read(connection, now()))


@cached
def set_aside(record: Source, kind: str | None) -> tuple[StoredAside, ...]:
    """What venues sent in vain, the newest first."""
    return ask(record, lambda connection: tuple(read_aside(connection, kind=kind, limit=ASIDES)))


def _read(connection: Connection, at: datetime) -> Workings:
    return Workings(
        failed=tuple(read_failed(connection, FAILED, ("failed", "malformed"))),
        spenders=tuple(read_spenders(connection)),
        daily=tuple(read_daily(connection, midnight(at), DAYS)),
        incidents=tuple(recent(connection, INCIDENTS)),
        size=size_of(connection),
        schema=version_of(connection) or "",
    )
