"""Snapshots and the places in them, which have to fit together and be as they were sealed."""

from collections.abc import Iterator, Sequence
from typing import Any

from arena.store.tables import ITEM, SNAPSHOT
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.naming import differs, numbered
from arena.store.verify.parts import Row
from arena.store.verify.played import Listed, Played
from arena.store.verify.seals import sealed, without


def check_snapshot(facts: Facts, cohort: Played, row: Row, places: Sequence[Listed]) -> Iterator[Difference]:
    """A snapshot that is not as it was sealed, or with places that don't fit together."""
    content = without(row, "id", "cohort_id", "hash") | {"cohort": cohort.row["number"]}
    content["items"] = [_seen(*place) for place in places]
    yield from sealed(facts, SNAPSHOT, row, content, "it seals the snapshot and each snapshot_item in it")
    yield from numbered(facts, ITEM, [item for item, _, _ in places], "position", 0)
    for place in places:
        yield from _place(facts, *place)


def _place(facts: Facts, item: Row, page: Row | None, quote: Row | None) -> Iterator[Difference]:
    for column, other in (("version_id", page), ("quote_id", quote)):
        if other is not None and other["market_id"] != item["market_id"]:
            expected = f"one of {item['market_id']}"
            yield differs(facts, ITEM, item, column, expected, f"that is one of {other['market_id']}")
    if quote is not None and item["quoted_at"] is not None and item["quoted_at"] < quote["at"]:
        why = "a price is true from when it was first seen"
        yield differs(facts, ITEM, item, "quoted_at", f"{quote['at']} or later", why)
    if (item["quote_id"] is None) != (item["quoted_at"] is None):
        yield differs(facts, ITEM, item, "quoted_at", "a time for a quote", "each comes with the other")
    if item["shown"] not in (0, 1):
        yield differs(facts, ITEM, item, "shown", "0 or 1", "a market is on offer or it is not")


def _seen(item: Row, page: Row | None, quote: Row | None) -> list[Any]:
    hashes = (row["hash"] if row else None for row in (page, quote))
    return [item["market_id"], *hashes, item["quoted_at"], item["shown"]]
