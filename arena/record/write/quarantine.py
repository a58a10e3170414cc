"""What venues sent in vain: kept beside the facts, so that a person can see what is missing and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, case, select
from sqlalchemy.dialects import postgresql, sqlite

from arena.record.schema.tables import SET_ASIDE
from markets.venue import QuarantinedRecord

MOST_CHARACTERS = 2_000
"""How much of each text is kept."""
KEY = ("venue", "record", "kind", "code")
FIELDS = (*KEY, "reason", "raw", "first_seen_at", "last_seen_at", "times")


@dataclass(frozen=True, slots=True)
class StoredQuarantine:
    """A record that was set aside for a reason: since when, last when, and how often."""

    venue: str
    record: str
    kind: str
    code: str
    reason: str
    raw: str
    first_seen_at: datetime
    last_seen_at: datetime
    times: int


def quarantine_records(connection: Connection, items: Sequence[QuarantinedRecord], at: datetime) -> None:
    """What was set aside at an instant: a new row, or one more time what is known with the newest words."""
    if not items:
        return
    rows = [
        {name: _stored_text(getattr(item, name)) for name in (*KEY, "reason", "raw")}
        | {"first_seen_at": at, "last_seen_at": at, "times": 1}
        for item in items
    ]
    add = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(SET_ASIDE)
    known, told = SET_ASIDE.c, add.excluded
    changes = {
        "reason": told.reason,
        "raw": told.raw,
        "last_seen_at": case(
            (known.last_seen_at > told.last_seen_at, known.last_seen_at), else_=told.last_seen_at
        ),
        "times": known.times + 1,
    }
    connection.execute(add.on_conflict_do_update(index_elements=KEY, set_=changes), rows)


def read_quarantine(
    connection: Connection, venue: str | None = None, kind: str | None = None, limit: int | None = None
) -> list[StoredQuarantine]:
    """What was set aside, newest first."""
    rows = select(*(SET_ASIDE.c[name] for name in FIELDS))
    for column, wanted in ((SET_ASIDE.c.venue, venue), (SET_ASIDE.c.kind, kind)):
        rows = rows if wanted is None else rows.where(column == wanted)
    order = (SET_ASIDE.c.last_seen_at.desc(), SET_ASIDE.c.id.desc())
    return [StoredQuarantine(*row) for row in connection.execute(rows.order_by(*order).limit(limit))]


def _stored_text(text: str) -> str:
    """As much of a text as is kept, without what no database takes."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", "?")
