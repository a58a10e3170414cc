"""Rows into tables: one with its new id, or many in one statement."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Dialect, Table, insert
from sqlalchemy.sql.dml import ReturningInsert

from arena.record.schema.types import UtcTime, instant

Rows = list[dict[str, Any]]
Line = tuple[Any, ...]
MARKS = {"qmark": "?", "format": "%s", "pyformat": "%s"}
"""What stands for a value in a statement, by the style of the driver."""


def columns(fact: Any, *names: str) -> dict[str, Any]:
    """Some attributes of a fact as a row."""
    return {name: getattr(fact, name) for name in names}


def line_of(*names: str) -> Callable[[Any], Line]:
    """What takes two or more attributes of a fact, in this order."""
    return attrgetter(*names)


def insert_one(connection: Connection, table: Table, **row: Any) -> int:
    """One row; its new id."""
    return int(connection.execute(_insertion(table), row).scalar_one())


@cache
def _insertion(table: Table) -> ReturningInsert[Any]:
    return insert(table).returning(table.c.id)


def insert_rows(connection: Connection, table: Table, rows: Rows) -> None:
    """All rows, which have the same columns in the same order, in one statement; none is fine."""
    if rows:
        insert_lines(connection, table, list(rows[0]), [tuple(row.values()) for row in rows])


def insert_lines(connection: Connection, table: Table, names: Sequence[str], lines: Iterable[Line]) -> None:
    """All lines in one statement; none is fine.

    They go to the driver as they are: to bind each value, SQLAlchemy takes longer than the database.
    """
    statement, instants = _statement(table, tuple(names), connection.dialect)
    if bound := _bound(list(lines), instants):
        connection.exec_driver_sql(statement, bound)


def _bound(lines: list[Line], instants: Sequence[int]) -> list[Line]:
    """Lines with their instants, at these places, as text."""
    if not instants:
        return lines
    columns = list(zip(*lines, strict=True))
    for place in instants if columns else ():
        texts = {at: None if at is None else instant(at) for at in set(columns[place])}
        columns[place] = tuple(map(texts.get, columns[place]))
    return list(zip(*columns, strict=True))


@lru_cache(maxsize=256)
def _statement(table: Table, names: tuple[str, ...], dialect: Dialect) -> tuple[str, list[int]]:
    """The statement, and which values are instants that it wants as text, as SQLite does: see `UtcTime`."""
    instants = [place for place, name in enumerate(names) if isinstance(table.c[name].type, UtcTime)]
    quoted = dialect.identifier_preparer
    marks = ", ".join([MARKS[dialect.paramstyle]] * len(names))
    place = f"{quoted.format_table(table)} ({', '.join(map(quoted.quote, names))})"
    statement = f"INSERT INTO {place} VALUES ({marks})"  # noqa: S608 - the names are those of our own tables
    return statement, instants if dialect.name == "sqlite" else []
