"""How far a record was verified, kept beside its file so that the next time goes on from there.

That of a server's record is kept beside the config. It is worth nothing for another file or database, once
the head is gone, and once the version of the schema is another, as it is after any trigger was taken away.

It saves time and is no proof: whoever writes into SQLite's own tables (`writable_schema`), is a superuser of
PostgreSQL or forges the note changes what was verified before unseen, and `--all` alone finds that.
"""

import json
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, bindparam, exists, func
from sqlalchemy.exc import DBAPIError

from arena.record.schema.chain import HeadRow
from arena.record.schema.cohort import CohortRow, RoundRow, SnapshotRow
from arena.record.schema.database_errors import sqlite_path
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.scores import RollupRow
from arena.record.schema.turn import CallRow
from arena.record.schema.typed import col, select
from arena.record.schema.world import BenchmarkFileRow, MarketVersionRow, PruneRow, QuoteRow, ResolutionRow
from arena.verify.checks.heads import COVERED, count_rows, listed_sums
from arena.verify.hashes import hash_of
from arena.verify.reader import NOTHING_VERIFIED, RecordReader, VerifiedHead

NUMBERED = (
    BenchmarkFileRow, CohortRow, EntryRow, CallRow, MarketVersionRow, PruneRow, QuoteRow, ResolutionRow,
)  # fmt: skip
LAST = select(HeadRow.number, HeadRow.hash).order_by(col(HeadRow.number).desc()).limit(1)
OPEN_ROUNDS = select(func.min(RoundRow.id), func.min(RoundRow.snapshot_id), func.min(RoundRow.at)).where(
    RoundRow.done == 0
)
TRIGGERS = """
    SELECT md5(string_agg(concat_ws(' ', oid, xmin, tgenabled), ',' ORDER BY oid))
    FROM pg_trigger WHERE NOT tgisinternal"""
"""A text that is another once a trigger was made, taken away, or put out of work for a while."""
ITS_MARKS = select(1).where(MarkRow.at == SnapshotRow.at, MarkRow.snapshot_id == SnapshotRow.id)
UNMARKED = select(func.min(SnapshotRow.id)).where(SnapshotRow.id > bindparam("after"), ~exists(ITS_MARKS))


def read_verified(connection: Connection, config: Path) -> VerifiedHead:
    """How far this record was verified; nothing of it, where that isn't known."""
    try:
        noted = VerifiedHead(**json.loads(_note(connection, config).read_text("utf-8")))
        if noted.whole_at is not None:
            datetime.fromisoformat(noted.whole_at)
        head_hash = connection.scalar(select(HeadRow.hash).where(HeadRow.number == noted.number))
    except (OSError, ValueError, TypeError, DBAPIError):
        return NOTHING_VERIFIED
    is_same = noted.file == _identity(connection) and head_hash is not None and head_hash == noted.hash
    return noted if is_same else NOTHING_VERIFIED


def keep_verified(
    connection: Connection, config: Path, read_at: datetime, before: VerifiedHead = NOTHING_VERIFIED
) -> None:
    """Note that all of a record was verified as it is now, read at an instant, and what of it `before`."""
    note, last = _note(connection, config), next(iter(connection.execute(LAST)), None)
    if last is None:
        return
    ids = {row.__tablename__: connection.scalar(select(func.max(row.id))) or 0 for row in NUMBERED}
    round_id, look, at = next(iter(connection.execute(OPEN_ROUNDS)))
    unmarked = connection.scalar(UNMARKED, {"after": before.ids.get(SnapshotRow.__tablename__, 0)})
    entry = connection.scalar(select(func.min(EntryRow.id)).where(EntryRow.at >= at)) if round_id else None
    for row, first in ((RoundRow, (round_id,)), (SnapshotRow, (look, unmarked)), (EntryRow, (entry,))):
        newest = connection.scalar(select(func.max(row.id))) or 0
        ids[row.__tablename__] = min([newest, *(x - 1 for x in first if x is not None)])
    kept = connection.execute(select(RollupRow.name, RollupRow.body))
    caches = {name: hash_of(body) for name, body in kept}
    facts = RecordReader(connection, lambda _: None)
    rows = {row.__tablename__: connection.scalar(select(func.max(row.id))) or 0 for row in COVERED}
    counts, sums = count_rows(facts, rows), listed_sums(facts)
    passed_over = {row.__table__: row for row in (*NUMBERED, *COVERED)}.values()
    count = sum(connection.scalar(select(func.count()).select_from(row)) or 0 for row in passed_over)
    whole_at = before.whole_at if before.number else read_at.isoformat()
    found = VerifiedHead(*last, _identity(connection), ids, caches, rows, counts, sums, count, whole_at)
    with suppress(OSError):  # a folder that may only be read: then everything is verified the next time
        note.write_text(json.dumps(asdict(found)), "utf-8")


def _note(connection: Connection, config: Path) -> Path:
    """Where it is noted: beside the record's file, or beside the config where a server has the record."""
    is_file = connection.dialect.name == "sqlite"
    return Path(f"{sqlite_path(connection.engine.url) if is_file else config}.verified")


def _identity(connection: Connection) -> str:
    """Which file or database it is, and how often its schema was touched."""
    if connection.dialect.name == "postgresql":
        url = connection.engine.url
        return f"{url.host}:{url.port}/{url.database}:{connection.exec_driver_sql(TRIGGERS).scalar()}"
    state = Path(sqlite_path(connection.engine.url)).stat()
    return f"{state.st_dev}:{state.st_ino}:{connection.exec_driver_sql('PRAGMA schema_version').scalar()}"
