"""Cached leaderboards and comparisons computed again from the facts: where they are current they must agree.

All else that is cached can be computed again by whoever doubts it, and is counted here: it proves nothing.
"""

from collections.abc import Iterator
from itertools import chain
from math import isclose
from typing import Any

from arena.record.queries.cohorts import read_cohorts
from arena.record.schema.scores import RollupRow
from arena.scores.cache import CacheKind, as_json
from arena.verify.differences import Difference, Found, Row
from arena.verify.hashes import hash_of, json_in, json_of
from arena.verify.reader import RecordReader, rows_of

KEPT = rows_of(RollupRow)
NEAR = 1e-9
"""How far figures may be apart that were computed on other machines."""
WHY = "it is computed from the record"


def check_caches(facts: RecordReader) -> Found:
    """Leaderboards and comparisons that are not what the record comes to."""
    kept, connection = {row["name"]: row for row in facts.rows(KEPT)}, facts.connection
    if not kept:
        return
    from arena.scores.comparisons import COMPARISONS, compute_comparisons  # slow to load
    from arena.scores.leaderboard import LEADERBOARD, compute_leaderboard

    try:
        numbers = [stored.cohort.number for stored in read_cohorts(connection)]
        for number in chain([None], numbers):
            if row := _current(facts, COMPARISONS, number, kept):
                yield from _compared(row, as_json(COMPARISONS, compute_comparisons(connection, number)))
            if row := _current(facts, LEADERBOARD, number, kept):
                yield from _compared(row, as_json(LEADERBOARD, compute_leaderboard(connection, number)))
    except Exception as error:  # noqa: BLE001 - a damaged record may hold anything
        words = f"{type(error).__name__}: {error}"[:200]
        yield Difference("rollup", "leaderboards", "body", "a cache", "what can be computed", words)
    facts.unproved["cached figures of other pages, or out of date"] += len(kept)


def _current(
    facts: RecordReader, kind: CacheKind[Any], number: int | None, kept: dict[str, Row]
) -> Row | None:
    """What is cached of a kind, where it is current; taken out of what is `kept`."""
    name = kind.name_of(number)
    if name in kept and facts.verified.caches.get(name) == hash_of(kept[name]["body"]):
        del kept[name]
    if name not in kept or kept[name]["basis"] != kind.basis(facts.connection, number):
        return None
    return kept.pop(name)


def _compared(row: Row, computed: Any) -> Found:
    found = json_in(row["body"])
    for path, one, other in _unlike(found, computed, ""):
        yield Difference("rollup", row["name"], path or "body", json_of(one), json_of(other), WHY)
        return


def _unlike(one: Any, other: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two JSON values are not alike; floats may differ by what machines do."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from _unlike(one[key], other[key], f"{path}.{key}" if path else key)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _unlike(left, right, f"{path}[{place}]")
    elif isinstance(one, float) and isinstance(other, float):
        if not isclose(one, other, rel_tol=NEAR, abs_tol=NEAR):
            yield path, one, other
    elif type(one) is not type(other) or one != other:
        yield path, one, other
