"""The hashes in the record, taken again.

A hash is the SHA-256 of a JSON text: keys sorted, no white space, instants as UTC text with
microseconds. It is taken over

- prompt: the text; cohort: the frozen text;
- market_version: what the page said, and the market's id; a story, slugs and tags only where there are any;
- quote: market, prices, volume and both sides of the book, but not the time; other figures where known;
- snapshot: cohort number, its time and when it was looked at, and per place the market, the hashes of
  its page and its quote, when the quote was true, and whether the market was on offer;
- resolution: market, version, since when it could be known, when it was learnt, payout, source;
- article: what it says and when it was published; a gathering: see `arena/verify/checks/evidence.py`;
- prune: number, time, from before when, how many quotes; a sync: see `arena/verify/checks/syncs.py`;
- call: cohort, round, entrant, and all columns but ids and the hash itself (in earlier versions also
  `made_at`), and those of thinking, citations, host, status, reasoning and cached tokens that say nothing;
  its `prompt_hash`: messages and seed;
- turn: cohort, round, entrant, status as `verdict`, note, cash, orders as `wishes`, the forecasts and the
  rejections, repairs if there are any, where there are second quotes, of each the market, the hash of the
  quote, when it was true and when it was read, and where the frozen settings were replaced, the hash of the
  text of those that it was played by;
- replacement: cohort, agent and all columns but ids;
- fill: all columns but ids, and its levels; entry: all but ids, the hash before it included.
"""

import hashlib
import json
from typing import Any

import orjson

from arena.verify.differences import Found, Row

ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256_of(value: Any) -> str:
    """The hash of a value.

    >>> sha256_of({"b": 1, "a": None}) == hashlib.sha256(b'{"a":null,"b":1}').hexdigest()
    True
    """
    return hash_of(json_of(value))


def json_of(value: Any) -> str:
    """The JSON text of a value."""
    return ENCODER.encode(value)


def hash_of(text: str) -> str:
    """The hash of a JSON text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def json_in(text: str) -> Any:
    """The value behind a JSON text; None when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def objects_in(text: str) -> list[dict[str, Any]]:
    """The objects of the list behind a JSON text; what else is there, its hash tells."""
    found = json_in(text)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def without(row: Row, *names: str) -> dict[str, Any]:
    """The row without some of its columns."""
    return {name: value for name, value in row.items() if name not in names}


def check_hash(row: Row, content: Any, why: str, column: str = "hash") -> Found:
    """The difference, where a row's hash is not that of what it seals."""
    try:
        text = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a half of a pair of surrogates, or an integer beyond 64 bits
        text = b""
    if hashlib.sha256(text).hexdigest() != row[column]:  # some floats are written in another way
        yield from row.check({column: (sha256_of(content), why)})
