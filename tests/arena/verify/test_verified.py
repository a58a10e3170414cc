"""Verifying goes on where it last found nothing, and begins anew where that can't be trusted."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.verify.content import verify_next_part
from arena.verify.reader import NOTHING_VERIFIED, VerifiedHead
from arena.verify.verified import read_verified
from markets.hashes import timestamp_text
from tests.builders import NOW
from tests.opened_record import moved
from tests.program.running import arena_json
from tests.records.seasons import play, worked_out
from tests.records.tampering import tamper, unguarded
from tests.rows import changing, columns_of, read_only

DAY = timedelta(days=1)
AGENTS = ("{kind: random}", "{kind: market}", "{name: sharp, model: demo/sharp}")


def verified(path: Path, *words: str, status: int = 0) -> int:
    """Return the head after which the command began, by how it ended."""
    told = arena_json(path.parent, "admin", "verify", "--database", str(path), *words, status=status)
    assert told["ok"] == (status == 0)
    return int(told["from_head"])


def last_head(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("SELECT max(number) FROM head").fetchone()[0])


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the beginning of a season, to be copied."""
    return worked_out(play(tmp_path_factory.mktemp("begun"), AGENTS, 2))


@pytest.fixture
def unverified(begun: Path, tmp_path: Path) -> Path:
    """Return the beginning of a season."""
    return Path(shutil.copytree(begun.parent, tmp_path / "season")) / begun.name


@pytest.fixture
def record(unverified: Path) -> Path:
    """Return the beginning of a season, which was verified."""
    assert verified(unverified) == 0
    return unverified


def test_what_is_new_is_verified_alone_and_all_of_it_when_asked(record: Path) -> None:
    first = last_head(record)
    assert verified(record) == first
    worked_out(play(record.parent, AGENTS, 3))
    assert last_head(record) > first
    assert verified(record) == first
    assert verified(record) == last_head(record)
    assert verified(record, "--all") == 0


CHANGED = {
    "the schema": ("CREATE INDEX mine ON mark (value)", "UPDATE mark SET value = value + 1 WHERE rowid = 1"),
    "a cache was forged": ("UPDATE rollup SET body = replace(body, 'random', 'x') WHERE name = 'board'",),
    "a guard guards nothing": (
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'BEGIN', 'WHEN 0 BEGIN') WHERE name = 'fill_no_update'",
    ),
}


@pytest.mark.parametrize("change", CHANGED)
def test_a_change_of_what_was_verified_is_found(change: str, record: Path) -> None:
    with closing(sqlite3.connect(record, isolation_level=None)) as database:
        for statement in CHANGED[change]:
            database.execute(statement)
    assert (verified(record, status=1) == 0) == (change == "the schema")


def test_what_is_new_and_wrong_is_found(record: Path) -> None:
    """The schema is as it was when the note was made, so nothing else gives it away."""
    play(record.parent, AGENTS, 3)
    statement = "UPDATE forecast SET probability = 7 WHERE rowid = (SELECT max(rowid) FROM forecast)"
    with closing(sqlite3.connect(record, isolation_level=None)) as database, unguarded(database):
        database.execute(statement)
    assert verified(record, status=1) > 0


OF_OLD = "round_id = (SELECT min(id) FROM round)"
CALL = ", ".join(column for column in columns_of("call") if column not in ("id", "attempt"))
BY_COUNT = {
    "a call gone": f"DELETE FROM call WHERE {OF_OLD}",
    "a head gone": "DELETE FROM head WHERE number = 1",
    "a call added": f"INSERT INTO call (attempt, {CALL}) SELECT 9, {CALL} FROM call WHERE {OF_OLD} LIMIT 1",
    "a call added under an id that was free": (
        f"INSERT INTO call (id, attempt, {CALL}) SELECT -1, 9, {CALL} FROM call WHERE {OF_OLD} LIMIT 1"
    ),
    "a fill gone, and its levels": "DELETE FROM fill WHERE id = (SELECT min(id) FROM fill)",
    "a turn that moved to a new id": "UPDATE turn SET id = id + 1000 WHERE id = (SELECT min(id) FROM turn)",
}


@pytest.mark.parametrize("change", BY_COUNT)
def test_of_what_was_verified_nothing_is_gone_and_to_no_old_round_something_came(
    change: str, record: Path
) -> None:
    """The schema is as it was when the note was made, so nothing but the chain gives it away."""
    with closing(sqlite3.connect(record, isolation_level=None)) as database, unguarded(database):
        assert database.execute(BY_COUNT[change]).rowcount
    assert verified(record, status=1) > 0


def test_a_copy_or_a_spoilt_note_is_verified_whole(record: Path) -> None:
    copy = Path(shutil.copy(record, record.with_name("copy.db")))
    shutil.copy(f"{record}.verified", f"{copy}.verified")
    assert verified(copy) == 0
    Path(f"{record}.verified").write_text(json.dumps({"number": "x"}), "utf-8")
    assert verified(record) == 0


def read_next_part(path: Path, at: datetime) -> VerifiedHead:
    """Run the daily check once."""
    with read_only(path) as connection:
        return verify_next_part(connection, path, path.name, at)


def test_each_run_reads_the_next_part_again_whatever_the_clock_says(unverified: Path) -> None:
    """The first reads all. A run that finds something is made again, until it finds nothing."""
    note = read_next_part(unverified, NOW)
    assert (note.all_since, note.new_at) == (timestamp_text(NOW), timestamp_text(NOW))
    for part in range(3):
        assert read_next_part(unverified, NOW + (part + 1) * DAY).part == part

    tamper(unverified, "UPDATE market_version SET rules = rules || '!' WHERE id = 4")
    put_back = read_next_part(unverified, NOW - 9 * DAY)
    assert (put_back.part, put_back.all_since) == (3, timestamp_text(NOW - 9 * DAY))
    for _ in range(2):
        with pytest.raises(
            ArenaError, match=r"season\.db is inconsistent in one place, first market_version"
        ):
            read_next_part(unverified, NOW + 5 * DAY)

    tamper(unverified, "UPDATE market_version SET rules = rtrim(rules, '!') WHERE id = 4")
    note = read_next_part(unverified, NOW + 6 * DAY)
    assert (note.part, note.parts_at[4]) == (4, timestamp_text(NOW + 6 * DAY))
    assert [read_next_part(unverified, NOW + 30 * DAY).part for _ in range(14)] == [*range(5, 14), *range(5)]
    assert verified(unverified) == last_head(unverified)
    with read_only(unverified) as connection:
        note = read_verified(connection, unverified)
    assert (note.part, note.all_since) == (4, timestamp_text(NOW + 30 * DAY))


def test_a_record_without_a_head_has_nothing_to_be_noted(empty: Path) -> None:
    assert read_next_part(empty, NOW) == read_next_part(empty, NOW) == NOTHING_VERIFIED


def test_of_a_server_the_note_lies_beside_the_config(record: Path, new_database: Callable[[], str]) -> None:
    there = moved(record, new_database())

    def from_head(status: int = 0) -> int:
        told = arena_json(record.parent, "admin", "verify", "--database", there, status=status)
        return int(told["from_head"])

    assert (from_head(), from_head()) == (0, last_head(record))
    assert record.with_name("config.yaml.verified").exists()
    with changing(there) as connection:
        connection.exec_driver_sql("ALTER TABLE forecast DISABLE TRIGGER USER")
        connection.exec_driver_sql("UPDATE forecast SET probability = 7")
        connection.exec_driver_sql("ALTER TABLE forecast ENABLE TRIGGER USER")
    assert from_head(status=1) == 0


def test_on_a_server_a_part_is_read_again(record: Path, new_database: Callable[[], str]) -> None:
    there = moved(record, new_database())
    with read_only(there) as connection:
        runs = [verify_next_part(connection, record, there, NOW) for _ in range(15)]
    assert [note.part for note in runs] == [13, *range(14)]
