"""Markets, their pages and quotes against the snapshots that they were seen in."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from arena.store.tables import ITEM, MARKET, QUOTE, SNAPSHOT, SYNC, VERSION
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Row
from arena.store.verify.naming import differs, numbered


def check_markets(facts: Facts) -> Iterator[Difference]:
    """Markets, pages and quotes from times at which nobody saw them, and pages that were lost."""
    yield from _from_then(facts)
    pages: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(facts.rows(VERSION), key=lambda row: row["version"]):
        pages[row["market_id"]].append(row)
    for rows in pages.values():
        yield from numbered(facts, VERSION, rows, "version", 1)
    for row in facts.rows(MARKET):
        if row["id"] not in pages:
            yield differs(facts, MARKET, row, "id", "that of a page", "a market was seen because it had one")


def _from_then(facts: Facts) -> Iterator[Difference]:
    """Markets and pages at the times of snapshots and syncs, quotes at those or before a sync."""
    times, syncs = _times(facts), {row["at"] for row in facts.rows(SYNC)}
    for table, column in ((MARKET, "first_seen_at"), (VERSION, "at")):
        for row in facts.rows(table):
            seen = times.get((table.name, row["id"]), set()) | syncs
            if seen and row[column] not in seen:
                yield differs(facts, table, row, column, min(seen), "a snapshot or a sync saw it then")
    last = max(syncs, default="")
    for row in facts.rows(QUOTE):
        seen = times.get(("quote", row["id"]), set())
        if row["at"] not in seen and row["at"] > last:
            why = "a snapshot saw it then" if seen else "neither a snapshot nor a sync saw it"
            yield differs(facts, QUOTE, row, "at", min(seen, default=None), why)


def _times(facts: Facts) -> dict[tuple[str, Any], set[str]]:
    """When each market and page was in a snapshot, and each quote true."""
    found: dict[tuple[str, Any], set[str]] = defaultdict(set)
    snapshots = facts.by_id(SNAPSHOT)
    for item in facts.rows(ITEM):
        snapshot = snapshots.get(item["snapshot_id"])
        if snapshot is not None:
            found["market", item["market_id"]].add(snapshot["taken_at"])
            found["market_version", item["version_id"]].add(snapshot["taken_at"])
        if item["quoted_at"] is not None:
            found["quote", item["quote_id"]].add(item["quoted_at"])
    return found


def check_items(facts: Facts) -> Iterator[Difference]:
    """Places in snapshots that don't fit together."""
    for items in facts.listed.values():
        yield from numbered(facts, ITEM, [item for item, _, _ in items], "position", 0)
        for item, page, quote in items:
            for column, row in (("version_id", page), ("quote_id", quote)):
                if row is not None and row["market_id"] != item["market_id"]:
                    expected = f"one of {item['market_id']}"
                    yield differs(facts, ITEM, item, column, expected, f"that is one of {row['market_id']}")
            if quote is not None and item["quoted_at"] is not None and item["quoted_at"] < quote["at"]:
                why = "a price is true from when it was first seen"
                yield differs(facts, ITEM, item, "quoted_at", f"{quote['at']} or later", why)
            if (item["quote_id"] is None) != (item["quoted_at"] is None):
                yield differs(
                    facts, ITEM, item, "quoted_at", "a time for a quote", "each comes with the other"
                )
            if item["shown"] not in (0, 1):
                yield differs(facts, ITEM, item, "shown", "0 or 1", "a market is on offer or it is not")
