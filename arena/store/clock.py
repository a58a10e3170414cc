"""The database's own clock, by which leases are judged: all who work on one record agree on it.

On SQLite it is the machine's, which all who have the file open share. The arena's clock, which may be
pretended, has no part in this.
"""

from datetime import timedelta
from typing import Any

from sqlalchemy import literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from arena.store.types import UtcTime


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


NOW: FromNow = FromNow(literal(0.0))
"""This instant. PostgreSQL's `now()` is that of the transaction's start, which may have waited since."""


def seconds(length: timedelta) -> float:
    """A length as the database takes it."""
    return length.total_seconds()
