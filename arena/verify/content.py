"""What a record holds, once nothing in it contradicts something else: for backups and what is restored."""

from pathlib import Path

from sqlalchemy import Connection

from arena.errors import ArenaError
from arena.record.files.copy import ProgressCallback, no_progress
from arena.record.files.integrity import RETAKE_HINT, RecordContent, reporting_progress
from arena.record.hashes import state_hash
from arena.record.queries.cohorts import count_facts
from arena.record.schema.database import newest_schema_version
from arena.verify import find


def verified_content(
    connection: Connection, place: Path | str, progress: ProgressCallback = no_progress
) -> RecordContent:
    """What is in a record of the newest schema, once nothing in it contradicts something else."""
    with reporting_progress(connection, "verifying", progress):
        found = find(connection, most=1, unpaid=False)
    if found.count:
        count, first = "one place" if found.count == 1 else f"{found.count:,} places", found.listed[0]
        message = f"{place} is inconsistent in {count}, first {first.table} {first.key}"
        raise ArenaError("differs", message, f"arena admin verify lists them; else {RETAKE_HINT}")
    with reporting_progress(connection, "hashing", progress):
        return RecordContent(newest_schema_version(), state_hash(connection), count_facts(connection))
