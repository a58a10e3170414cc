"""Cached leaderboards and comparisons, recomputed from the facts: current ones must agree.

Other cached values are only counted: they are no evidence, and anyone can recompute them.
"""

from collections.abc import Iterator
from math import isclose
from typing import Any

from arena.record.queries.cohorts import read_cohorts
from arena.scores.cache import CacheKind, as_json
from arena.verify.checks.seals import json_in
from arena.verify.differences import Difference, Found, fault_text
from arena.verify.reader import RecordReader, Row
from markets.hashes import canonical_bytes, sha256

NEAR = 1e-9
"""The tolerance for figures that were computed on another machine."""
OUT_OF_DATE = "cached figures of other pages, or out of date"


def check_caches(facts: RecordReader) -> Found:
    """Yield cached leaderboards and comparisons that differ from what the record gives."""
    kept = facts.by("name", "rollup", "SELECT * FROM rollup ORDER BY name")
    if not kept:
        return
    from arena.scores.comparisons import COMPARISONS, compute_comparisons  # slow to load
    from arena.scores.leaderboard import LEADERBOARD, compute_leaderboard

    connection = facts.connection
    try:
        for number in (None, *(stored.cohort.number for stored in read_cohorts(connection))):
            comparisons = None
            row = _current(facts, COMPARISONS, number, kept)
            if row is not None:
                comparisons = compute_comparisons(connection, number)
                yield from _compare(row, as_json(COMPARISONS, comparisons))

            row = _current(facts, LEADERBOARD, number, kept)
            if row is not None:
                board = compute_leaderboard(connection, number, comparisons)
                yield from _compare(row, as_json(LEADERBOARD, board))
    except Exception as error:  # noqa: BLE001 - a damaged record may hold anything
        why = fault_text(error)
        yield Difference("rollup", "leaderboards", "body", "a cache", "what can be computed", why)
    facts.unproved[OUT_OF_DATE] += len(kept)


def _current(
    facts: RecordReader, kind: CacheKind[Any], number: int | None, kept: dict[str, Row]
) -> Row | None:
    """Take out of `kept` the cached value of a kind; return it if it is current and not verified before."""
    name = kind.name_of(number)
    if name not in kept:
        return None
    if facts.verified.caches.get(name) == sha256(kept[name]["body"]):
        del kept[name]
        return None
    if kept[name]["basis"] != kind.basis(facts.connection, number):
        return None
    return kept.pop(name)


def _compare(row: Row, computed: Any) -> Found:
    """Yield the first figure in which a cached value differs from the computed one."""
    for path, found, expected in _unlike(json_in(row["body"]), computed, ""):
        values = canonical_bytes(found), canonical_bytes(expected)
        yield Difference("rollup", row["name"], path or "body", *values, "it is computed from the record")
        return


def _unlike(found: Any, expected: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield where two JSON values differ; floats may differ in their last digits."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        for key in found:
            yield from _unlike(found[key], expected[key], f"{path}.{key}" if path else key)
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for place, pair in enumerate(zip(found, expected, strict=True)):
            yield from _unlike(*pair, f"{path}[{place}]")
    elif isinstance(found, float) and isinstance(expected, float):
        if not isclose(found, expected, rel_tol=NEAR, abs_tol=NEAR):
            yield path, found, expected
    elif type(found) is not type(expected) or found != expected:
        yield path, found, expected
