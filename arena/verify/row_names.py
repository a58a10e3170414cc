"""The names of rows as people would say them: cohort, round, entrant, and what tells a row from its like."""

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Table

from arena.record.schema.cohort import CohortRow, EntrantRow, GatheringRow, RoundRow, SnapshotRow
from arena.record.schema.turn import FillRow, TurnRow
from arena.record.schema.world import SyncRow
from arena.verify.differences import Difference
from arena.verify.reader import RecordReader, Row

Expected = dict[str, tuple[Any, str]]
"""What columns must hold, each with the rule that says so."""

PARENTS = {
    "fill_id": FillRow.__table__,
    "turn_id": TurnRow.__table__,
    "gathering_id": GatheringRow.__table__,
    "round_id": RoundRow.__table__,
    "entrant_id": EntrantRow.__table__,
    "cohort_id": CohortRow.__table__,
    "snapshot_id": SnapshotRow.__table__,
    "sync_id": SyncRow.__table__,
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
    "head": "head {number}",
}
"""What tells a row from others with the same parent."""


def key_of(facts: RecordReader, table: Table, row: Row) -> str:
    """A row's name: `cohort 1, round 2, ann, fill 0`."""
    own = FORMS.get(table.name, "").format_map(row)
    return ", ".join(part for part in (_parent(facts, row), own) if part)


def _parent(facts: RecordReader, row: Row) -> str:
    for column, table in PARENTS.items():
        if column not in row:
            continue
        name = _known(facts, table, row[column])
        if column != "round_id" or "entrant_id" not in row:
            return name
        entrant = facts.find(EntrantRow.__table__, row["entrant_id"])
        return f"{name}, {entrant['name'] if entrant else 'nobody'}"
    return ""


def _known(facts: RecordReader, table: Table, id: int) -> str:
    row = facts.find(table, id)
    return f"no {table.name}" if row is None else key_of(facts, table, row)


def differs(facts: RecordReader, table: Table, row: Row, column: str, expected: Any, why: str) -> Difference:
    """The difference that a row has in a column."""
    return Difference(table.name, key_of(facts, table, row), column, row[column], expected, why)


def check_fields(facts: RecordReader, table: Table, row: Row, expected: Expected) -> Iterator[Difference]:
    """Every column of a row that doesn't hold what it must."""
    for column, (value, why) in expected.items():
        if row[column] != value:
            yield differs(facts, table, row, column, value, why)


def check_numbers(
    facts: RecordReader, table: Table, rows: Iterable[Row], column: str, first: int
) -> Iterator[Difference]:
    """The first of some rows, in order, whose numbers leave a gap."""
    for expected, row in enumerate(rows, first):
        if row[column] != expected:
            yield differs(facts, table, row, column, expected, "there is no gap")
            return
