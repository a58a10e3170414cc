"""Opening the record: SQLite in WAL mode, or PostgreSQL by URL."""

import logging
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from arena.errors import ArenaError
from arena.record.schema.database_errors import record_name, translate_errors
from arena.record.schema.dialects import is_postgresql
from arena.record.schema.statements import execute_sqlite

logger = logging.getLogger(__name__)

Connection = sqlalchemy.Connection
"""A record that is open for reading or writing: every query takes one."""
BUSY_MS = 30_000
LOCK_NOTICE_MS = 1_000
WAL_RETRY_MS = 10
READ_ONLY_OPTION = "looking"
DURABLE_OPTION = "durable"
"""Of a transaction that must outlive a power cut: for the others SQLite waits for the disk now and then."""
MIGRATIONS = Path(__file__).parents[1] / "migrations"
VERSION_TABLE = "alembic_version"
"""Where a database has the version of its schema."""
FORMER_VERSIONS = ("0001", "0002", "0003", "0004")
"""Those from before tables became classes, which nothing that was released has written."""
COLUMNS = {
    "sqlite": """
        SELECT t.name, c.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
        WHERE t.type = 'table'""",
    "postgresql": """
        SELECT c.relname, a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
        WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid) AND a.attnum > 0 AND NOT a.attisdropped""",
}
"""All columns of a database by their tables, whether or not they may be read."""
PLANTED = {
    "sqlite": """
        SELECT name, '', 'a view' FROM sqlite_master WHERE type = 'view'
        UNION ALL SELECT t.name, c.name, 'computed' FROM sqlite_master AS t
        JOIN pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' AND c.hidden > 1""",
    "postgresql": """
        SELECT relname, '', 'a view' FROM pg_class
        WHERE relkind IN ('v', 'm') AND pg_table_is_visible(oid)
        UNION ALL SELECT c.relname, a.attname, 'computed' FROM pg_attribute AS a
        JOIN pg_class AS c ON c.oid = a.attrelid
        WHERE a.attgenerated <> '' AND pg_table_is_visible(c.oid)""",
}
"""What shows other values than were written: views, and columns that are computed. No arena makes any."""
UPGRADE_LOCK = 0x6172656E61
"""The lock under which a server's schema is changed."""
TIMEOUTS = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
"""How long a server may say nothing, as its connections know it: 10 seconds at first, then about a minute."""
IDLE_WRITER_MS = 60_000
"""A writer that says nothing for so long within a transaction counts as suspended, and loses its locks. That
is less than a lease, or those who wait for them would miss their heartbeats; in a long change it is more."""
LIMIT_TRANSACTION = """SELECT set_config('transaction_timeout', '{}', true)
    WHERE current_setting('server_version_num')::int >= 170000"""
LONGEST_CHANGE = "30min"
"""So does one that is suspended halfway through many rows, which a server does not call idle."""
DRIVERS = ("sqlite+pysqlite", "postgresql+psycopg", "postgresql+psycopg2")


class NoRecord(ArenaError):
    """There is no record at that address."""

    def __init__(self, place: str):
        hint = "`arena run`, `arena run --round` and `arena demo` make one; --database names another"
        super().__init__("no_record", f"there is no record at {place}", hint)


class RecordReplaced(ArenaError):
    """The file that was opened is gone, or another one stands in its place: nothing more is done with it."""

    def __init__(self, place: str):
        hint = "put the file back, or start again with the present one"
        super().__init__("replaced", f"{place} was deleted, moved or replaced while it was in use", hint)


class OlderRecord(ArenaError):
    """The record is there, and of an older schema: opened for writing it is brought up to date."""

    def __init__(self, version: str):
        message = f"the record was written by an older arena (schema {version})"
        super().__init__("older_record", message, "`arena admin backup --upgrade` brings it up to date")


class FormerRecord(ArenaError):
    """The record is of an arena whose schema can't be brought up to date: it is carried over as files."""

    def __init__(self, schema: str, whose: str = "an earlier arena"):
        message = f"the record was written by {whose} (schema {schema}) and can't be read"
        hint = (
            "`arena share export X.zip` with its own version, then `arena admin restore X.zip` with this one"
        )
        super().__init__("former_record", message, hint)


class AlteredRecord(ArenaError):
    """Somebody has put something that shows other values in place of what an arena has made."""

    def __init__(self, name: str, what: str):
        message = f"{name} of the record is {what}: somebody has made it so, and no arena does"
        super().__init__("altered", message, "find out what changed the record, and restore a backup")


def url_of(database: str | Path) -> URL:
    """Return a database's URL from a URL or the path of a SQLite file.

    >>> url_of("arena.db").render_as_string(), url_of("50%?.db").database
    ('sqlite:///arena.db', '50%?.db')
    """
    text = str(database)
    if not text:
        raise _bad_database(text)
    try:
        return make_url(text) if "://" in text else URL.create("sqlite", database=text)
    except (ArgumentError, ValueError) as error:
        raise _bad_database(text) from error


def record_file(database: str | Path) -> Path | None:
    """Return the file of a record in SQLite, or None if the record is on a server."""
    url = url_of(database)
    return Path(url.database or "") if url.get_backend_name() == "sqlite" else None


def _bad_database(text: str) -> ArenaError:
    without_password = re.sub("//.*@", "//***@", text).partition("?")[0]  # a password may be in either part
    hint = "give the path of a file, or a URL such as postgresql+psycopg://user@host/name"
    return ArenaError("bad_database", f"{without_password!r} is not a database that can hold a record", hint)


def connect(database: str | Path, *, read_only: bool = False, older: bool = False) -> Engine:
    """Return an engine on the record. Writers take SQLite's write lock as they begin, so no update is lost.

    One that may only read wants the newest schema, unless an older one will do as well.
    """
    url = url_of(database)
    try:
        if f"{url.get_backend_name()}+{url.get_driver_name()}" not in DRIVERS:
            raise _bad_database(str(database))
        if url.get_backend_name() == "sqlite":
            engine = _engine_on_file(url, read_only)
        else:
            engine = _engine_on_server(url, read_only)
    except NoSuchModuleError as error:
        raise _bad_database(str(database)) from error
    if read_only:
        try:
            check_schema(engine, older)
        except BaseException:
            engine.dispose()
            raise
    return engine


@lru_cache(maxsize=8)
def cached_engine(database: str, _file: str) -> Engine:
    """Return a cached engine for repeated reads of a record; a new file of the same name gets a new one.

    It keeps the SQL of what was asked: a status that is read again takes 17 ms with it, and 40 without
    (`benchmarks.store`).
    """
    return connect(database, read_only=True)


def _engine_on_file(url: URL, read_only: bool) -> Engine:
    path = Path(url.database or "")
    if url.database and path.is_dir():
        raise ArenaError("cannot_open", f"{path} is a folder, not a record", "name a file in it")
    if not read_only:
        return _sqlite_engine(url, url)
    if not path.exists():
        raise NoRecord(str(path))

    uri = f"file:{path.resolve().as_uri().removeprefix('file://')}"
    read_only_url = url.set(database=uri, query={"mode": "ro", "uri": "true"})
    return _sqlite_reader(url, read_only_url, read_only=True)


def with_timeouts(url: URL) -> URL:
    """Return a server's address with timeouts, unless it sets them itself.

    >>> with_timeouts(make_url("postgresql://host/arena?connect_timeout=3")).query["connect_timeout"]
    '3'
    """
    return url.set(query={**TIMEOUTS, **url.query})


def _engine_on_server(url: URL, read_only: bool) -> Engine:
    session_setting = f"idle_in_transaction_session_timeout={IDLE_WRITER_MS}"
    if read_only:
        session_setting = "default_transaction_read_only=on"

    # In another zone the last hours of the year 9999, which some markets close in, are past all years.
    settings = f"-c timezone=UTC -c {session_setting}"
    try:
        engine = create_engine(with_timeouts(url), connect_args={"options": settings}, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        hint = 'pip install "paper-arena[postgres]", and give a URL that begins with postgresql+psycopg://'
        raise ArenaError("no_driver", f"{error.name} is not installed", hint) from error
    translate_errors(engine, url)
    if not read_only:

        @event.listens_for(engine, "begin")
        def limit_transaction(connection: Connection) -> None:
            if not connection.get_execution_options().get(READ_ONLY_OPTION):
                connection.exec_driver_sql(LIMIT_TRANSACTION.format(LONGEST_CHANGE))

    return engine


def allow_long_change(connection: Connection) -> None:
    """Let this transaction run without a timeout: it may move a whole record, or prune years of it."""
    if is_postgresql(connection):
        connection.exec_driver_sql(LIMIT_TRANSACTION.format("0"))
        connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = '5min'")


def _sqlite_engine(name: URL, url: URL, *, read_only: bool = False) -> Engine:
    """Return an engine on a file, whose `name` appears in errors."""
    options = {"isolation_level": None, "timeout": BUSY_MS / 1000}
    engine = create_engine(url, connect_args=options, poolclass=NullPool if read_only else None)
    translate_errors(engine, name)
    if not read_only and url.database:
        _watch_file(engine, Path(url.database))

    @event.listens_for(engine, "connect")
    def pragmas(driver: Any, _: object) -> None:
        if not read_only:
            make_private(Path(url.database or ""))
            _use_wal(driver)
            driver.execute("PRAGMA synchronous = NORMAL")
        driver.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        driver.execute("PRAGMA foreign_keys = ON")
        driver.execute("PRAGMA recursive_triggers = ON")  # or REPLACE would delete facts unseen

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if read_only or connection.get_execution_options().get(READ_ONLY_OPTION):
            execute_sqlite(connection, "BEGIN")
        else:
            _begin_writing(connection)

    return engine


def _watch_file(engine: Engine, path: Path) -> None:
    """Refuse every transaction once the file was replaced or removed, and never create an empty one."""
    opened_file: tuple[int, int] | None = None

    def check_same_file(*_: object) -> None:
        if opened_file is not None and _file_id(path) != opened_file:
            raise RecordReplaced(str(path))

    def remember_file(*_: object) -> None:
        nonlocal opened_file
        opened_file = opened_file or _file_id(path)

    event.listen(engine, "do_connect", check_same_file)
    event.listen(engine, "connect", remember_file)
    event.listen(engine, "begin", check_same_file)


def _file_id(path: Path) -> tuple[int, int] | None:
    """Return what identifies a file among all that ever had its name."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


_sqlite_reader = lru_cache(maxsize=8)(_sqlite_engine)
"""It keeps no connection, only the SQL of what was asked, like `cached_engine`."""


def make_private(path: Path) -> None:
    """Create a file that only its owner can read, since it will hold all prompts and answers."""
    if path.name and not (path.exists() and path.stat().st_size):
        with suppress(OSError):  # a file that exists keeps its mode; SQLite reports what can't be opened
            path.touch()
            path.chmod(0o600)


def _begin_writing(connection: Connection) -> None:
    """Take the write lock, logging a wait of more than a moment."""
    level = "FULL" if connection.get_execution_options().get(DURABLE_OPTION) else "NORMAL"
    if connection.info.get("synchronous", "NORMAL") != level:  # it can't be changed within a transaction
        execute_sqlite(connection, f"PRAGMA synchronous = {level}")
        connection.info["synchronous"] = level
    execute_sqlite(connection, f"PRAGMA busy_timeout = {min(LOCK_NOTICE_MS, BUSY_MS)}")
    try:
        execute_sqlite(connection, "BEGIN IMMEDIATE")
        execute_sqlite(connection, f"PRAGMA busy_timeout = {BUSY_MS}")
    except ArenaError as error:
        execute_sqlite(connection, f"PRAGMA busy_timeout = {BUSY_MS}")
        if error.code != "locked":
            raise
        logger.warning("%s; waiting up to %d s", error.message, BUSY_MS // 1000)
        execute_sqlite(connection, "BEGIN IMMEDIATE")


def _use_wal(driver: Any) -> None:
    """Switch to write-ahead logging, retrying because SQLite doesn't wait for other writers here."""
    driver.execute("PRAGMA busy_timeout = 0")
    for tries_left in reversed(range(BUSY_MS // WAL_RETRY_MS)):
        try:
            driver.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or not tries_left:
                raise
        time.sleep(WAL_RETRY_MS / 1000)


def upgrade(engine: Engine, to: str = "head") -> None:
    """Bring the record's schema to the newest version, or to some other; a new database is made whole."""
    with engine.begin() as connection:
        upgrade_connection(connection, to)


def upgrade_connection(connection: Connection, to: str = "head") -> None:
    """Upgrade in a transaction of the caller's. Of many that come at once, one does it, and others wait."""
    allow_long_change(connection)
    if is_postgresql(connection):  # a writer of SQLite has its lock already
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({UPGRADE_LOCK})")
    if schema_version(connection) == newest_schema_version() and to == "head":
        return
    from alembic import command  # 0.13 s to load, and few records have anything to be upgraded
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, to)


@cache
def schema_versions() -> tuple[str, ...]:
    """Return all known versions of the schema, oldest first, from the names of the migrations."""
    return tuple(sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")))


def newest_schema_version() -> str:
    """Return the version of the schema that this arena writes."""
    return schema_versions()[-1]


def schema_version(connection: Connection) -> str | None:
    """Return the version of the schema. Raise `ArenaError` if a newer arena or another program made it."""
    tables = inspect(connection).get_table_names()
    has_version_table = VERSION_TABLE in tables
    if (
        tables and not has_version_table and not is_postgresql(connection)
    ):  # a server may hold other things as well
        message = f"{record_name(connection.engine.url)} holds other tables"
        raise ArenaError("not_a_record", message, "name another one")

    version: str | None = None
    if has_version_table:
        version = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608 - ours
    if version is not None and version not in schema_versions():
        if "cohort" not in tables:
            message = f"the database belongs to another program (schema {version})"
            raise ArenaError("not_a_record", message, "name another one")
        if version in FORMER_VERSIONS:
            raise FormerRecord(version)
        message = f"the record was written by a newer arena (schema {version})"
        raise ArenaError("newer_record", message, "update paper-arena, then try again")
    if version == newest_schema_version():
        _check_columns(connection, version)
    return version


def _check_columns(connection: Connection, version: str) -> None:
    """Check that the tables of the newest schema are as in the code: until a release, it may change."""
    from arena.record.schema.tables import METADATA  # with SQLModel; not all who ask have a record

    expected = set[tuple[str, str]]()
    for name, table in METADATA.tables.items():
        expected |= {(name, column.name) for column in table.c}
    rows = connection.exec_driver_sql(COLUMNS[connection.dialect.name]).all()
    existing = {(table, column) for table, column in rows}
    missing = sorted(expected - existing)
    unexpected = sorted(pair for pair in existing - expected if pair[0] in METADATA.tables)

    # Something that was planted explains the difference better than another version does.
    if missing or unexpected:
        for table, column, what in connection.exec_driver_sql(PLANTED[connection.dialect.name]):
            if table in METADATA.tables:
                raise AlteredRecord(f"{table}.{column}" if column else table, what)
    if missing:
        raise FormerRecord(f"{version} without {'.'.join(missing[0])}")
    if unexpected:
        raise FormerRecord(f"{version} with {'.'.join(unexpected[0])}", "another arena")


def check_schema(engine: Engine, older: bool = False) -> None:
    """Check that a record is there and can be read as it is; one of an `older` schema, if so wished."""
    with reading(engine) as connection:
        version = schema_version(connection)
    if version is None:
        raise NoRecord(record_name(engine.url))
    if version != newest_schema_version() and not older:
        raise OlderRecord(version)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open a consistent read of the record, as of one instant."""
    options: dict[str, Any] = {READ_ONLY_OPTION: True}
    if engine.dialect.name == "postgresql":
        options["isolation_level"] = "REPEATABLE READ"  # without it every statement would see its own instant
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


@contextmanager
def open_read_only(database: str, *, older: bool = False) -> Iterator[Engine]:
    """Open a record for reading, leaving none of the files that SQLite makes beside it."""
    file = record_file(database)
    had_no_side_files = file is not None and not _sqlite_side_files(file)
    try:
        engine = connect(database, read_only=True, older=older)
        try:
            yield engine
        finally:
            engine.dispose()
    finally:
        if file is not None and had_no_side_files and _sqlite_side_files(file):
            _remove_side_files(file)


def _sqlite_side_files(file: Path) -> list[Path]:
    """Return the files that SQLite keeps beside a record: the log and its index."""
    side_files = [Path(f"{file}{end}") for end in ("-wal", "-shm")]
    return [path for path in side_files if path.exists()]


def _remove_side_files(file: Path) -> None:
    """Have SQLite remove the files that a read-only connection left, unless they are in use."""
    address = f"{file.resolve().as_uri()}?mode=rw"
    with (
        suppress(sqlite3.DatabaseError),  # gone, damaged or not ours to write: nothing to remove
        closing(sqlite3.connect(address, uri=True, isolation_level=None)) as last,
    ):
        # SQLite removes the files when the last connection is closed that may write and has read something.
        last.execute("PRAGMA query_only = ON")
        last.execute("SELECT count(*) FROM sqlite_master").fetchone()
