"""Verification for those who keep records: backups and restores as a whole, the record itself in parts."""

from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection

from arena.errors import ArenaError
from arena.record.files.copy import ProgressCallback, no_progress
from arena.record.files.integrity import RETAKE_HINT, RecordContent, reporting_progress
from arena.record.hashes import state_hash
from arena.record.queries.cohorts import count_facts
from arena.record.schema.database import newest_schema_version
from arena.verify import Differences, find
from arena.verify.reader import PARTS, VerifiedHead
from arena.verify.verified import keep_verified, read_verified


def verified_content(
    connection: Connection, record_name: Path | str, progress: ProgressCallback = no_progress
) -> RecordContent:
    """Return the content of a record of the newest schema; raise `ArenaError` if it contradicts itself."""
    with reporting_progress(connection, "verifying", progress):
        differences = find(connection, most=1, unpaid=False)
    _raise_first_difference(differences, record_name, f"arena admin verify lists them; else {RETAKE_HINT}")
    with reporting_progress(connection, "hashing", progress):
        return RecordContent(newest_schema_version(), state_hash(connection), count_facts(connection))


def verify_next_part(
    connection: Connection,
    config: Path,
    record_name: str,
    at: datetime,
    progress: ProgressCallback = no_progress,
) -> VerifiedHead:
    """Verify what is new in a record and the next part of its older rows; return the new note.

    The first run reads everything; after as many runs as there are parts, every older row was read again.
    Raise `ArenaError` if something is wrong: nothing is noted then, and the next run reads the same rows
    again.
    """
    former = read_verified(connection, config)
    part = (former.part + 1) % PARTS if former.number else None
    with reporting_progress(connection, "verifying", progress):
        differences = find(connection, most=1, unpaid=False, verified=former, part=part)
    _raise_first_difference(differences, record_name, "arena admin verify --all lists them")
    return keep_verified(connection, config, at, former, part)


def _raise_first_difference(differences: Differences, record_name: Path | str, hint: str) -> None:
    """Raise an error that names the first difference, if there is one."""
    if not differences.count:
        return

    count = "one place" if differences.count == 1 else f"{differences.count:,} places"
    first = differences.listed[0]
    message = f"{record_name} is inconsistent in {count}, first {first.table} {first.key}"
    raise ArenaError("differs", message, hint)
