"""Venue data that could not be used: kept beside the facts, so that people see what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection
from sqlmodel import case

from arena.record.schema.statements import new_rows
from arena.record.schema.typed import col, read_objects, select_fields
from arena.record.schema.world import QuarantineRow
from markets.venue import QuarantinedRecord

MOST_CHARACTERS = 2_000
"""How much of each text is kept."""
KEY = ("venue", "record", "kind", "code")


@dataclass(frozen=True, slots=True)
class StoredQuarantine:
    """A record that was quarantined for a reason: since when, last when, and how often."""

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
    """Add the records quarantined at an instant; count known ones again, with the newest reason."""
    if not items:
        return

    rows = []
    for item in items:
        texts = {name: _stored_text(getattr(item, name)) for name in (*KEY, "reason", "raw")}
        rows.append(texts | {"first_seen_at": at, "last_seen_at": at, "times": 1})

    insert = new_rows(QuarantineRow)
    stored = QuarantineRow.__table__.c
    is_stale = stored.last_seen_at > insert.excluded.last_seen_at
    changes = {
        "reason": insert.excluded.reason,
        "raw": insert.excluded.raw,
        "last_seen_at": case((is_stale, stored.last_seen_at), else_=insert.excluded.last_seen_at),
        "times": stored.times + 1,
    }
    connection.execute(insert.on_conflict_do_update(index_elements=KEY, set_=changes), rows)


def read_quarantine(
    connection: Connection, venue: str | None = None, kind: str | None = None, limit: int | None = None
) -> list[StoredQuarantine]:
    """Return the quarantined records, newest first."""
    query = select_fields(StoredQuarantine, QuarantineRow)
    if venue is not None:
        query = query.where(QuarantineRow.venue == venue)
    if kind is not None:
        query = query.where(QuarantineRow.kind == kind)
    query = query.order_by(col(QuarantineRow.last_seen_at).desc(), col(QuarantineRow.id).desc())
    return read_objects(StoredQuarantine, connection.execute(query.limit(limit)))


def _stored_text(text: str) -> str:
    """Return a text cut to the stored length, without characters that a database refuses."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", "?")
