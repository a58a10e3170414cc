"""Checks that a file is a complete record and agrees with itself, without changing it.

The check of consistency is that of `arena.verify`, which callers pass in.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection

from arena.clock import timer
from arena.errors import ArenaError
from arena.record.files.copy import ProgressCallback, copy_to_file, no_progress
from arena.record.schema.database import (
    NoRecord,
    connect,
    newest_schema_version,
    open_read_only,
    reading,
    schema_version,
    upgrade,
)
from arena.record.schema.database_errors import translated_file_errors

MAGIC = b"SQLite format 3\0"
HEADER_LENGTH = 100
STEPS_BETWEEN_CALLS = 100_000
"""Steps of SQLite's machine between two looks up from work: some milliseconds."""
LONGEST_LOOK = 0.25
"""Seconds that a look at the pages of a file takes at most."""
STEPS_BETWEEN_LOOKS = 1_000
RETAKE_HINT = "take another backup: arena admin restore FILE"


@dataclass(frozen=True, slots=True)
class RecordContent:
    """What a record holds: the version of its schema, its state hash, how much is in it."""

    schema: str
    state_hash: str
    counts: dict[str, int]


ContentCheck = Callable[[Connection, Path | str, ProgressCallback], RecordContent]
"""Says what is in a record of the newest schema, once nothing in it contradicts something else."""


def examine_file(path: Path, check: ContentCheck, progress: ProgressCallback = no_progress) -> RecordContent:
    """Return the content of a file; raise `ArenaError` unless it is a complete and consistent record.

    One of an older schema is brought to the newest in a scratch copy: so it is known that this works too.
    """
    version = check_pages(path, progress)
    with open_read_only(str(path), older=True) as engine, reading(engine) as connection:
        if version == newest_schema_version():
            return check(connection, path, progress)
        return replace(_check_upgraded(connection, path, check, progress), schema=version)


def check_pages(path: Path, progress: ProgressCallback) -> str:
    """Return a file's schema version; raise `ArenaError` unless it is a record with undamaged pages."""
    _check_size(path)
    try:
        with open_read_only(str(path), older=True) as engine, reading(engine) as connection:
            version = schema_version(connection)
            with reporting_progress(connection, "checking", progress):
                problems = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    except NoRecord as error:
        raise _not_a_record(path) from error
    except UnicodeDecodeError as error:
        raise ArenaError("damaged", f"{path} is damaged: its schema is not text", RETAKE_HINT) from error
    if problems != ["ok"] or version is None:
        raise ArenaError("damaged", f"{path} is damaged: {problems[0]}", RETAKE_HINT)
    return version


def find_damage(connection: Connection) -> str:
    """Return the damage that a short check of a file's pages finds; empty for a server.

    All pages of some 50 MB are read in that time, and the first tables of a larger file.
    """
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        return ""

    ends_at = timer() + LONGEST_LOOK
    driver.set_progress_handler(lambda: timer() > ends_at, STEPS_BETWEEN_LOOKS)
    try:
        problems = [row[0] for row in driver.execute("PRAGMA quick_check(1)")]
    except sqlite3.OperationalError:
        return ""  # the time was over, or another process has the file: the queries that follow say so
    except sqlite3.DatabaseError as error:
        return str(error)
    finally:
        driver.set_progress_handler(None, 0)
    return "" if problems == ["ok"] else problems[0].splitlines()[-1]


@contextmanager
def reporting_progress(connection: Connection, stage: str, progress: ProgressCallback) -> Iterator[None]:
    """Report progress of a stage, in a file repeatedly; an exception raised there ends the work at once."""
    progress(stage, 0, None)
    driver = connection.connection.driver_connection
    raised_errors = list[BaseException]()
    if not isinstance(driver, sqlite3.Connection):
        yield
        return

    def report() -> bool:
        try:
            if not raised_errors:
                progress(stage, 0, None)
        except BaseException as error:  # noqa: BLE001 - a key press too; it is raised below
            raised_errors.append(error)
        return bool(raised_errors)

    # SQLite breaks off the statement once the handler returns True, with an error of its own.
    driver.set_progress_handler(report, STEPS_BETWEEN_CALLS)
    try:
        yield
    except Exception:
        if not raised_errors:
            raise
    finally:
        driver.set_progress_handler(None, STEPS_BETWEEN_CALLS)
    if raised_errors:
        raise raised_errors[0]


@contextmanager
def naming_errors(scratch: Path, original_name: str) -> Iterator[None]:
    """Name the original in errors about a scratch file, which users don't know."""
    try:
        yield
    except ArenaError as error:
        message = error.message.replace(str(scratch), original_name)
        raise ArenaError(error.code, message, error.hint, error.status) from error


def _check_upgraded(
    connection_to_older: Connection, path: Path, check: ContentCheck, progress: ProgressCallback
) -> RecordContent:
    scratch = path.with_name(f"{path.name}.scratch")
    try:
        copy_to_file(connection_to_older, scratch, progress)
        upgraded = connect(scratch)
        try:
            upgrade(upgraded)
            with reading(upgraded) as connection:
                return check(connection, path, progress)
        finally:
            upgraded.dispose()
    finally:
        scratch.unlink(missing_ok=True)


def _check_size(path: Path) -> None:
    """Raise `ArenaError` unless a SQLite file is as long as its header says; new pages may be in a log."""
    if not path.is_file():
        raise ArenaError("no_file", f"there is no file {path}", "name one of your backups")
    with translated_file_errors(path), closing(path.open("rb")) as file:
        header = file.read(HEADER_LENGTH)
    if not header or not MAGIC.startswith(header[: len(MAGIC)]):
        raise _not_a_record(path)

    # By SQLite's file format: the page size, of which 1 means 65,536, and the number of pages.
    page_size = int.from_bytes(header[16:18], "big")
    if page_size == 1:
        page_size = 65_536
    stated_length = int.from_bytes(header[28:32], "big") * page_size
    has_log = path.with_name(f"{path.name}-wal").exists()
    if len(header) < HEADER_LENGTH or (path.stat().st_size < stated_length and not has_log):
        raise ArenaError("damaged", f"{path} is truncated", RETAKE_HINT)


def _not_a_record(path: Path) -> ArenaError:
    return ArenaError("not_a_record", f"{path} is not a record", "name the record of an arena, or a backup")
