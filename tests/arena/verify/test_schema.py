"""What a record holds beside its facts: rows that nothing names, texts with two readings, keys and guards."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.record.files.restore import restore
from arena.verify import verify
from arena.verify.checks.schema import GUARDS
from arena.verify.content import verified_content
from tests.arena.verify.test_verify import differences
from tests.builders import NOW
from tests.opened_record import make_queue, new_record, opened_record
from tests.records.chain import found_in, published
from tests.records.full_record import build
from tests.records.tampering import tamper
from tests.rows import changing, read_only

LAST_SYNC = "(SELECT max(at) FROM sync)"
STRAY = {
    "UPDATE call SET id = 9223372036854775807 WHERE id = 3": "rows are counted from 1",
    "INSERT INTO article SELECT 'x', 'me', '', 'News', '', published_at, dated FROM article LIMIT 1": (
        "no evidence names it"
    ),
    "INSERT INTO prompt VALUES ('~', 'Cheat.')": "no cohort names it",
    "UPDATE publication SET number = 1000": "there is no later one",
    "UPDATE head SET members = replace(members, ',', ', ') WHERE number = 3": (
        "it is JSON as the arena writes it"
    ),
    "INSERT INTO head SELECT NULL, number + 1, NULL, NULL, at, '[]', '{}', hash, 'x' FROM head "
    "ORDER BY number DESC LIMIT 1": "there is no head over nothing",
    "UPDATE quote SET book = '{\"asks\":[[1,1]],' || substr(book, 2) WHERE id = 9": (
        "it seals what the row says"
    ),
    f"UPDATE market SET first_seen_at = {LAST_SYNC} WHERE id = 'sky:fog'": "its first page was seen then",
}


def test_rows_that_nothing_names_and_texts_with_two_readings_are_found(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    build(path, watched=True).close()
    tamper(path, *STRAY)
    found = [x.why for x in differences(path)]
    assert [why for why in STRAY.values() if not any(why in each for each in found)] == []


def test_a_market_that_neither_a_snapshot_nor_a_sync_saw_is_found(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    build(path, weeks=1).close()
    page = "event_id, question, rules, category, opens_at, closes_at, tick, fee_rate, min_shares, hash"
    tamper(
        path,
        "INSERT INTO market SELECT 'sim:ghost', first_seen_at FROM market LIMIT 1",
        f"INSERT INTO market_version (market_id, version, at, {page}) "
        f"SELECT 'sim:ghost', 1, at, {page} FROM market_version LIMIT 1",
    )
    assert {(x.table, x.why) for x in differences(path) if x.field != "hash"} == {
        ("market", "a snapshot or a sync saw it then"),
        ("market_version", "a snapshot or a sync saw it then"),
    }


LOOSE = ("CREATE TABLE loose AS SELECT * FROM mark", "DROP TABLE mark", "ALTER TABLE loose RENAME TO mark")
TWIN = "INSERT INTO mark SELECT * FROM mark LIMIT 1"
TOUCHED = {
    "a row twice, its table without keys": ((*LOOSE, TWIN), {("mark", "table"), ("mark", "key")}),
    "a guard gone": (("DROP TRIGGER forecast_no_update",), {("triggers", "guards")}),
    "a guard that guards nothing": (
        (
            "DROP TRIGGER forecast_no_update",
            "CREATE TRIGGER forecast_no_update BEFORE UPDATE ON forecast BEGIN SELECT 1; END",
        ),
        {("triggers", "guards")},
    ),
    "texts that are alike in capitals, and an index that leaves rows out": (
        (
            "CREATE INDEX bold ON turn (id) WHERE status = 'failed'",
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = substr(sql, 1, instr(sql, ' WHERE')) WHERE name = 'bold'",
            "UPDATE sqlite_master SET sql = replace(sql, 'stage TEXT', 'stage TEXT COLLATE NOCASE')",
        ),
        {("turn", "index"), ("forecast", "columns"), ("call", "columns")},
    ),
    "turns that replace others, and an index of prices by hash before time": (
        (
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = replace(sql,'_id),','_id) ON CONFLICT FAIL,') WHERE name='turn'",
            "UPDATE sqlite_master SET sql = replace(sql, 'at, hash)', 'hash, at)') WHERE name = 'quote'",
        ),
        {("turn", "columns"), ("quote", "key")},
    ),
    "ends that are not kept": (
        ("CREATE TRIGGER t BEFORE INSERT ON resolution BEGIN SELECT RAISE(IGNORE); END",),
        {("resolution", "trigger")},
    ),
}


@pytest.mark.parametrize("what", TOUCHED)
def test_tables_without_their_keys_and_guards_that_are_gone_are_found(what: str, copy: Path) -> None:
    statements, expected = TOUCHED[what]
    with closing(sqlite3.connect(copy, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)
    assert {(x.key, x.field) for x in differences(copy) if x.table == "schema"} == expected


def test_a_server_has_its_guards_too(new_database: Callable[[], str]) -> None:
    address = new_database()
    with opened_record(address) as record:
        assert record.read(verify) == []
    with changing(address) as connection:
        connection.exec_driver_sql("ALTER TABLE forecast DISABLE TRIGGER forecast_no_update")
        connection.exec_driver_sql("ALTER TABLE mark DROP CONSTRAINT mark_pkey")
    with read_only(address) as connection:
        assert {(x.key, x.field) for x in verify(connection)} == {("mark", "key"), ("triggers", "guards")}
    assert GUARDS.keys() == {"sqlite", "postgresql"}


BESIDE = {
    "CREATE TABLE passwords (word TEXT)": ("passwords", "a table"),
    'CREATE TABLE "sqliteX" (x)': ("sqliteX", "a table"),
    "CREATE TABLE procrastinate_jobs (x)": ("procrastinate_jobs", "a table"),
    "CREATE VIEW zzz AS SELECT 1 AS x": ("zzz", "a view"),
    "CREATE VIEW broken AS SELECT * FROM nowhere": ("broken", "a view"),
    "CREATE VIRTUAL TABLE search USING fts5(words)": ("search", "a virtual table"),
}


@pytest.mark.parametrize("statement", BESIDE)
def test_a_table_that_is_no_part_of_a_record_is_named(statement: str, copy: Path, tmp_path: Path) -> None:
    name, what = BESIDE[statement]
    with closing(sqlite3.connect(copy, isolation_level=None)) as database:
        database.execute(statement)
        database.execute("ANALYZE")
    told = [(x.table, x.key, x.found, x.why) for x in differences(copy)]
    assert told == [("schema", name, what, "no part of a record")]
    with pytest.raises(ArenaError, match=name) as caught:
        restore(copy, str(tmp_path / "restored.db"), False, NOW, verified_content)
    assert caught.value.code == "differs"
    assert not (tmp_path / "restored.db").exists()


def test_on_a_server_they_are_named_too_and_a_queue_and_extensions_belong_there(
    new_database: Callable[[], str],
) -> None:
    address = new_database()
    new_record(address)
    make_queue(address)
    with read_only(address) as connection:
        assert verify(connection) == []
    with changing(address) as connection:
        connection.exec_driver_sql("CREATE TABLE passwords (word text)")
        connection.exec_driver_sql("CREATE VIEW zzz AS SELECT 1 AS x")
        connection.exec_driver_sql("CREATE MATERIALIZED VIEW kept AS SELECT 1 AS x")
        connection.exec_driver_sql("CREATE TABLE parts (x int) PARTITION BY LIST (x)")
        connection.exec_driver_sql("CREATE TEMPORARY TABLE mine (x int)")
    with read_only(address) as connection:
        assert {(x.key, x.found) for x in verify(connection)} == {
            ("passwords", "a table"),
            ("zzz", "a view"),
            ("kept", "a materialized view"),
            ("parts", "a table"),
        }


def test_a_file_of_heads_must_have_some_and_no_gap(copy: Path) -> None:
    *left, _ = published(copy)
    found = found_in(copy, left)
    assert (found.count, found.unproved["heads that the file is without"]) == (0, 1)
    assert [x.key for x in found_in(copy, [*left[:2], *left[3:]]).listed] == ["head 3"]
    assert [x.why for x in found_in(copy, ["", "{"]).listed] == ["a file without heads proves nothing"]
