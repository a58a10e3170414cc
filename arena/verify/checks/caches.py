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
    unchecked = facts.rows_by("name", "rollup", "SELECT * FROM rollup ORDER BY name")
    if not unchecked:
        return
    from arena.scores.comparisons import COMPARISONS, compute_comparisons  # slow to load
    from arena.scores.leaderboard import LEADERBOARD, compute_leaderboard

    connection = facts.connection
    try:
        for cohort in (None, *(stored.cohort.number for stored in read_cohorts(connection))):
            comparisons = None
            row = _take_current(facts, COMPARISONS, cohort, unchecked)
            if row is not None:
                comparisons = compute_comparisons(connection, cohort)
                yield from _compare_cached(row, as_json(COMPARISONS, comparisons))

            row = _take_current(facts, LEADERBOARD, cohort, unchecked)
            if row is not None:
                board = compute_leaderboard(connection, cohort, comparisons)
                yield from _compare_cached(row, as_json(LEADERBOARD, board))
    except Exception as error:  # noqa: BLE001 - a damaged record may hold anything
        why = fault_text(error)
        yield Difference("rollup", "leaderboards", "body", "a cache", "what can be computed", why)
    facts.unproved[OUT_OF_DATE] += len(unchecked)


def _take_current(
    facts: RecordReader, kind: CacheKind[Any], cohort: int | None, unchecked: dict[str, Row]
) -> Row | None:
    """Take the cached value of a kind out of `unchecked`, and return it if it must be checked.

    Return None, and leave it there, if it is out of date; one that was verified before is only taken out.
    """
    name = kind.name_of(cohort)
    if name not in unchecked:
        return None

    if facts.verified.caches.get(name) == sha256(unchecked[name]["body"]):
        del unchecked[name]
        return None

    # One that is out of date stays in `unchecked`, where it is counted.
    if unchecked[name]["basis"] != kind.basis(facts.connection, cohort):
        return None
    return unchecked.pop(name)


def _compare_cached(row: Row, computed: Any) -> Found:
    """Yield the first figure in which a cached value differs from the computed one."""
    for path, cached, expected in _json_differences(json_in(row["body"]), computed, ""):
        values = canonical_bytes(cached), canonical_bytes(expected)
        yield Difference("rollup", row["name"], path or "body", *values, "it is computed from the record")
        return


def _json_differences(cached: Any, expected: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield where two JSON values differ; floats may differ in their last digits."""
    if isinstance(cached, dict) and isinstance(expected, dict) and cached.keys() == expected.keys():
        for key in cached:
            yield from _json_differences(cached[key], expected[key], f"{path}.{key}" if path else key)
    elif isinstance(cached, list) and isinstance(expected, list) and len(cached) == len(expected):
        for index, pair in enumerate(zip(cached, expected, strict=True)):
            yield from _json_differences(*pair, f"{path}[{index}]")
    elif isinstance(cached, float) and isinstance(expected, float):
        if not isclose(cached, expected, rel_tol=NEAR, abs_tol=NEAR):
            yield path, cached, expected
    elif type(cached) is not type(expected) or cached != expected:
        yield path, cached, expected
