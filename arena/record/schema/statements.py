"""Rows into tables: one with its new id, or many in one statement.

Statements that are made once and then go to the driver as they are, for what is done with every call.

To bind each value and dress each row, SQLAlchemy takes longer than SQLite takes to do it.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Dialect, Table, insert
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql.dml import ReturningInsert
from sqlalchemy.sql.elements import ClauseElement

from arena.record.schema.database_errors import translated_driver_errors
from arena.record.schema.dialects import UtcTime, instant_text

if TYPE_CHECKING:  # who only checks a config needn't wait until sqlmodel is loaded
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
    keys: Sequence[str],
    facts: Iterable[tuple[TableLine, Any]],
    names: Sequence[str],
) -> None:
    """All facts in one statement: of each its keys, then two or more of its attributes; none is fine."""
    attributes = attrgetter(*names)
    lines = ((*key, *attributes(fact)) for key, fact in facts)
    insert_lines(connection, row.__table__, (*keys, *names), lines)


def insert_one(connection: Connection, table: Table, **row: Any) -> int:
    """One row; its new id."""
    return int(connection.execute(_insertion(table), row).scalar_one())


@cache
def _insertion(table: Table) -> ReturningInsert[Any]:
    return insert(table).returning(table.c.id)


def insert_rows(connection: Connection, table: Table, rows: TableRows) -> None:
    """All rows, which have the same columns in the same order, in one statement; none is fine."""
    if rows:
        insert_lines(connection, table, list(rows[0]), [tuple(row.values()) for row in rows])


def insert_lines(
    connection: Connection, table: Table, names: Sequence[str], lines: Iterable[TableLine]
) -> None:
    """All lines in one statement; none is fine.

    They go to the driver as they are: to bind each value, SQLAlchemy takes longer than the database.
    """
    statement, instants = _statement(table, tuple(names), connection.dialect)
    if bound := _with_instants(list(lines), instants):
        connection.exec_driver_sql(statement, bound)


def _with_instants(lines: list[TableLine], instants: Sequence[int]) -> list[TableLine]:
    """Lines with their instants, at these places, as text."""
    if not instants:
        return lines
    columns = list(zip(*lines, strict=True))
    for place in instants if columns else ():
        texts = {at: None if at is None else instant_text(at) for at in set(columns[place])}
        columns[place] = tuple(map(texts.get, columns[place]))
    return list(zip(*columns, strict=True))


@lru_cache(maxsize=256)
def _statement(table: Table, names: tuple[str, ...], dialect: Dialect) -> tuple[str, list[int]]:
    """The statement, and which values are instants that it wants as text, as SQLite does: see `UtcTime`."""
    instants = [place for place, name in enumerate(names) if isinstance(table.c[name].type, UtcTime)]
    quoted = dialect.identifier_preparer
    marks = ", ".join([PLACEHOLDERS[dialect.paramstyle]] * len(names))
    place = f"{quoted.format_table(table)} ({', '.join(map(quoted.quote, names))})"
    statement = f"INSERT INTO {place} VALUES ({marks})"  # noqa: S608 - the names are those of our own tables
    return statement, instants if dialect.name == "sqlite" else []


def run_statement(
    connection: Connection, statement: ClauseElement, values: Mapping[str, Any]
) -> list[TableLine]:
    """The rows that a statement with bound parameters gives, as the driver has them: ask for no times."""
    text, order, fixed, instants = _compiled(statement, connection.dialect)
    bound = {**fixed, **values}
    for name in instants:
        bound[name] = instant_text(bound[name])
    if order is None:
        found = connection.exec_driver_sql(text, {name: bound[name] for name in fixed})
        return [tuple(row) for row in found] if found.returns_rows else []
    return execute_sqlite(connection, text, tuple([bound[name] for name in order]))


def execute_sqlite(connection: Connection, text: str, values: TableLine = ()) -> list[TableLine]:
    """A statement by the driver of SQLite itself, whose complaints come as plain words."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    with translated_driver_errors(connection.engine.url):
        return driver.execute(text, values).fetchall()


CompiledStatement = tuple[str, tuple[str, ...] | None, dict[str, Any], tuple[str, ...]]


@lru_cache(maxsize=256)
def _compiled(statement: ClauseElement, dialect: Dialect) -> CompiledStatement:
    """The text; the order of its values, or None where they go by name; those that are fixed; the instants.

    SQLite takes instants as text: see `UtcTime`.
    """
    made: Any = statement.compile(dialect=dialect)
    times = (name for name, bind in made.binds.items() if isinstance(bind.type, UtcTime))
    order = tuple(made.positiontup) if made.positional else None
    return str(made), order, dict(made.params), tuple(times) if dialect.name == "sqlite" else ()


T = TypeVar("T")
BATCH = 1_000
"""So many markets at once: databases take only so many parameters."""


def batches(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """The things, some at a time."""
    for start in range(0, len(things), BATCH):
        yield things[start : start + BATCH]
