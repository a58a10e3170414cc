"""Values computed from the record and cached in it: their names, their inputs, and when they are stale."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from arena.record.queries.cohorts import read_hidden_rounds, read_min_coverage
from arena.record.schema.database import Connection
from arena.record.write.rollups import Rollup, read_basis, read_rollup, scores_basis

Value = TypeVar("Value")
Key = int | str | None
"""The subject of a value: a cohort by number, an agent or another part by name, or the whole record."""


@dataclass(frozen=True, slots=True)
class CacheEntry(Generic[Value]):
    """A value as it was last computed. It is current until one of its inputs changes."""

    value: Value
    made_at: datetime
    is_current: bool


@dataclass(frozen=True, slots=True)
class CacheKind(Generic[Value]):
    """A kind of cached value: the only place that knows its names, its JSON, and when it is stale.

    `method` names the way it is computed: another name makes everything cached before stale. `state`
    describes the part of the record that it depends on; by default that is all resolved markets.
    """

    name: str
    method: str
    adapter: TypeAdapter[Value]
    state: Callable[[Connection, Any], str] = lambda connection, _: scores_basis(connection)

    def name_of(self, key: Key = None) -> str:
        """Return the name under which a value is cached.

        >>> boards = CacheKind("board", "board 1", TypeAdapter(int))
        >>> boards.name_of(), boards.name_of(2), boards.name_of("ann")
        ('board', 'board/cohort 2', 'board/ann')
        """
        if key is None:
            return self.name
        part = f"cohort {key}" if isinstance(key, int) else key
        return f"{self.name}/{part}"

    def basis(self, connection: Connection, key: Key = None) -> str:
        """Return a text of the method and the inputs that a value would have now, without hidden rounds."""
        basis = f"{self.method}: {self.state(connection, key)}; ranked from {read_min_coverage(connection):g}"
        hidden = read_hidden_rounds(connection)
        if hidden:
            basis += f"; {len(hidden)} rounds are hidden"
        return basis

    def read(self, connection: Connection, key: Key = None) -> CacheEntry[Value] | None:
        """Return a value as last computed; None if it never was, or by another method."""
        row = read_rollup(connection, self.name_of(key))
        # A value of another method has another shape, so it could not be read.
        if row is None or not row.basis.startswith(f"{self.method}:"):
            return None
        is_current = row.basis == self.basis(connection, key)
        return CacheEntry(self.adapter.validate_python(row.body), row.made_at, is_current)

    def read_current(self, connection: Connection, key: Key = None) -> Value | None:
        """Return a value if it is current; None otherwise."""
        if not self.is_current(connection, key):
            return None
        entry = self.read(connection, key)
        return None if entry is None else entry.value

    def is_current(self, connection: Connection, key: Key = None) -> bool:
        """Tell whether a value was computed and none of its inputs has changed since."""
        return read_basis(connection, self.name_of(key)) == self.basis(connection, key)

    def row(self, connection: Connection, at: datetime, value: Value, key: Key = None) -> Rollup:
        """Return a newly computed value as a row of the record."""
        return Rollup(self.name_of(key), self.basis(connection, key), at, as_json(self, value))


def as_json(kind: CacheKind[Value], value: Value) -> Any:
    """Return a value as the JSON that is cached."""
    return _nonfinite_as_text(kind.adapter.dump_python(value, mode="json"))


def _nonfinite_as_text(data: Any) -> Any:
    """Return JSON with NaN and infinity as words, because JSON lacks them; they are read as numbers."""
    if isinstance(data, dict):
        return {key: _nonfinite_as_text(value) for key, value in data.items()}
    if isinstance(data, list):
        return list(map(_nonfinite_as_text, data))
    if isinstance(data, float) and not isfinite(data):
        return str(data)
    return data
