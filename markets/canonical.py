"""One text for one value: the JSON that every hash in the record is taken over."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from typing import Any

from pydantic import BaseModel

SIMPLE = frozenset((str, int, float, bool, type(None)))
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def stamp(at: datetime) -> str:
    """An instant as text that sorts as time does.

    >>> stamp(datetime(2026, 1, 4, tzinfo=UTC))
    '2026-01-04T00:00:00.000000Z'
    """
    return _stamped(at if at.tzinfo is UTC else at.astimezone(UTC))


@lru_cache(maxsize=4096)
def _stamped(at: datetime) -> str:
    """The stamp of an instant in UTC: elsewhere two instants may look the same when summer time ends."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def plain(value: Any) -> Any:
    """The value as JSON knows it: records become objects, instants become text."""
    kind: Any = type(value)
    return value if kind in SIMPLE else _way(kind)(value)


@cache
def _way(kind: Any) -> Callable[[Any], Any]:
    """How values of a type become plain, looked up once a type: a book has a hundred levels."""
    if issubclass(kind, datetime):
        return stamp
    if issubclass(kind, list | tuple):
        return _items
    if issubclass(kind, Mapping):
        return _members
    if is_dataclass(kind):
        return partial(_fields, tuple(field.name for field in fields(kind)))
    if issubclass(kind, BaseModel):
        return _model
    return _as_it_is


def _items(value: Iterable[Any]) -> list[Any]:
    return [item if type(item) in SIMPLE else plain(item) for item in value]


def _members(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): item if type(item) in SIMPLE else plain(item) for key, item in value.items()}


def _fields(names: Iterable[str], value: Any) -> dict[str, Any]:
    return {name: item if type(item := getattr(value, name)) in SIMPLE else plain(item) for name in names}


def _model(value: BaseModel) -> dict[str, Any]:
    return _members(value.model_dump())


def _as_it_is(value: Any) -> Any:
    return value


def canonical(value: Any) -> str:
    """The value as JSON with sorted keys and no white space.

    >>> canonical({"b": 1, "a": (2, None)})
    '{"a":[2,null],"b":1}'
    """
    return encoded(plain(value))


def encoded(value: Any) -> str:
    """`canonical` of what is plain already: texts, numbers, lists, and objects whose keys are texts."""
    return _ENCODER.encode(value)


def digest(value: Any) -> str:
    """SHA-256 over the canonical JSON of a value, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
