"""Canonical JSON, one text for one value, and its SHA-256, which is every hash in the record.

What comes by the thousand is hashed by orjson, which writes the same; tests hold it against `canonical`.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

import orjson
from pydantic import BaseModel

from markets.model import Market, Quote, Resolution

SIMPLE = frozenset((str, int, float, bool, type(None)))
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)
ADDED_TO_PAGES = ("story", "slug", "event_slug", "tags", "form")
FIGURES = ("volume_24h", "liquidity", "open_interest")
"""What pages and prices of earlier versions don't say: where it is not said, a hash is taken without it."""


def canonical(value: Any) -> str:
    """Return a value as JSON with sorted keys and no white space."""
    return canonical_bytes(plain_value(value))


def canonical_bytes(value: Any) -> str:
    """Return the `canonical` JSON of a plain value: texts, numbers, lists, objects keyed by texts."""
    return _ENCODER.encode(value)


def object_without_repeated_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, or raise ValueError for a duplicate key; for `object_pairs_hook`."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        for name, count in counts.items():
            if count > 1:
                raise ValueError(f"the key {name[:40]!r} appears twice")
    return fields


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def plain_digest(value: Mapping[Any, Any]) -> str:
    """Return the `digest` of an object of texts and of numbers of 64 bits.

    It takes a tenth off the CPU of a catalogue's first sync (`benchmarks/sync.py`) and of an import.
    """
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def sha256(value: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(value.encode()).hexdigest()


def quote_hash(quote: Quote) -> str:
    """Return the hash of a quote without its time, so an unchanged price has an unchanged hash."""
    content: dict[str, Any] = {
        "ask": quote.ask,
        "asks": quote.asks,
        "bid": quote.bid,
        "bids": quote.bids,
        "last": quote.last,
        "market_id": quote.market_id,
        "mid": quote.mid,
        "volume": quote.volume,
    }
    for name in FIGURES:
        figure = getattr(quote, name)
        if figure is not None:
            content[name] = figure

    return plain_digest(content)


def market_hash(market: Market) -> str:
    """Return the hash of everything on a market's page."""
    content = {
        "category": market.category,
        "closes_at": timestamp_text(market.closes_at),
        "event_id": market.event_id,
        "fee_rate": market.fee_rate,
        "id": market.id,
        "min_shares": market.min_shares,
        "opens_at": timestamp_text(market.opens_at),
        "question": market.question,
        "rules": market.rules,
        "tick": market.tick,
    }
    return plain_digest(content | added_to_page(market))


def added_to_page(market: Market) -> dict[str, Any]:
    """Return what a page may have since a later version, as far as this one has it."""
    return {name: getattr(market, name) for name in ADDED_TO_PAGES if getattr(market, name)}


def end_content(end: Resolution) -> dict[str, Any]:
    """Return what a resolution's hash covers; only questions other than yes or no have an answer."""
    content: dict[str, Any] = plain_value(end)
    if not end.answer:
        del content["answer"]
    return content


def timestamp_text(at: datetime) -> str:
    """Return an instant as text that sorts in order of time."""
    if at.tzinfo is not UTC:
        at = at.astimezone(UTC)
    return _plain_timestamp(at)


@lru_cache(maxsize=4096)
def _plain_timestamp(at: datetime) -> str:
    """Return the text of an instant in UTC, the only zone where equal keys mean equal instants."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def plain_value(value: Any) -> Any:
    """Return a value in JSON's types: dataclasses as objects, instants as text."""
    kind: Any = type(value)
    if kind in SIMPLE:
        return value
    return _plain_converter(kind)(value)


@cache
def _plain_converter(kind: Any) -> Callable[[Any], Any]:
    """Return how values of a type become plain; cached by type, for a book has a hundred levels."""
    if issubclass(kind, datetime):
        return timestamp_text
    if issubclass(kind, list | tuple):
        return _items
    if issubclass(kind, Mapping):
        return _members
    if is_dataclass(kind):
        names = tuple(field.name for field in fields(kind))
        return lambda value: {name: plain_value(getattr(value, name)) for name in names}
    if issubclass(kind, BaseModel):
        return lambda value: _members(value.model_dump())
    return lambda value: value


def _items(value: Iterable[Any]) -> list[Any]:
    return [item if type(item) in SIMPLE else plain_value(item) for item in value]


def _members(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): item if type(item) in SIMPLE else plain_value(item) for key, item in value.items()}
