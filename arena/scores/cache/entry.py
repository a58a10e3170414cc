"""Something worked out from the record and kept: what it is, when it was made, whether it still holds."""

from dataclasses import dataclass
from datetime import datetime
from math import isnan
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from arena.record.queries.forecasts import Connection
from arena.record.write.rollups import Rollup, read_rollup

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class CacheEntry(Generic[Value]):
    """A value as it was worked out last. It is fresh while nothing that it was made of is another."""

    value: Value
    made_at: datetime
    fresh: bool


def read_entry(
    connection: Connection, name: str, basis: str, form: TypeAdapter[Value]
) -> CacheEntry[Value] | None:
    """What was worked out last under a name; None where that was never done, or in another form."""
    found = read_rollup(connection, name)
    if found is None or _method(found.basis) != _method(basis):
        return None
    return CacheEntry(form.validate_python(found.body), found.made_at, found.basis == basis)


def to_rollup(name: str, basis: str, at: datetime, form: TypeAdapter[Value], value: Value) -> Rollup:
    """A value in the form in which it is kept."""
    return Rollup(name, basis, at, _nan_as_text(form.dump_python(value, mode="json")))


def _nan_as_text(body: Any) -> Any:
    """NaN as a word, which is read as a number again: JSON has no such number."""
    if isinstance(body, dict):
        return {key: _nan_as_text(value) for key, value in body.items()}
    if isinstance(body, list):
        return [_nan_as_text(value) for value in body]
    return "NaN" if isinstance(body, float) and isnan(body) else body


def _method(basis: str) -> str:
    return basis.partition(":")[0]
