"""Column types that mean the same on SQLite and PostgreSQL, and the database's own clock.

A provider's pause ends by that clock, and so does a turn at the desk, whose deadline is set anew by the round
that waits for it. Claims, leases and reservations do not: a clock may be put forward or back.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, DateTime, Float, Integer, ScalarSelect, Text, literal, select
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from markets.hashes import timestamp_text

BigInt = BigInteger().with_variant(Integer(), "sqlite")
"""Millionths and ids: 64 bits on both, and a type that STRICT tables of SQLite accept."""


def instant_text(at: datetime) -> str:
    """Return the text of an aware instant. Without a time zone nobody knows which instant it is."""
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone")
    return timestamp_text(at)


def is_postgresql(connection: Connection) -> bool:
    """Tell whether a connection leads to a server of PostgreSQL, not to a file of SQLite."""
    return connection.dialect.name == "postgresql"


class UtcTime(TypeDecorator[datetime]):
    """An aware instant: text that sorts in SQLite, `timestamptz` in PostgreSQL."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        kind: TypeEngine[Any] = DateTime(timezone=True) if dialect.name == "postgresql" else Text()
        return dialect.type_descriptor(kind)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        text = instant_text(value)
        return value if dialect.name == "postgresql" else text

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None or isinstance(value, datetime):
            return value.astimezone(UTC) if value else None
        return datetime.fromisoformat(value)


class FromNow(FunctionElement[Any]):
    """The instant so many seconds from now: `FromNow(literal(90.0))`, or a bound parameter."""

    type = UtcTime()
    inherit_cache = True


@compiles(FromNow, "sqlite")
def _from_now_on_sqlite(element: FromNow, compiler: SQLCompiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    return f"strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', ({seconds}) || ' seconds')"


@compiles(FromNow, "postgresql")
def _from_now_on_postgresql(element: FromNow, compiler: SQLCompiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    return f"(clock_timestamp() + CAST({seconds} AS double precision) * interval '1 second')"


NOW: ScalarSelect[Any] = select(FromNow(literal(0.0))).scalar_subquery()
"""This instant, looked up once in a statement, whatever its rows. PostgreSQL's `now()` would be that of the
transaction's start, which may have waited since."""


class SecondsUntil(FunctionElement[float]):
    """For how many seconds from now an instant is still to come; negative when it has passed."""

    type = Float()
    inherit_cache = True


@compiles(SecondsUntil, "sqlite")
def _seconds_until_on_sqlite(element: SecondsUntil, compiler: SQLCompiler, **options: Any) -> str:
    instant = compiler.process(element.clauses, **options)
    return f"((julianday({instant}) - julianday('now')) * 86400.0)"


@compiles(SecondsUntil, "postgresql")
def _seconds_until_on_postgresql(element: SecondsUntil, compiler: SQLCompiler, **options: Any) -> str:
    instant = compiler.process(element.clauses, **options)
    return f"CAST(extract(epoch FROM {instant} - clock_timestamp()) AS double precision)"
