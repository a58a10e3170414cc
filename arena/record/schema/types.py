"""Column types that mean the same on SQLite and PostgreSQL."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Integer, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from markets.hashes import timestamp_text

Whole = BigInteger().with_variant(Integer(), "sqlite")
"""Millionths and ids: 64 bits on both, and a type that STRICT tables of SQLite accept."""


def instant(at: datetime) -> str:
    """The text of an aware instant. Without a time zone nobody knows which instant it is."""
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone")
    return timestamp_text(at)


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
        text = instant(value)
        return value if dialect.name == "postgresql" else text

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None or isinstance(value, datetime):
            return value.astimezone(UTC) if value else None
        return datetime.fromisoformat(value)
