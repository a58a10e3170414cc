"""The hashes in the record, taken again.

A hash is the SHA-256 of a JSON text: keys sorted, no white space, instants as UTC text with
microseconds. It is taken over

- prompt: the text; cohort: the frozen text;
- market_version: what the page said, and the market's id;
- quote: market, prices, volume and both sides of the book, but not the time;
- snapshot: cohort number, its time and when it was looked at, and per place the market, the hashes of
  its page and its quote, when the quote was true, and whether the market was on offer;
- resolution: market, version, since when it could be known, when it was learnt, payout, source;
- article: what it says and when it was published; a gathering: see `arena/store/verify/evidence.py`;
- prune: number, time, from before when, how many quotes; a sync: see `arena/store/verify/syncs.py`;
- call: cohort, round, entrant, and all columns but ids, `made_at` and the hash itself;
  its `prompt_hash`: messages and seed;
- turn: cohort, round, entrant, verdict, note, cash, wishes, the forecasts and the rejections;
- fill: all columns but ids, and its levels; entry: all but ids, the hash before it included.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Table

from arena.store.tables import (
    ARTICLE,
    CALL,
    COHORT,
    ENTRY,
    FILL,
    FORECAST,
    LEVEL,
    PROMPT,
    PRUNE,
    QUOTE,
    REJECTION,
    RESOLUTION,
    SNAPSHOT,
    TURN,
    VERSION,
)
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Row
from arena.store.verify.naming import compared


def check_seals(facts: Facts) -> Iterator[Difference]:
    """Every hash that is not the one of what it seals."""
    for table, sealed in _plainly_sealed():
        for row in facts.rows(table):
            yield from _sealed(facts, table, row, sealed(row), "it seals what the row says")
    yield from _snapshots(facts)
    yield from _turns(facts)
    yield from _fills(facts)
    yield from _calls(facts)


def sha256_of(value: Any) -> str:
    """The hash of a value.

    >>> sha256_of({"b": 1, "a": None}) == hashlib.sha256(b'{"a":null,"b":1}').hexdigest()
    True
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parsed(text: str) -> Any:
    """The value behind a JSON text; None when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def without(row: Row, *names: str) -> Row:
    """The row without some of its columns."""
    return {name: value for name, value in row.items() if name not in names}


def _plainly_sealed() -> list[tuple[Table, Any]]:
    return [
        (PROMPT, lambda row: row["text"]),
        (COHORT, lambda row: row["frozen"]),
        (VERSION, lambda row: without(row, "market_id", "version", "at", "hash") | {"id": row["market_id"]}),
        (QUOTE, lambda row: without(row, "id", "at", "book", "hash") | _book(row["book"])),
        (RESOLUTION, lambda row: without(row, "id", "hash")),
        (ARTICLE, lambda row: without(row, "hash")),
        (PRUNE, lambda row: without(row, "id", "hash")),
        (ENTRY, lambda row: without(row, "id", "entrant_id", "hash")),
    ]


def _book(text: str) -> dict[str, Any]:
    """Both sides as the hash has them; whatever else the text says, so that it can't fit."""
    book = parsed(text)
    try:
        return {side: [{"price": p, "shares": s} for p, s in book[side]] for side in ("bids", "asks")}
    except (KeyError, TypeError, ValueError):
        return {"book": text}


def _sealed(
    facts: Facts, table: Table, row: Row, sealed: Any, why: str, column: str = "hash"
) -> Iterator[Difference]:
    return compared(facts, table, row, {column: (sha256_of(sealed), why)})


def _snapshots(facts: Facts) -> Iterator[Difference]:
    cohorts = facts.by_id(COHORT)
    for row in facts.rows(SNAPSHOT):
        cohort = cohorts.get(row["cohort_id"])
        items = [_seen(*listed) for listed in facts.listed.get(row["id"], ())]
        sealed = without(row, "id", "cohort_id", "hash") | {"items": items}
        sealed["cohort"] = cohort["number"] if cohort else None
        why = "it seals the snapshot and each snapshot_item in it"
        yield from _sealed(facts, SNAPSHOT, row, sealed, why)


def _seen(item: Row, version: Row | None, quote: Row | None) -> list[Any]:
    page, price = (row["hash"] if row else None for row in (version, quote))
    return [item["market_id"], page, price, item["quoted_at"], item["shown"]]


def _turns(facts: Facts) -> Iterator[Difference]:
    forecasts, rejections = facts.grouped(FORECAST, "turn_id"), facts.grouped(REJECTION, "turn_id")
    for row in facts.rows(TURN):
        said = [[f["market_id"], f["stage"], f["probability"], f["reason"]] for f in forecasts[row["id"]]]
        refused = [[r["code"], r["message"], r["market_id"]] for r in rejections[row["id"]]]
        sealed = without(row, "id", "round_id", "entrant_id", "code_version", "hash") | _place(facts, row)
        sealed |= {"forecasts": sorted(said), "rejections": refused}
        why = "it seals the turn, each forecast and each rejection in it"
        yield from _sealed(facts, TURN, row, sealed, why)


def _fills(facts: Facts) -> Iterator[Difference]:
    levels = facts.grouped(LEVEL, "fill_id")
    for row in facts.rows(FILL):
        parts = [without(level, "fill_id", "position") for level in levels[row["id"]]]
        sealed = without(row, "id", "turn_id", "position", "hash") | {"levels": parts}
        yield from _sealed(facts, FILL, row, sealed, "it seals the fill and each fill_level of it")


def _calls(facts: Facts) -> Iterator[Difference]:
    for row in facts.stream(CALL):
        sealed = without(row, "id", "round_id", "entrant_id", "made_at", "hash") | _place(facts, row)
        yield from _sealed(facts, CALL, row, sealed, "it seals what was asked and answered")
        asked = {"messages": parsed(row["messages"]), "seed": row["seed"]}
        yield from _sealed(facts, CALL, row, asked, "it is the hash of messages and seed", "prompt_hash")


def _place(facts: Facts, row: Row) -> dict[str, Any]:
    cohort, number, name = facts.place(row) or (None, None, None)
    return {"cohort": cohort, "round": number, "entrant": name}
