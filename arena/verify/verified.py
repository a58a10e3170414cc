"""The note of how far a record was verified, kept next to its file, from which the next run continues.

For a record on a server it is kept next to the config. The note is void for another file or database, once
its head is gone, and once the version of the schema changes, as it does when a trigger is removed.

It saves time and proves nothing: someone who writes into SQLite's own tables (`writable_schema`) or is a
superuser of PostgreSQL can change verified rows unseen until `--all` or the daily check reads them again. The
daily check takes the parts in turn, whatever the clock says. A forged note deceives it as it does `arena
admin verify`; only `--all` finds that.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from arena.record.schema.database_errors import sqlite_path
from arena.verify.reader import NOTHING_VERIFIED, PARTS, VerifiedHead
from markets.hashes import sha256, timestamp_text

NUMBERED = (
    "attempt", "benchmark_file", "call", "cohort", "entry", "market_version", "prune", "quote", "replacement",
    "resolution", "round", "snapshot", "tool_result",
)  # fmt: skip
"""Tables whose new rows are recognised by their ids."""
PASSED_OVER = (*NUMBERED, "fill", "forecast", "mark", "snapshot_item", "sync", "turn")
"""All tables whose verified rows are skipped."""
TRIGGERS = """
    SELECT md5(string_agg(concat_ws(' ', oid, xmin, tgenabled), ',' ORDER BY oid))
    FROM pg_trigger WHERE NOT tgisinternal"""
"""A text that changes when a trigger is created, dropped, or disabled, even for a while."""
UNFINISHED = {
    "round": "SELECT min(id) FROM round WHERE done = 0",
    "snapshot": """SELECT min(id) FROM snapshot WHERE id > :after AND NOT EXISTS (SELECT 1 FROM mark
        WHERE mark.at = snapshot.at AND mark.snapshot_id = snapshot.id)
        OR id IN (SELECT snapshot_id FROM round WHERE done = 0)""",
    "entry": "SELECT min(id) FROM entry WHERE at >= (SELECT min(at) FROM round WHERE done = 0)",
}
"""The first row of each table that may still change: rows from there on are verified again."""


def read_verified(connection: Connection, config: Path) -> VerifiedHead:
    """Return how far this record was verified; `NOTHING_VERIFIED` if that is unknown."""
    try:
        noted = VerifiedHead(**json.loads(_note_path(connection, config).read_text("utf-8")))
        times = list(map(datetime.fromisoformat, (noted.new_at, *noted.parts_at)))
        head_hash = _scalar(
            connection, "SELECT hash FROM head WHERE number = :number", {"number": noted.number}
        )
    except (OSError, ValueError, TypeError, DBAPIError):
        return NOTHING_VERIFIED

    is_of_this_record = (
        noted.file == _database_identity(connection) and head_hash is not None and head_hash == noted.hash
    )
    is_complete = len(times) == PARTS + 1 and noted.part in range(PARTS)
    return noted if is_of_this_record and is_complete else NOTHING_VERIFIED


def keep_verified(
    connection: Connection,
    config: Path,
    read_at: datetime,
    former: VerifiedHead = NOTHING_VERIFIED,
    part: int | None = None,
) -> VerifiedHead:
    """Note that a record was verified as it is now, and return the note; an empty one without a head.

    Rows new since `former` were read at `read_at`, and so was a `part` of the older rows; if nothing was
    verified before, all rows were.
    """
    number = _scalar(connection, "SELECT max(number) FROM head")
    if number is None:
        return NOTHING_VERIFIED

    ids = {table: _scalar(connection, f"SELECT max(id) FROM {table}") or 0 for table in NUMBERED}
    row_count = sum(_scalar(connection, f"SELECT count(*) FROM {table}") for table in PASSED_OVER)
    for table, query in UNFINISHED.items():
        parameters = {"after": former.ids.get(table, 0)} if ":after" in query else {}
        first_unfinished = _scalar(connection, query, parameters)
        if first_unfinished is not None:
            ids[table] = min(ids[table], first_unfinished - 1)

    read_at_text = timestamp_text(read_at)
    parts_at = list(former.parts_at) if former.number else [read_at_text] * PARTS
    if part is not None:
        parts_at[part] = read_at_text
    cached_values = connection.execute(text("SELECT name, body FROM rollup"))
    head_hash = _scalar(connection, "SELECT hash FROM head WHERE number = :number", {"number": number})
    note = VerifiedHead(
        number,
        head_hash,
        _database_identity(connection),
        ids,
        caches={name: sha256(body) for name, body in cached_values},
        rows=row_count,
        new_at=read_at_text,
        parts_at=parts_at,
        part=former.part if part is None else part,
    )
    with suppress(OSError):  # in a read-only folder, the next run verifies everything
        _note_path(connection, config).write_text(json.dumps(asdict(note)), "utf-8")
    return note


def _scalar(connection: Connection, query: str, parameters: Mapping[str, Any] | None = None) -> Any:
    return connection.execute(text(query), parameters).scalar()


def _note_path(connection: Connection, config: Path) -> Path:
    """Return the path of the note: next to the record's file, or next to the config for a server."""
    is_file = connection.dialect.name == "sqlite"
    return Path(f"{sqlite_path(connection.engine.url) if is_file else config}.verified")


def _database_identity(connection: Connection) -> str:
    """Return which file or database this is, with a value that changes with its schema."""
    if connection.dialect.name == "postgresql":
        url = connection.engine.url
        return f"{url.host}:{url.port}/{url.database}:{_scalar(connection, TRIGGERS)}"
    state = Path(sqlite_path(connection.engine.url)).stat()
    return f"{state.st_dev}:{state.st_ino}:{_scalar(connection, 'PRAGMA schema_version')}"
