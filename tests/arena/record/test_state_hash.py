"""The state hash: the same for the same facts, another for any other."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Integer

from arena.record.hashes import state_hash
from arena.record.schema.dialects import UtcTime
from arena.record.schema.tables import METADATA
from tests.arena.verify.test_verify import rows_of
from tests.records.full_record import AT_WORK, build, build_anew
from tests.records.tampered import TamperedRecord
from tests.rows import state_of

TABLES = METADATA.tables

SAME = {
    **{(name, "id"): "a row id" for name, table in TABLES.items() if "id" in table.c and name != "market"},
    **{(name, "hash"): "it follows from the rest" for name in TABLES if "hash" in TABLES[name].c},
    **{(name, column.name): "who is at work" for name in AT_WORK for column in TABLES[name].c},
    **{("head", column.name): "it follows from the rest" for column in TABLES["head"].c},
    **{("mark", column.name): "it follows from ledger and quotes" for column in TABLES["mark"].c},
    **{("sync", column.name): "no play stands on it" for column in TABLES["sync"].c},
    **{("sighting", column.name): "no play stands on it" for column in TABLES["sighting"].c},
    **{("set_aside", column.name): "nothing was made of it" for column in TABLES["set_aside"].c},
    **{("benchmark_file", column.name): "no play stands on it" for column in TABLES["benchmark_file"].c},
    **{("prune", column.name): "no play stood on what is gone" for column in TABLES["prune"].c},
    ("entry", "previous"): "it follows from the rest",
    ("fill", "quote_hash"): "it follows from the rest",
    ("call", "prompt_hash"): "it follows from the rest",
    ("cohort", "starts_at"): "it is in the frozen text",
    ("cohort", "ended_at"): "it follows from the rest",
    ("cohort", "paused_at"): "what was not played says it",
    ("cohort", "stopped_at"): "what was not played says it",
    ("entrant", "kind"): "it is in the frozen text",
    ("entrant", "settings"): "it is in the frozen text",
    ("entrant", "address"): "where a server stands is not who is asked",
    ("replacement", "at"): "the clock is the machine's",
    ("round", "done"): "it follows from the rest",
    ("round", "snapshot_id"): "it is the one of the round's time",
    ("market", "first_seen_at"): "it follows from the snapshots",
    ("market", "id"): "it is named wherever something is said of it",
    ("market_version", "market_id"): "it is named in each snapshot",
    ("market_version", "version"): "it follows from the snapshots",
    ("market_version", "at"): "it follows from the snapshots",
    ("snapshot", "taken_at"): "how fast the machine was is not what was seen",
    ("snapshot", "catalogue"): "it names a sync, on whose time no play stands",
    ("quote", "market_id"): "it is named in each snapshot",
    ("quote", "at"): "each snapshot says when the price was true",
    **{
        ("quote", name): "what is drawn by it counts"
        for name in ("volume_24h", "liquidity", "open_interest")
    },
    ("gathering", "found"): "what was not shown is no part of the play",
    ("gathering", "dropped"): "what was not shown is no part of the play",
    ("evidence", "fetched_at"): "the clock is the machine's",
    ("tool_result", "fetched_at"): "the clock is the machine's",
    ("tool_result", "key"): "it follows from the rest",
    ("turn", "code_version"): "who played is not what was played",
    ("turn", "reader"): "by which version an answer was read is not what it says",
    ("turn", "repaired"): "how an answer was read is not what it says",
    **{("attempt", column.name): "how often it failed is not how it ended" for column in TABLES["attempt"].c},
    **{
        ("call", name): "how an answer came is not what it was"
        for name in (
            "attempt", "seed", "finish", "model", "fingerprint", "rung", "tokens_in", "tokens_out", "cost",
            "worst", "latency_ms", "error_message", "error_retry", "made_at", "thinking", "citations", "host",
            "tokens_reasoning", "tokens_cached", "tokens_cache_write", "status",
        )
    },
}  # fmt: skip
"""Columns that the hash is not taken over, and why."""
del SAME["article", "hash"]  # by it the evidence says which article it is

COLUMNS = [(name, column.name) for name, table in TABLES.items() for column in table.c]
COUNTED = [pair for pair in COLUMNS if pair not in SAME]


def hash_of(record: Path | TamperedRecord) -> str:
    """The state hash of the record in a file, or in memory."""
    if isinstance(record, TamperedRecord):
        return state_hash(record.connection)
    return state_of(record)


@pytest.fixture(scope="module")
def whole(built: Path) -> str:
    return hash_of(built)


def changed(record: TamperedRecord, table: str, column: str, where: str = "1") -> None:
    """Another value of the same type in the last row."""
    kind = TABLES[table].c[column].type
    if isinstance(kind, UtcTime):
        value = "'2026-01-04T12:00:00.000001Z'"
    else:
        value = (
            f'coalesce("{column}", 0) + 1000'
            if isinstance(kind, Integer)
            else f"coalesce(\"{column}\", '') || 'x'"
        )
    last = f'(SELECT max(rowid) FROM "{table}" WHERE {where})'
    record.driver.execute(f'UPDATE "{table}" SET "{column}" = {value} WHERE rowid = {last}')


def test_a_season_has_one_hash(whole: str, tmp_path: Path) -> None:
    build_anew(tmp_path / "again.db").close()
    assert hash_of(tmp_path / "again.db") == whole


@pytest.mark.parametrize(("table", "column"), COUNTED)
def test_every_fact_counts(table: str, column: str, whole: str, changing: TamperedRecord) -> None:
    changed(changing, table, column, "error_code IS NULL" if table == "call" else "1")
    assert hash_of(changing) != whole


@pytest.mark.parametrize("table", sorted({table for table, _ in SAME}))
def test_what_is_no_fact_does_not_count(table: str, whole: str, changing: TamperedRecord) -> None:
    """Ids are changed all together, below."""
    for column in sorted(column for name, column in SAME if name == table and column != "id"):
        changed(changing, table, column)
    assert hash_of(changing) == whole


def test_ids_and_the_order_of_rows_do_not_count(whole: str, changing: TamperedRecord) -> None:
    """Every table is written anew, last row first, with ids of its own."""
    before = rows_of(changing.driver, TABLES["turn"])
    for statement in renumbered():
        changing.driver.execute(statement)
    assert rows_of(changing.driver, TABLES["turn"]) != before
    assert hash_of(changing) == whole


def renumbered() -> list[str]:
    statements = []
    for name, table in TABLES.items():
        columns = [column.name for column in table.c]
        numbered = [
            c.name for c in table.c if c.name.endswith("_id") and c.name not in ("market_id", "event_id")
        ]
        numbered += ["id"] if "id" in columns and name != "market" else []
        values = ", ".join(f'5000 - "{c}"' if c in numbered else f'"{c}"' for c in columns)
        statements += [
            f'CREATE TEMP TABLE moved AS SELECT {values} FROM "{name}" ORDER BY rowid DESC',
            f'DELETE FROM "{name}"',
            f'INSERT INTO "{name}" SELECT * FROM moved',
            "DROP TABLE moved",
        ]
    return statements


def test_an_attempt_that_failed_does_not_count(whole: str, changing: TamperedRecord) -> None:
    changing.driver.execute("DELETE FROM call WHERE error_code IS NOT NULL")
    assert hash_of(changing) == whole


def test_an_answer_that_was_followed_by_a_better_one_does_not_count(
    whole: str, changing: TamperedRecord
) -> None:
    changing.driver.execute("UPDATE call SET reply = 'other prose' WHERE reply = 'prose'")
    assert hash_of(changing) == whole
    changing.driver.execute("UPDATE call SET reply = 'other prose' WHERE reply = 'more prose'")
    assert hash_of(changing) != whole


@pytest.mark.parametrize(
    "table", ["forecast", "rejection", "fill_level", "entry", "resolution", "snapshot_item", "evidence"]
)
def test_a_row_more_or_less_counts(table: str, whole: str, changing: TamperedRecord) -> None:
    changing.driver.execute(f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")
    assert hash_of(changing) != whole


def test_an_empty_record_has_a_hash_of_its_own(tmp_path: Path, built: Path, whole: str) -> None:
    build(tmp_path / "empty.db", 0).close()
    assert len(hash_of(tmp_path / "empty.db")) == 64
    assert hash_of(tmp_path / "empty.db") != whole
    assert sqlite3.connect(built).execute("SELECT count(*) FROM turn").fetchone() == (15,)
