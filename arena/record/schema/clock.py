"""The database's own clock, by which leases are judged: all who work on one record agree on it.

On SQLite it is the machine's, which all who have the file open share. The arena's clock, which may be
pretended, has no part in this.
"""

from datetime import timedelta
from typing import Any

from sqlalchemy import Float, ScalarSelect, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from arena.record.schema.types import UtcTime


class FromNow(FunctionElement[Any]):
    """The instant so many seconds from now: `FromNow(literal(90.0))`, or a bound parameter."""

    type = UtcTime()
    inherit_cache = True


@compiles(FromNow, "sqlite")
def _on_sqlite(element: FromNow, compiler: SQLCompiler, **more: Any) -> str:
    seconds = compiler.process(element.clauses, **more)
    return f"strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', ({seconds}) || ' seconds')"


@compiles(FromNow, "postgresql")
def _on_postgresql(element: FromNow, compiler: SQLCompiler, **more: Any) -> str:
    seconds = compiler.process(element.clauses, **more)
    return f"(clock_timestamp() + CAST({seconds} AS double precision) * interval '1 second')"


NOW: ScalarSelect[Any] = select(FromNow(literal(0.0))).scalar_subquery()
"""This instant, looked up once in a statement, whatever its rows. PostgreSQL's `now()` would be that of the
transaction's start, which may have waited since."""


def seconds(length: timedelta) -> float:
    """A length as the database takes it."""
    return length.total_seconds()


class Until(FunctionElement[float]):
    """For how many seconds from now an instant is still to come; negative when it has passed."""

    type = Float()
    inherit_cache = True


@compiles(Until, "sqlite")
def _until_on_sqlite(element: Until, compiler: SQLCompiler, **more: Any) -> str:
    instant = compiler.process(element.clauses, **more)
    return f"((julianday({instant}) - julianday('now')) * 86400.0)"


@compiles(Until, "postgresql")
def _until_on_postgresql(element: Until, compiler: SQLCompiler, **more: Any) -> str:
    instant = compiler.process(element.clauses, **more)
    return f"CAST(extract(epoch FROM {instant} - clock_timestamp()) AS double precision)"
