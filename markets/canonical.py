"""One text for one value: the JSON that every hash in the record is taken over."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from pydantic import BaseModel

SIMPLE = frozenset((str, int, float, bool))


def stamp(at: datetime) -> str:
    """An instant as text that sorts as time does.

    >>> stamp(datetime(2026, 1, 4, tzinfo=UTC))
    '2026-01-04T00:00:00.000000Z'
    """
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def plain(value: Any) -> Any:
    """The value as JSON knows it: records become objects, instants become text."""
    if value is None or type(value) in SIMPLE:
        return value
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    return value


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def canonical(value: Any) -> str:
    """The value as JSON with sorted keys and no white space.

    >>> canonical({"b": 1, "a": (2, None)})
    '{"a":[2,null],"b":1}'
    """
    return json.dumps(
        plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(value: Any) -> str:
    """SHA-256 over the canonical JSON of a value, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
