"""A long look at a record: all of it at one instant, row by row, whatever is written meanwhile."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, func, select

from arena.store.database import reading
from arena.store.export.sheet import Facts, Row


@contextmanager
def one_look(engine: Engine) -> Iterator[Connection]:
    """All of the record as it is now, however long it is read."""
    if engine.dialect.name == "sqlite":
        with reading(engine) as connection:
            yield connection
        return
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        yield connection


def rows_of(connection: Connection, each: Facts, cohorts: Sequence[int] | None = None) -> Iterator[Row]:
    """The rows of a table, of all cohorts or of some, without holding more than a few."""
    query = each.query(connection.dialect.name, cohorts)
    for row in connection.execute(query, execution_options={"yield_per": each.bulk}):
        yield tuple(row)


def count_of(connection: Connection, each: Facts, cohorts: Sequence[int] | None = None) -> int:
    """How many rows that are."""
    query = each.query(connection.dialect.name, cohorts).order_by(None)
    return connection.execute(select(func.count()).select_from(query.subquery())).scalar_one()
