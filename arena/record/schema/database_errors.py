"""The errors of databases, in plain words."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import Engine, event
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import OperationalError

from arena.errors import ArenaError

FULL = ("disk_full", "the disk is full: cannot write {}", "free some space; nothing is lost")
NO_ROOM = 1_000_000
"""Bytes on a disk below which a failure of it means that it is full: SQLite says so only of some writes."""
SUSPENDED = "the process was suspended; what was begun is undone, and it may be tried again"
NO_RIGHT = ("read_only", "{} can't be changed by this user", "name a user who may, or let `arena run` do it")
PERMISSIONS = "check the permissions of the file and its folder"
RACE = (
    "raced",
    "another process wrote to {} at the same time",
    "start it again to play what is missing",
)
WRITABLE = "check that it is a file and that you may write there"
KNOWN_ERRORS = {
    "unable to open database file": ("cannot_open", "{} can't be opened", WRITABLE),
    "is not a database": ("not_a_record", "{} is not a record", "name another file with --database"),
    "disk image is malformed": ("damaged", "{} is damaged", "restore a backup"),
    "malformed database schema": ("damaged", "{} is damaged", "restore a backup"),
    "readonly database": ("read_only", "{} can only be read", PERMISSIONS),
    "permission denied for": NO_RIGHT,
    "must be owner of": NO_RIGHT,
    "in a read-only transaction": NO_RIGHT,
    "database is locked": ("locked", "{} is in use by another process", "try again when it has finished"),
    "disk I/O error": ("disk_error", "the disk failed at {}", "check its free space, then try again"),
    "disk is full": FULL,
    "No space left": FULL,
    # Not what the driver calls an end of the connection, though both are.
    "idle-in-transaction timeout": (
        "unreachable",
        "{} has closed a connection that was idle in the middle of a change",
        SUSPENDED,
    ),
    "transaction timeout": ("unreachable", "{} has ended a change that took too long", SUSPENDED),
    "UNIQUE constraint failed": RACE,
    "duplicate key value": RACE,
}
"""By part of what the driver says: our code for it, what has happened, and a hint."""
CODES = frozenset({"unreachable", *(code for code, _, _ in KNOWN_ERRORS.values())})
"""The codes of errors of the database, not of what is in it."""


def record_name(url: URL) -> str:
    """Return the name of a record in messages: its path, or its address without the password.

    >>> record_name(URL.create("postgresql", "ann", "secret", "host", database="arena"))
    'postgresql://ann:***@host/arena'
    """
    return url.set(query={}).render_as_string() if url.host else sqlite_path(url) or "memory"


def sqlite_path(url: URL) -> str:
    """Return the path of a SQLite file, also if it is opened read-only by a URI.

    >>> sqlite_path(URL.create("sqlite", database="50%.db"))
    '50%.db'
    >>> sqlite_path(URL.create("sqlite", database="file:/a%20b.db", query={"uri": "true"}))
    '/a b.db'
    """
    database = url.database or ""
    return unquote(database.removeprefix("file:")) if "uri" in url.query else database


def translate_errors(engine: Engine, url: URL) -> None:
    """Turn the driver's errors that a user can fix into our own, which name the record."""

    @event.listens_for(engine, "handle_error")
    def translate(context: ExceptionContext) -> None:
        driver_message = str(context.original_exception)
        name = record_name(url)
        own_error = _translated_error(driver_message, name)
        if own_error is not None:
            raise own_error from context.original_exception

        # The connection to a server was never made, or is lost.
        is_cut_off = context.connection is None or context.is_disconnect
        is_operational = isinstance(context.sqlalchemy_exception, OperationalError)
        if context.dialect.name != "sqlite" and is_cut_off and is_operational:
            message = f"{name} can't be reached: {_reason_without_password(driver_message, url)}"
            hint = "check that the server is running, and the address, user and password"
            raise ArenaError("unreachable", message, hint) from None  # the cause may hold the password


def _translated_error(driver_message: str, name: str) -> ArenaError | None:
    """Return our own error for a driver's, if it is known."""
    for part, (code, message, hint) in KNOWN_ERRORS.items():
        if part in driver_message:
            if code == "disk_error" and _has_no_room(name):
                return _translated_error("disk is full", name)
            return ArenaError(code, message.format(name), hint, 2 if code == "raced" else 1)
    return None


def _has_no_room(path: str) -> bool:
    """Return whether the disk of a file is full."""
    try:
        return shutil.disk_usage(Path(path).absolute().parent).free < NO_ROOM
    except OSError:
        return False


@contextmanager
def translated_driver_errors(url: URL) -> Iterator[None]:
    """Translate the errors of statements that go to the driver of SQLite itself."""
    try:
        yield
    except sqlite3.Error as error:
        own_error = _translated_error(str(error), record_name(url))
        if own_error is None:
            raise
        raise own_error from error


@contextmanager
def translated_file_errors(path: Path) -> Iterator[None]:
    """Translate errors of the driver or the system in work on a file without SQLAlchemy."""
    try:
        with translated_driver_errors(URL.create("sqlite", database=str(path))):
            yield
    except OSError as error:
        message = f"{error.filename or path}: {error.strerror}"
        raise ArenaError("cannot_write", message, "check permissions and free space") from error


def _reason_without_password(driver_message: str, url: URL) -> str:
    """Return the first line of what the driver said, without the password."""
    reason = next(iter(driver_message.strip().splitlines()), "no reason given")
    for secret in filter(None, (url.password, url.query.get("password"))):
        reason = reason.replace(str(secret), "***")
    return reason
