"""The names of rows as people would say them: cohort, round, entrant, and what tells a row from its like."""

from typing import Any

from arena.record.schema.cohort import CohortRow, EntrantRow, GatheringRow, RoundRow, SnapshotRow
from arena.record.schema.turn import FillRow, TurnRow
from arena.record.schema.world import SyncRow
from arena.verify.differences import Difference, Row, RowDifference
from arena.verify.reader import RecordReader

PARENTS: dict[str, Any] = {
    "fill_id": FillRow,
    "turn_id": TurnRow,
    "gathering_id": GatheringRow,
    "round_id": RoundRow,
    "entrant_id": EntrantRow,
    "cohort_id": CohortRow,
    "snapshot_id": SnapshotRow,
    "sync_id": SyncRow,
}
"""Rows that others take part of their name from; the first that a row refers to counts."""

FORMS = {
    "prompt": "prompt {hash}",
    "cohort": "cohort {number}",
    "entrant": "{name}",
    "market": "{id}",
    "market_version": "{market_id}, version {version}",
    "quote": "{market_id} at {at}",
    "replacement": "settings from round {round} on",
    "snapshot": "snapshot of {at}",
    "snapshot_item": "place {position}",
    "resolution": "{market_id}, version {version}",
    "round": "round {number}",
    "article": "article {hash}",
    "gathering": "its evidence",
    "evidence": "piece {position}",
    "tool_result": "{tool} {key}",
    "call": "{stage}, sample {sample}, attempt {attempt}",
    "attempt": "failure {number}",
    "forecast": "{market_id}, {stage}",
    "rejection": "rejection {position}",
    "second_quote": "second quote of {market_id}",
    "fill": "fill {position}",
    "fill_level": "level {position}",
    "entry": "entry {number}",
    "mark": "{at}",
    "sync": "{venue}, sync {number}",
    "sighting": "{market_id}",
    "set_aside": "{venue}, {kind} {record}, {code}",
    "prune": "prune {number}",
    "benchmark_file": "{kind} of {name}, version {version}",
    "head": "head {number}",
}
"""What tells a row from others with the same parent."""


def key_of(facts: RecordReader, row: Row) -> str:
    """A row's name: `cohort 1, round 2, ann, fill 0`."""
    own = FORMS.get(row.table.name, "").format_map(row)
    return ", ".join(part for part in (_parent(facts, row), own) if part)


def _parent(facts: RecordReader, row: Row) -> str:
    for column, table in PARENTS.items():
        if column not in row:
            continue
        parent = facts.find(table, row[column])
        name = f"no {table.__table__.name}" if parent is None else key_of(facts, parent)
        if column != "round_id" or "entrant_id" not in row:
            return name
        entrant = facts.find(EntrantRow, row["entrant_id"])
        return f"{name}, {entrant['name'] if entrant else 'nobody'}"
    return ""


def named(facts: RecordReader, found: Difference | RowDifference) -> Difference:
    """A difference with the name of its row."""
    if isinstance(found, Difference):
        return found
    row, column = found.row, found.field
    return Difference(row.table.name, key_of(facts, row), column, row[column], found.expected, found.why)
