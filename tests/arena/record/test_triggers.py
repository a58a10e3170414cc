"""The database itself keeps facts as they were written."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError

from arena.errors import ArenaError
from tests.opened_record import OpenedRecord, opened_record
from tests.records.full_record import AT_WORK
from tests.rows import TABLES, read_only

FREE = dict.fromkeys(AT_WORK, "who is at work changes") | {"mark": "a cache of what can be worked out again"}
"""Tables that are no facts: their rows may change."""
MAY_GO = {"quote": "once nothing refers to it, and it is said so"}
PRUNED = "INSERT INTO prune VALUES (99, 9, '2027-01-01', '2026-12-31T00:00:00.000000Z', 1, '')"
FACTS = [name for name in TABLES if name not in FREE]


@pytest.fixture(scope="module")
def engine(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = OpenedRecord.join(
        str(shutil.copy(built, tmp_path_factory.mktemp("triggers") / "record.db"))
    ).engine
    yield engine
    engine.dispose()


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """Yield a connection whose changes are never committed."""
    with engine.connect() as connection:
        yield connection


ONCE = {("cohort", "ended_at"), ("round", "done")}
"""Columns that change once, and only so."""


@pytest.mark.parametrize("table", FACTS)
def test_no_column_of_a_fact_is_changed(table: str, connection: Connection) -> None:
    """Not even to what it was."""
    played = "status <> 'failed'" if table == "turn" else "1"
    for column in (column.name for column in TABLES[table].c):
        if (table, column) not in ONCE:
            with pytest.raises(IntegrityError, match="append-only"):
                connection.execute(text(f'UPDATE "{table}" SET "{column}" = "{column}" WHERE {played}'))


@pytest.mark.parametrize("table", [name for name in FACTS if name not in MAY_GO])
def test_no_fact_is_deleted(table: str, connection: Connection) -> None:
    with pytest.raises(IntegrityError, match="append-only"):
        connection.execute(text(f'DELETE FROM "{table}"'))


AT = "'2027-01-03T12:00:00.000000Z'"
ROUND = (
    f"INSERT INTO snapshot VALUES (99, 2, {AT}, {AT}, '', '')",
    f"INSERT INTO round VALUES (99, 2, 9, {AT}, 99, 0)",
    "UPDATE round SET done = 1 WHERE id = 99",
)
ENDS = f"UPDATE cohort SET ended_at = {AT} WHERE number = 2"
WAYS = ["number = 9", "starts_at = 'x'", "frozen = '{}'", "hash = ''", "id = 9"]
REFUSED = [
    ("append-only", "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE number = 1"),
    ("append-only", "DELETE FROM quote WHERE market_id = 'sky:fog' AND at > '2025-12-28'"),
    ("append-only", PRUNED, "DELETE FROM quote WHERE market_id = 'sky:mist'"),
    ("append-only", ENDS, ENDS),
    ("append-only", ENDS, "UPDATE cohort SET ended_at = NULL WHERE number = 2"),
    *(("append-only", f"UPDATE cohort SET ended_at = 'x', {way} WHERE ended_at IS NULL") for way in WAYS),
    ("append-only", *ROUND, "UPDATE round SET done = 0 WHERE id = 99"),
    *(
        (
            "CHECK",
            f"INSERT INTO resolution VALUES (99, 'sky:fog', {version}, {AT}, {AT}, {payout}, '', '', '')",
        )
        for version, payout in ((0, 5), (1, -1), (1, 1_000_001))
    ),
    ("CHECK", "INSERT INTO entry VALUES (999, 1, 99, '', 'buy', '', '', -1, 0, 0, 0, -1, 0, '', '', '')"),
    ("CHECK", "INSERT INTO entry VALUES (999, 1, 99, '', 'buy', '', '', 0, -1, 0, 0, 0, -1, '', '', '')"),
    ("cannot store TEXT", "INSERT INTO rejection VALUES (1, 'first', '', '', '')"),
]


@pytest.mark.parametrize(("said", "statements"), [(said, statements) for said, *statements in REFUSED])
def test_the_last_of_these_is_refused(said: str, statements: list[str], connection: Connection) -> None:
    """Facts are not replaced, quotes go only where that was said, cohorts and rounds end once."""
    *before, last = statements
    for statement in before:
        connection.execute(text(statement))
    with pytest.raises(IntegrityError, match=said):
        connection.execute(text(last))


@pytest.mark.parametrize("table", ["cohort", "entrant", "prompt"])
def test_what_a_cohort_has_frozen_is_not_replaced_by_any_program(table: str, copy: Path) -> None:
    """Another program's connection does not have the setting by which the guard of deletes hears of it."""
    columns = [column.name for column in TABLES[table].c]
    for column in columns[table == "prompt" :]:
        values = ", ".join(f'"{name}" || 9' if name == column else f'"{name}"' for name in columns)
        database = sqlite3.connect(copy)
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            database.execute(f'INSERT OR REPLACE INTO "{table}" SELECT {values} FROM "{table}" LIMIT 1')
        database.close()


def test_a_second_cohort_of_one_number_reads_as_a_race(copy: Path) -> None:
    """That is what it is: two processes have started one at once."""
    again = "(number, starts_at, frozen, hash) SELECT number, starts_at, frozen, hash FROM cohort LIMIT 1"
    with (
        opened_record(copy) as record,
        record.engine.connect() as connection,
        pytest.raises(ArenaError, match="another process wrote"),
    ):
        connection.execute(text(f"INSERT INTO cohort {again}"))


def test_a_cohort_is_paused_and_goes_on_and_is_stopped_for_good(connection: Connection) -> None:
    for change in ("paused_at = '2027'", "paused_at = NULL", "paused_at = '2028'", "stopped_at = '2028'"):
        assert connection.execute(text(f"UPDATE cohort SET {change} WHERE number = 2")).rowcount == 1
    for change in ("stopped_at = NULL", "stopped_at = '2029'"):
        with pytest.raises(IntegrityError, match="append-only"):
            connection.execute(text(f"UPDATE cohort SET {change} WHERE number = 2"))
    ended = connection.execute(text("UPDATE cohort SET ended_at = '2030' WHERE number = 2"))
    assert ended.rowcount == 1


def test_a_quote_goes_only_when_nothing_refers_to_it(connection: Connection) -> None:
    connection.execute(text(PRUNED))
    followed = "WHERE id < (SELECT max(id) FROM quote AS later WHERE later.market_id = quote.market_id)"
    with pytest.raises(IntegrityError, match="FOREIGN KEY"):
        connection.execute(text(f"DELETE FROM quote {followed} AND market_id = 'sim:wind'"))
    gone = connection.execute(text(f"DELETE FROM quote {followed} AND market_id = 'sky:fog'"))
    assert gone.rowcount == 1


def test_what_was_set_aside_is_only_seen_again(connection: Connection) -> None:
    connection.execute(text("UPDATE set_aside SET times = times + 1, reason = 'another'"))
    for change in ("times = times + 1, code = 'x'", "reason = 'x'", "times = times + 1, last_seen_at = ''"):
        with pytest.raises(IntegrityError, match="append-only"):
            connection.execute(text(f"UPDATE set_aside SET {change}"))


def test_only_a_failed_turn_may_be_played_again(connection: Connection) -> None:
    played = connection.execute(text("UPDATE turn SET status = 'played' WHERE status = 'failed'"))
    assert played.rowcount == 1
    with pytest.raises(IntegrityError, match="append-only"):
        connection.execute(text("UPDATE turn SET note = 'better' WHERE status = 'played'"))


def test_a_read_only_engine_cannot_write(copy: Path) -> None:
    with read_only(copy) as connection, pytest.raises(Exception, match="can only be read"):
        connection.execute(text("DELETE FROM mark"))
    database = sqlite3.connect(copy)
    assert database.execute("SELECT count(*) > 0 FROM mark").fetchone() == (1,)
    database.close()
