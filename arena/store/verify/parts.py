"""Rows as plain values, nothing taken on trust: what is of another type than its column can't be read."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import Integer, Table, type_coerce
from sqlalchemy.types import NULLTYPE

from arena.store.types import UtcTime
from arena.store.verify.difference import Difference

Row = dict[str, Any]

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class Part:
    """Some columns of a table, or all of them: how values that were read become a row. Instants are text."""

    def __init__(self, table: Table, *names: str):
        self.table = table
        self.names = names or tuple(column.name for column in table.c)
        self.columns = [type_coerce(table.c[name], NULLTYPE) for name in self.names]
        self._shape = [table.c[name] for name in self.names]
        self._instants = [place for place, c in enumerate(self._shape) if isinstance(c.type, UtcTime)]
        self._fitting = dict[tuple[type, ...], bool]()

    def row(self, values: Sequence[Any]) -> Row | None:
        """The row of these values; None where one of them can't be read."""
        kinds = tuple(map(type, values))
        are_dates = self._fitting.get(kinds)
        if are_dates is None:
            if not all(map(_fits, self._shape, values)):
                return None
            are_dates = self._fitting[kinds] = datetime in kinds
        if are_dates:
            values = [written(value) if type(value) is datetime else value for value in values]
        else:
            for place in self._instants:
                if values[place] is not None and moment(values[place]) is None:
                    return None
        return dict(zip(self.names, values, strict=True))

    def mistyped(self, values: Sequence[Any]) -> Iterator[Difference]:
        """What of these values can't be read."""
        row = dict(zip(self.names, values, strict=True))
        key = ", ".join(f"{c.name} {row[c.name]}" for c in self.table.primary_key.columns if c.name in row)
        for column in self._shape:
            if not _fits(column, row[column.name]):
                kind = "an instant in UTC" if isinstance(column.type, UtcTime) else "a value of its type"
                yield Difference(
                    self.table.name, key, column.name, row[column.name], kind, "it can't be read"
                )


@cache
def whole(table: Table) -> Part:
    """All columns of a table."""
    return Part(table)


def _fits(column: Any, value: Any) -> bool:
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, UtcTime):
        return isinstance(value, datetime) or (isinstance(value, str) and moment(value) is not None)
    return type(value) is (int if isinstance(column.type, Integer) else str)


@lru_cache(maxsize=1024)
def moment(text: str) -> datetime | None:
    """The instant behind its text; None when it is none.

    >>> moment("2026-01-04T00:00:00.000000Z").day, moment("2026-13-04T00:00:00.000000Z"), moment("soon")
    (4, None, None)
    """
    if not INSTANT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def written(at: datetime) -> str:
    """An instant as it is written in a record."""
    at = at.astimezone(UTC)
    return f"{at.year:04}-{at:%m-%dT%H:%M:%S}.{at.microsecond:06}Z"
