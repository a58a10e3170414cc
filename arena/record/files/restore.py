"""Restoring a record from a backup, or moving it to another database: verified, or not at all.

What was there before is moved aside, never lost.
"""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine

from arena.errors import ArenaError
from arena.record.files.backup import NAME_TIME, set_application_id
from arena.record.files.copy import (
    SQLITE_SUFFIXES,
    ProgressCallback,
    atomic_file,
    copy_rows,
    copy_to_file,
    is_empty,
    no_progress,
)
from arena.record.files.integrity import ContentCheck, RecordContent, check_pages, examine_file, naming_errors
from arena.record.hashes import state_hash
from arena.record.schema.database import (
    allow_long_change,
    connect,
    newest_schema_version,
    open_read_only,
    reading,
    record_file,
    upgrade,
)
from arena.record.schema.database_errors import record_name, translated_file_errors

DAMAGED_MESSAGES = ("not a database", "malformed")
"""What SQLite says of a file that nobody can be at: it is kept as it is."""
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EXDEV)


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What is in the record now, the version of the backup's schema, and where the former record is."""

    content: RecordContent
    schema: str
    aside: Path | None = None


def restore(
    file: Path,
    database: str,
    force: bool,
    at: datetime,
    check: ContentCheck,
    progress: ProgressCallback = no_progress,
) -> RestoreResult:
    """Restore the record from a backup, with the newest schema; the backup is not changed.

    It is put together and verified beside the record, and takes its place in one step. A record that is
    there is moved aside if `force` says so, and if no other process has it open. A server's database has
    to be empty.
    """
    target = record_file(database)
    if target is None:
        return _restore_to_server(file, database, check, progress)
    if target.exists():
        if file.exists() and target.samefile(file):
            raise ArenaError("same_file", f"{file} is the record itself", "name a backup of it")
        if not force:
            hint = "--force moves it aside and restores; --database names another"
            raise ArenaError("exists", f"{target} already has a record", hint)

    version = check_pages(file, progress)
    aside = None
    room = None
    if target.exists():
        aside = target.with_name(f"{target.stem}-until-{at:{NAME_TIME}}{target.suffix}")
        room = moving_aside(target, aside)

    with atomic_file(target, room=room) as part, naming_errors(part, str(file)):
        content = _upgraded_copy(file, part, version, check, progress)
    return RestoreResult(content, version, aside)


def _upgraded_copy(
    file: Path, copy: Path, version: str, check: ContentCheck, progress: ProgressCallback
) -> RecordContent:
    """Copy a record to another file, upgrade it to the newest schema and verify it there."""
    with open_read_only(str(file), older=True) as engine, reading(engine) as connection:
        copy_to_file(connection, copy, progress)
    set_application_id(copy, 0)
    if version != newest_schema_version():
        engine = connect(copy)
        upgrade(engine)
        engine.dispose()
    with open_read_only(str(copy)) as engine, reading(engine) as connection:
        return check(connection, copy, progress)


@contextmanager
def moving_aside(target: Path, aside: Path) -> Iterator[None]:
    """Give the record a second name, and lock it while the block runs."""
    if aside.exists():
        raise ArenaError("exists", f"{aside} already exists", "move it away")
    with (
        translated_file_errors(target),
        closing(sqlite3.connect(target, isolation_level=None, timeout=0)) as connection,
    ):
        _lock_record(connection)
        for suffix in SQLITE_SUFFIXES[1:]:
            side_file = target.with_name(target.name + suffix)
            if side_file.exists():
                side_file.rename(aside.with_name(aside.name + suffix))
        _link_or_rename(target, aside)
        yield


def _lock_record(connection: sqlite3.Connection) -> None:
    """Lock the record against all other processes, and checkpoint its log."""
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        if connection.execute("PRAGMA journal_mode").fetchone() != ("delete",):
            raise sqlite3.OperationalError("database is locked")  # somebody came between the two
    except sqlite3.OperationalError:
        raise  # somebody is at it
    except sqlite3.DatabaseError as error:
        if not any(words in str(error) for words in DAMAGED_MESSAGES):
            raise


def _link_or_rename(target: Path, aside: Path) -> None:
    """Link a file under a second name, so that the first always exists; rename it if links don't work."""
    try:
        aside.hardlink_to(target)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        target.rename(aside)


def _restore_to_server(
    file: Path, database: str, check: ContentCheck, progress: ProgressCallback
) -> RestoreResult:
    version = check_pages(file, progress)
    if version != newest_schema_version():
        message = f"{file} was written by an older arena (schema {version})"
        hint = (
            f"arena admin restore {file} --database NEW.db upgrades it; then arena admin backup URL moves it"
        )
        raise ArenaError("older_record", message, hint)
    with open_read_only(str(file)) as source:
        return RestoreResult(move_record(source, database, check, progress), version)


def move_record(
    source: Engine, to: str, check: ContentCheck, progress: ProgressCallback = no_progress
) -> RecordContent:
    """Copy a record to a new file or a server's empty database, without changing the record."""
    file = record_file(to)
    if file is not None:
        return _move_to_file(source, file, check, progress)
    target = connect(to)
    try:
        return _move_to_server(source, target, check, progress)
    finally:
        target.dispose()


def _move_to_file(
    source: Engine, path: Path, check: ContentCheck, progress: ProgressCallback
) -> RecordContent:
    if path.exists():
        raise ArenaError("exists", f"{path} already exists", "name another file, or move it")
    with atomic_file(path) as temporary:
        with reading(source) as connection:
            copy_to_file(connection, temporary, progress)
            source_hash = state_hash(connection)
        return _check_same_hash(source_hash, examine_file(temporary, check, progress), str(path))


def _move_to_server(
    source: Engine, target: Engine, check: ContentCheck, progress: ProgressCallback
) -> RecordContent:
    name = record_name(target.url)
    with target.connect() as checking:
        if not is_empty(checking):
            raise ArenaError("not_empty", f"{name} already holds a record", "name an empty database")
    upgrade(target)
    with reading(source) as source_connection, target.begin() as target_connection:
        allow_long_change(target_connection)
        copy_rows(source_connection, target_connection, progress)
        source_hash = state_hash(source_connection)
        return _check_same_hash(source_hash, check(target_connection, name, progress), name)


def _check_same_hash(source_hash: str, copied: RecordContent, name: str) -> RecordContent:
    if source_hash != copied.state_hash:
        message = f"the copy at {name} has the state hash {copied.state_hash}, not {source_hash}"
        raise ArenaError("differs", message, "the copy was deleted; please report this")
    return copied
