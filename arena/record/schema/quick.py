"""Statements that are made once and then go to the driver as they are, for what is done with every call.

To bind each value and dress each row, SQLAlchemy takes longer than SQLite takes to do it.
"""

import sqlite3
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect
from sqlalchemy.sql.elements import ClauseElement

from arena.record.schema.troubles import complaints
from arena.record.schema.types import UtcTime, instant

Row = tuple[Any, ...]


def run(connection: Connection, statement: ClauseElement, values: Mapping[str, Any]) -> list[Row]:
    """The rows that a statement with bound parameters gives, as the driver has them: ask for no times."""
    text, order, fixed, instants = _made(statement, connection.dialect)
    bound = {**fixed, **values}
    for name in instants:
        bound[name] = instant(bound[name])
    if order is None:
        found = connection.exec_driver_sql(text, {name: bound[name] for name in fixed})
        return [tuple(row) for row in found] if found.returns_rows else []
    return execute(connection, text, tuple([bound[name] for name in order]))


def execute(connection: Connection, text: str, values: Row = ()) -> list[Row]:
    """A statement by the driver of SQLite itself, whose complaints come as plain words."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    with complaints(connection.engine.url):
        return driver.execute(text, values).fetchall()


Made = tuple[str, tuple[str, ...] | None, dict[str, Any], tuple[str, ...]]


@lru_cache(maxsize=256)
def _made(statement: ClauseElement, dialect: Dialect) -> Made:
    """The text; the order of its values, or None where they go by name; those that are fixed; the instants.

    SQLite takes instants as text: see `UtcTime`.
    """
    made: Any = statement.compile(dialect=dialect)
    times = (name for name, bind in made.binds.items() if isinstance(bind.type, UtcTime))
    order = tuple(made.positiontup) if made.positional else None
    return str(made), order, dict(made.params), tuple(times) if dialect.name == "sqlite" else ()
