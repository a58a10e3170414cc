"""What is in a record once: the database refuses a second row, whoever writes it."""

from collections import defaultdict
from pathlib import Path

from sqlalchemy import inspect

from tests.opened_record import OpenedRecord

ONCE = {
    "attempt": {("round_id", "entrant_id", "number")},
    "benchmark_file": {("kind", "name", "version")},
    "call": {("round_id", "entrant_id", "stage", "sample", "attempt")},
    "cohort": {("number",)},
    "desk_key": {("hash",)},
    "entrant": {("cohort_id", "name"), ("cohort_id", "position")},
    "entry": {("entrant_id", "number")},
    "fill": {("turn_id", "position")},
    "gathering": {("round_id",)},
    "head": {("number",)},
    "incident": {("kind", "subject")},
    "market_version": {("market_id", "version")},
    "prune": {("number",)},
    "quote": {("market_id", "at", "hash")},
    "replacement": {("entrant_id", "round")},
    "resolution": {("market_id", "version")},
    "round": {("cohort_id", "number"), ("cohort_id", "at")},
    "set_aside": {("venue", "record", "kind", "code")},
    "snapshot": {("cohort_id", "at")},
    "sync": {("venue", "number"), ("venue", "at")},
    "tool_result": {("round_id", "key")},
    "turn": {("round_id", "entrant_id")},
}
"""By table: the columns of which no two rows have the same, beside the primary key."""


def test_each_of_these_is_there_once(empty: Path) -> None:
    """A call of one attempt, a turn of an agent in a round, a line of a ledger."""
    engine = OpenedRecord.join(str(empty)).engine
    found = defaultdict[str, set[tuple[str | None, ...]]](set)
    for table in inspect(engine).get_table_names():
        for constraint in inspect(engine).get_unique_constraints(table):
            found[table].add(tuple(constraint["column_names"]))
    engine.dispose()
    assert found == ONCE
