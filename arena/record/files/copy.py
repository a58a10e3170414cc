"""Copies of a whole record, ids included: page by page within SQLite, row by row between databases.

A copy shows one instant of the record, while others go on writing to it. A file that is made here is there
whole or not at all, however its making ends.
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from datetime import datetime
from glob import escape
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Table, func, inspect, text

from arena.errors import ArenaError
from arena.record.schema.cohort import PromptRow
from arena.record.schema.database import VERSION_TABLE, connect, make_private, schema_version, upgrade
from arena.record.schema.database_errors import translated_file_errors
from arena.record.schema.dialects import instant_text, is_postgresql
from arena.record.schema.statements import TableLine, insert_lines
from arena.record.schema.typed import select
from markets.bundle.files import sync_to_disk

ProgressCallback = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done, and of how much, where that is known."""

PAGES = 1_024
BATCH = 1_000


def no_progress(_stage: str, _done: int, _of: int | None) -> None:
    """Ignore progress."""


def copy_to_file(source: Connection, path: Path, progress: ProgressCallback) -> None:
    """Copy the record from any database to a new SQLite file of the same schema."""
    if is_postgresql(source):
        _copy_rows_to_new_file(source, path, progress)
    else:
        _copy_pages(source, path, progress)


def _copy_pages(source: Connection, path: Path, progress: ProgressCallback) -> None:
    """Copy the pages within one read transaction, since SQLite would otherwise restart after each write."""
    # The first read begins the transaction.
    source.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
    driver = source.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    make_private(path)
    with translated_file_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as copy:

        def report(_status: int, pages_left: int, page_count: int) -> None:
            progress("copying", page_count - pages_left, page_count)

        driver.backup(copy, pages=PAGES, progress=report)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it


def _copy_rows_to_new_file(source: Connection, path: Path, progress: ProgressCallback) -> None:
    engine = connect(path)
    try:
        upgrade(engine, schema_version(source) or "head")
        with translated_file_errors(path), closing(engine.raw_connection()) as raw:
            raw.cursor().execute("PRAGMA journal_mode = DELETE")
        with engine.begin() as target:
            copy_rows(source, target, progress)
    finally:
        engine.dispose()


def copy_rows(source: Connection, target: Connection, progress: ProgressCallback) -> None:
    """Copy every row of a record into an empty one of the same schema."""
    tables = _common_tables(source, target)
    row_count = 0
    for table in tables:
        row_count += source.scalar(select(func.count()).select_from(table)) or 0

    done = 0
    for table in tables:
        columns = _columns_by_name_today(table)
        target_columns = [Column(name, column.type) for name, column in columns.items()]
        target_table = Table(table.name, MetaData(), *target_columns)
        for lines in _row_batches(source, table, columns.values()):
            values = lines if is_postgresql(target) else _with_instants_as_text(lines)
            insert_lines(target, target_table, list(columns), values)
            done += len(lines)
            progress("copying", done, row_count)

    if is_postgresql(target):
        _continue_ids(target, tables)


def is_empty(target: Connection) -> bool:
    """Tell whether a database holds no row of a record; other tables don't count."""
    existing = set(inspect(target).get_table_names())
    record_tables = [table for name, table in PromptRow.__table__.metadata.tables.items() if name in existing]
    return all(
        target.execute(select(1).select_from(table).limit(1)).first() is None for table in record_tables
    )


def _common_tables(source: Connection, target: Connection) -> list[Table]:
    """Return the tables that both databases have, as in the source, referenced tables first."""
    common_names = set(inspect(target).get_table_names()) - {VERSION_TABLE}
    if is_postgresql(target):
        # Other tables, such as a queue's, are not part of a record.
        common_names &= PromptRow.__table__.metadata.tables.keys()

    metadata = MetaData()
    metadata.reflect(source, only=lambda name, _: name in common_names)
    return [table for table in metadata.sorted_tables if table.name in common_names]


def _columns_by_name_today(table: Table) -> dict[str, Column[Any]]:
    """Return the columns of a record's table to be copied, by the names that they have today.

    The tables of an older schema are made as today's are: a column that has been renamed since goes where its
    values belong, and one that there is no more is left out.
    """
    columns_today = PromptRow.__table__.metadata.tables[table.name].columns
    name_today = {column.info["former"]: column.name for column in columns_today}
    columns = {name_today.get(column.name, column.name): column for column in table.columns}
    return {name: column for name, column in columns.items() if name in columns_today}


def _row_batches(
    source: Connection, table: Table, columns: Iterable[Column[Any]]
) -> Iterator[list[TableLine]]:
    query = select(*columns).order_by(*table.primary_key.columns)
    rows = source.execute(query, execution_options={"yield_per": BATCH})
    for batch in rows.partitions():
        yield [tuple(row) for row in batch]


def _with_instants_as_text(lines: list[TableLine]) -> list[TableLine]:
    """Return lines with instants as SQLite's texts, which PostgreSQL reads too."""
    return [tuple(map(_value_as_text, line)) for line in lines]


def _value_as_text(value: Any) -> Any:
    return instant_text(value) if isinstance(value, datetime) else value


def _continue_ids(target: Connection, tables: list[Table]) -> None:
    """Set PostgreSQL's sequences to continue after the copied ids."""
    for table in tables:
        if "id" in table.columns and isinstance(table.c.id.type, Integer):
            quoted_name = target.dialect.identifier_preparer.format_table(table)
            last_id: Any = target.scalar(select(func.max(table.c.id)))
            if last_id is not None:
                target.execute(
                    text("SELECT setval(pg_get_serial_sequence(:table, 'id'), :last)"),
                    {"table": quoted_name, "last": last_id},
                )


SQLITE_SUFFIXES = ("", "-journal", "-wal", "-shm")
"""What may lie beside a SQLite file, and belongs to it."""


@contextmanager
def atomic_file(
    target: Path,
    key: str | None = None,
    pattern: str | None = None,
    room: AbstractContextManager[None] | None = None,
) -> Iterator[Path]:
    """Yield a temporary file to write, and rename it to `target` once it is complete and on the disk.

    If anything fails, the temporary file is removed. Only one process at a time may write files with the same
    `key`; so temporary files that match `pattern` were left by a process that was killed, and are deleted.
    `room` is entered just before the renaming, to free disk space.
    """
    with translated_file_errors(target):
        if target.parent.is_file():
            message = f"{target.parent} is a file, not a folder"
            raise ArenaError("cannot_write", message, "name another folder, or move it")

        target.parent.mkdir(parents=True, exist_ok=True)
        with _file_lock(target.with_name(f".{key or target.name}.lock")):
            temporary = target.with_name(f".{target.name}.part")
            for leftover in target.parent.glob(f".{pattern or escape(target.name)}.part*"):
                leftover.unlink()

            try:
                yield temporary
                sync_to_disk(temporary)
                with room or nullcontext():
                    temporary.replace(target)
                sync_to_disk(target.parent)
            finally:
                for suffix in SQLITE_SUFFIXES:
                    temporary.with_name(temporary.name + suffix).unlink(missing_ok=True)


@contextmanager
def _file_lock(lock_path: Path) -> Iterator[None]:
    with lock_path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_same_file = lock_path.exists() and os.path.samestat(os.fstat(file.fileno()), lock_path.stat())
            if not is_same_file:
                raise BlockingIOError  # another process had it, and removed it when done
        except BlockingIOError as error:
            message = f"another process is writing to {lock_path.parent}"
            raise ArenaError("locked", message, "try again when it has finished") from error
        try:
            yield
        finally:
            lock_path.unlink(missing_ok=True)
