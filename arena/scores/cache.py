"""What is computed from the record and cached in it: under which name, from what, and if it is current."""

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
"""What a value is of: a cohort by its number, an agent or another part by its name, or the whole record."""


@dataclass(frozen=True, slots=True)
class CacheEntry(Generic[Value]):
    """A value as it was computed last. It is current until something that it was computed from changes."""

    value: Value
    made_at: datetime
    is_current: bool


@dataclass(frozen=True, slots=True)
class CacheKind(Generic[Value]):
    """A kind of value that is cached: the only place that knows its names, its JSON and when it is stale.

    `method` is the way in which it is computed: another name makes all that was cached before stale. `state`
    describes what of the record it is computed from; by default that is all markets that have resolved.
    """

    name: str
    method: str
    adapter: TypeAdapter[Value]
    state: Callable[[Connection, Any], str] = lambda connection, _: scores_basis(connection)

    def name_of(self, key: Key = None) -> str:
        """Return under which name a value is cached.

        >>> boards = CacheKind("board", "board 1", TypeAdapter(int))
        >>> boards.name_of(), boards.name_of(2), boards.name_of("ann")
        ('board', 'board/cohort 2', 'board/ann')
        """
        if key is None:
            return self.name
        part = f"cohort {key}" if isinstance(key, int) else key
        return f"{self.name}/{part}"

    def basis(self, connection: Connection, key: Key = None) -> str:
        """Say how a value would be computed now, and from what: no score counts a round that is hidden."""
        basis = f"{self.method}: {self.state(connection, key)}; ranked from {read_min_coverage(connection):g}"
        hidden = read_hidden_rounds(connection)
        if hidden:
            basis += f"; {len(hidden)} rounds are hidden"
        return basis

    def read(self, connection: Connection, key: Key = None) -> CacheEntry[Value] | None:
        """Return a value as it was computed last; None where it never was, or by another method."""
        row = read_rollup(connection, self.name_of(key))
        if row is None or not row.basis.startswith(f"{self.method}:"):
            return None
        is_current = row.basis == self.basis(connection, key)
        return CacheEntry(self.adapter.validate_python(row.body), row.made_at, is_current)

    def read_current(self, connection: Connection, key: Key = None) -> Value | None:
        """Return a value while it is current."""
        if not self.is_current(connection, key):
            return None
        entry = self.read(connection, key)
        return None if entry is None else entry.value

    def is_current(self, connection: Connection, key: Key = None) -> bool:
        """Tell whether a value was computed, and nothing that it was computed from has changed since."""
        return read_basis(connection, self.name_of(key)) == self.basis(connection, key)

    def row(self, connection: Connection, at: datetime, value: Value, key: Key = None) -> Rollup:
        """Return a value that was just computed, as the record keeps it."""
        return Rollup(self.name_of(key), self.basis(connection, key), at, as_json(self, value))


def as_json(kind: CacheKind[Value], value: Value) -> Any:
    """Return a value as it is cached."""
    return _numbers_as_text(kind.adapter.dump_python(value, mode="json"))


def _numbers_as_text(body: Any) -> Any:
    """Write NaN and infinity as words, which are read as numbers again: JSON has no such numbers."""
    if isinstance(body, dict):
        return {key: _numbers_as_text(value) for key, value in body.items()}
    if isinstance(body, list):
        return list(map(_numbers_as_text, body))
    if isinstance(body, float) and not isfinite(body):
        return str(body)
    return body
