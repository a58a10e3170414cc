"""Recomputes the hash that stands in each row next to the columns that it covers.

A hash is the SHA-256 of a JSON text: keys sorted, no white space, instants as UTC text with microseconds. It
covers

- prompt: the text; cohort: the frozen text;
- market_version: what the page said, and the market's id; a story, slugs and tags only where there are any;
- quote: market, prices, volume and both sides of the book, but not the time; other figures where known;
- snapshot: cohort number, its time and when it was looked at, and per place the market, the hashes of
  its page and its quote, when the quote was true, and whether the market was on offer;
- resolution, article, prune and benchmark file: all columns but the id;
- gathering: cohort, round, its counts, and of each piece of evidence the market, the article's hash and when
  it was fetched;
- sync: venue, stamp, number, time, how many markets had a price, the hash of those prices, the hash of the
  sync before, and its sightings;
- call: cohort, round, agent, and all columns but ids (in earlier versions not `made_at`), and those of
  thinking, citations, host, status, reasoning and cached tokens that say nothing; its `prompt_hash`: messages
  and seed;
- turn: cohort, round, agent, status as `verdict`, note, cash, orders as `wishes`, the forecasts and the
  rejections, repairs if there are any, where there are second quotes, of each the market, the hash of the
  quote, when it was true and when it was read, and where the frozen settings were replaced, the hash of the
  text of those that it was played by;
- attempt: cohort, round, agent and all columns but ids; tool result: cohort, round and all columns but ids;
  replacement: cohort, agent and all columns but ids;
- fill: all columns but ids, and its levels; entry: all but ids, the hash before it included.
"""

import json
from collections.abc import Sequence
from typing import Any

from arena.record.schema.fields import added_columns
from arena.record.schema.turn import CallRow
from arena.record.write.calls import prompt_hash
from arena.record.write.tools import request_key
from arena.verify.differences import Found
from arena.verify.reader import RecordReader, Row
from markets.hashes import ADDED_TO_PAGES, FIGURES, digest, plain_digest

SEALS_ROW = "it seals what the row says"
ADDED_TO_CALLS = added_columns(CallRow)
"""Columns that a call's hash covers only where they aren't empty: earlier versions don't have them."""
UNSEALED_OF_PRICE = ("id", "at", "book", "hash")
AS_PAIRS = json.JSONDecoder(object_pairs_hook=tuple)
"""Decodes an object as pairs, which shows repeated keys; made once because every price needs it."""


def seal_of(content: Any) -> str:
    """Return the hash of a row's content; an empty text if it can't be written as JSON."""
    try:
        return plain_digest(content)
    except TypeError:  # an integer beyond 64 bits, or a lone surrogate
        pass
    try:
        return digest(content)
    except ValueError:
        return ""


def json_in(text: str) -> Any:
    """Return the value of a JSON text; None if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def object_in(text: str) -> dict[str, Any]:
    """Return the object of a JSON text; an empty one if it holds none."""
    value = json_in(text)
    return value if isinstance(value, dict) else {}


def objects_in(text: str) -> list[dict[str, Any]]:
    """Return the objects in the list of a JSON text; the row's hash reveals anything else in it."""
    listed = json_in(text)
    if not isinstance(listed, list):
        return []
    return [item for item in listed if isinstance(item, dict)]


def check_seal(row: Row, content: Any, why: str = SEALS_ROW) -> Found:
    """Yield the difference if a row's hash is not that of its content."""
    seal = seal_of(content)
    if row["hash"] != seal:
        yield row.differs("hash", seal, why)


def check_seals(facts: RecordReader) -> Found:
    """Yield the rows of inputs whose hash is not that of their content."""
    for row in facts.rows_to_check("prompt"):
        yield from check_seal(row, row["text"])
    for row in facts.rows_to_check("cohort"):
        yield from check_seal(row, row["frozen"])
    for table in ("article", "prune", "benchmark_file"):
        for row in facts.rows_to_check(table):
            yield from check_seal(row, row.without("id", "hash"))
    for row in facts.rows_to_check("resolution"):
        unsealed = [] if row["answer"] else ["answer"]  # only questions other than yes/no have one
        yield from check_seal(row, row.without("id", "hash", *unsealed))

    for row in facts.rows_to_check("market_version"):
        unsealed = [name for name in ADDED_TO_PAGES if not row[name]]  # pages of earlier versions have none
        content = row.without("id", "market_id", "version", "at", "hash", *unsealed)
        yield from check_seal(row, content | {"id": row["market_id"]})


def check_prices(facts: RecordReader) -> Found:
    """Yield the quotes whose hash is not that of their content."""
    for row in facts.rows_to_check("quote"):
        content = dict(row)
        for name in UNSEALED_OF_PRICE:
            del content[name]
        for name in FIGURES:
            if row[name] is None:
                del content[name]
        content |= _sealed_book(row["book"])
        yield from check_seal(row, content)


def _sealed_book(text: str) -> dict[str, Any]:
    """Return both sides of an order book as a hash covers them; the raw text if it is malformed."""
    try:
        pairs = AS_PAIRS.decode(text)
        book = dict(pairs)
        sides = {"bids": _levels(book["bids"]), "asks": _levels(book["asks"])}
    except (KeyError, TypeError, ValueError, RecursionError):
        return {"book": text}

    # Another or a repeated key is not in `sides`, so that the raw text has to be sealed.
    if not isinstance(pairs, tuple) or len(pairs) != len(sides):
        return {"book": text}
    return sides


def _levels(side: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    return [{"price": price, "shares": shares} for price, shares in side]


def check_calls(facts: RecordReader) -> Found:
    """Yield the calls, failures, replacements and tool results whose hash is not that of their content."""
    for row in facts.rows_to_check("call"):
        unsealed = [name for name, value in ADDED_TO_CALLS.items() if row[name] == value]
        content = row.without("id", "round_id", "entrant_id", "hash", *unsealed) | facts.natural_key(row)

        # Earlier versions sealed a call without its time.
        without_time = content.copy()
        del without_time["made_at"]
        if row["hash"] != seal_of(without_time):
            yield from check_seal(row, content, "it seals what was asked and answered, and when")
        expected = {"prompt_hash": prompt_hash(row["messages"], row["seed"])}
        yield from row.compare(expected, "it is the hash of messages and seed")

    for row in facts.rows_to_check("attempt"):
        yield from check_seal(
            row, row.without("id", "round_id", "entrant_id", "hash") | facts.natural_key(row)
        )
    for row in facts.rows_to_check("replacement"):
        cohort = facts.value_of("entrant", row["entrant_id"], "cohort_id")
        agent_key = {"cohort": facts.value_of("cohort", cohort, "number")}
        agent_key["agent"] = facts.value_of("entrant", row["entrant_id"], "name")
        yield from check_seal(row, row.without("id", "entrant_id", "hash") | agent_key)
    for row in facts.rows_to_check("tool_result"):
        content = row.without("id", "round_id", "hash") | facts.natural_key(row)
        del content["entrant"]
        yield from check_seal(row, content, "it seals what was told")
        key = request_key(row["agent"], row["tool"], row["request"])
        yield from row.compare({"key": key}, "it is that of its request")
