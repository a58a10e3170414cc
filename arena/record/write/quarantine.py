"""Venue data that could not be used: kept beside the facts, so that people see what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection
from sqlmodel import case

from arena.record.schema.statements import new_rows
from arena.record.schema.typed import col, columns_of, read_nouns, select
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
    """What was quarantined at an instant: a new row, or one more time what is known with the newest words."""
    if not items:
        return
    rows = [
        {name: _stored_text(getattr(item, name)) for name in (*KEY, "reason", "raw")}
        | {"first_seen_at": at, "last_seen_at": at, "times": 1}
        for item in items
    ]
    add, known = new_rows(QuarantineRow), QuarantineRow.__table__.c
    newest, seen_later = add.excluded, known.last_seen_at > add.excluded.last_seen_at
    changes = {
        "reason": newest.reason,
        "raw": newest.raw,
        "last_seen_at": case((seen_later, known.last_seen_at), else_=newest.last_seen_at),
        "times": known.times + 1,
    }
    connection.execute(add.on_conflict_do_update(index_elements=KEY, set_=changes), rows)


def read_quarantine(
    connection: Connection, venue: str | None = None, kind: str | None = None, limit: int | None = None
) -> list[StoredQuarantine]:
    """What was quarantined, newest first."""
    rows = select(*columns_of(QuarantineRow, StoredQuarantine.__dataclass_fields__))
    for column, wanted in ((QuarantineRow.venue, venue), (QuarantineRow.kind, kind)):
        rows = rows if wanted is None else rows.where(column == wanted)
    order = (col(QuarantineRow.last_seen_at).desc(), col(QuarantineRow.id).desc())
    return read_nouns(StoredQuarantine, connection.execute(rows.order_by(*order).limit(limit)))


def _stored_text(text: str) -> str:
    """As much of a text as is kept, without what no database takes."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", "?")
