"""Rows into tables: one with its new id, or many in one statement; and statements for every call.

Two fast paths go past SQLAlchemy to the driver, since to bind each value and dress each row takes it longer
than SQLite takes to do the work. `insert_lines` saves a third of the CPU of turns of 500 fills and forecasts
(`benchmarks.store`), `run_statement` four tenths of that of a call reserved and kept (`benchmarks.fanout`).
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Dialect, Table, insert
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql.dml import ReturningInsert
from sqlalchemy.sql.elements import ClauseElement

from arena.record.schema.database_errors import translated_driver_errors
from arena.record.schema.dialects import UtcTime, instant_text

if TYPE_CHECKING:  # checking a config needn't wait until sqlmodel is loaded
    from arena.record.schema.fields import TableRow

TableRows = list[dict[str, Any]]
TableLine = tuple[Any, ...]
PLACEHOLDERS = {"qmark": "?", "format": "%s", "pyformat": "%s"}
"""What stands for a value in a statement, by the style of the driver."""


def new_rows(row: "type[TableRow]") -> postgresql.Insert:
    """Insert rows that may give way: SQLite takes what PostgreSQL says ON CONFLICT as it is."""
    return postgresql.insert(row.__table__)


def attributes_of(fact: Any, *names: str) -> dict[str, Any]:
    """Return some attributes of a fact, as a row for a table; or those of a row, for a fact."""
    return {name: getattr(fact, name) for name in names}


def insert_facts(
    connection: Connection,
    row: "type[TableRow]",
    key_columns: Sequence[str],
    facts: Iterable[tuple[TableLine, Any]],
    fact_columns: Sequence[str],
) -> None:
    """Insert facts in one statement: of each its keys, then two or more of its attributes; none is fine."""
    attributes = attrgetter(*fact_columns)
    lines = [(*key, *attributes(fact)) for key, fact in facts]
    insert_lines(connection, row.__table__, (*key_columns, *fact_columns), lines)


def insert_one(connection: Connection, table: Table, **row: Any) -> int:
    """Insert one row, and return its id."""
    return int(connection.execute(_insert_returning_id(table), row).scalar_one())


@cache
def _insert_returning_id(table: Table) -> ReturningInsert[Any]:
    """Return the statement that inserts a row and returns its id."""
    return insert(table).returning(table.c.id)


def insert_rows(connection: Connection, table: Table, rows: TableRows) -> None:
    """Insert rows, which have the same columns in the same order, in one statement; none is fine."""
    if rows:
        insert_lines(connection, table, list(rows[0]), [tuple(row.values()) for row in rows])


def insert_lines(
    connection: Connection, table: Table, names: Sequence[str], lines: Iterable[TableLine]
) -> None:
    """Insert lines of values in one statement; none is fine."""
    rows = list(lines)
    if rows:
        statement, instant_columns = _insert_statement(table, tuple(names), connection.dialect)
        connection.exec_driver_sql(statement, _with_instants_as_text(rows, instant_columns))


def _with_instants_as_text(lines: list[TableLine], instant_columns: Sequence[int]) -> list[TableLine]:
    """Return lines with their instants, which are at these places, as text."""
    if not instant_columns:
        return lines

    # Column by column, because the rows of a table have few instants among them.
    columns = list(zip(*lines, strict=True))
    for index in instant_columns:
        text_of = {at: None if at is None else instant_text(at) for at in set(columns[index])}
        columns[index] = tuple(map(text_of.get, columns[index]))
    return list(zip(*columns, strict=True))


@lru_cache(maxsize=256)
def _insert_statement(table: Table, names: tuple[str, ...], dialect: Dialect) -> tuple[str, list[int]]:
    """Return the statement, and the places of values that SQLite takes as text (see `UtcTime`)."""
    instant_columns = list[int]()
    if dialect.name == "sqlite":
        instant_columns = [
            index for index, name in enumerate(names) if isinstance(table.c[name].type, UtcTime)
        ]

    preparer = dialect.identifier_preparer
    columns = ", ".join(map(preparer.quote, names))
    placeholders = ", ".join([PLACEHOLDERS[dialect.paramstyle]] * len(names))
    statement = f"INSERT INTO {preparer.format_table(table)} ({columns}) VALUES ({placeholders})"  # noqa: S608 - our own names
    return statement, instant_columns


def run_statement(
    connection: Connection, statement: ClauseElement, values: Mapping[str, Any]
) -> list[TableLine]:
    """Return the rows of a statement with bound parameters as the driver has them: ask for no times."""
    compiled = _compiled(statement, connection.dialect)
    parameters = {**compiled.fixed, **values}
    for name in compiled.instants:
        parameters[name] = instant_text(parameters[name])

    if compiled.order is not None:
        return execute_sqlite(connection, compiled.text, tuple([parameters[name] for name in compiled.order]))
    rows = connection.exec_driver_sql(compiled.text, {name: parameters[name] for name in compiled.fixed})
    return [tuple(row) for row in rows] if rows.returns_rows else []


def execute_sqlite(connection: Connection, text: str, values: TableLine = ()) -> list[TableLine]:
    """Execute a statement by the driver of SQLite itself, whose complaints come as plain words."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    try:
        return driver.execute(text, values).fetchall()
    except sqlite3.Error:
        # Entered only now: around every statement it takes as long as a short one.
        with translated_driver_errors(connection.engine.url):
            raise


@dataclass(frozen=True, slots=True)
class CompiledStatement:
    """A statement as text, the order of its values (None where they go by name), and those that are fixed.

    `instants` are those that SQLite takes as text: see `UtcTime`.
    """

    text: str
    order: tuple[str, ...] | None
    fixed: dict[str, Any]
    instants: tuple[str, ...]


@lru_cache(maxsize=256)
def _compiled(statement: ClauseElement, dialect: Dialect) -> CompiledStatement:
    """Compile a statement."""
    compiled: Any = statement.compile(dialect=dialect)
    order = tuple(compiled.positiontup) if compiled.positional else None
    instants = list[str]()
    if dialect.name == "sqlite":
        instants = [name for name, bind in compiled.binds.items() if isinstance(bind.type, UtcTime)]
    return CompiledStatement(str(compiled), order, dict(compiled.params), tuple(instants))


T = TypeVar("T")
BATCH = 1_000
"""So many markets at once: databases take only so many parameters."""


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield items in batches."""
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]
