"""A record moved between SQLite and PostgreSQL is the same record; its backups are files wherever it is."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, Engine, Table, inspect

from arena.errors import ArenaError
from arena.record.files import copy as copying
from arena.record.files import restore as moving
from arena.record.files.backup import backup, stem_of
from arena.record.files.restore import move_record, restore
from arena.record.schema.database import (
    connect,
    newest_schema_version,
    open_read_only,
    reading,
    schema_version,
    upgrade,
    url_of,
)
from arena.record.schema.statements import insert_lines
from arena.verify.content import verified_content
from portfolio.rules import REALISTIC
from tests.arena.record.downgraded import of_version
from tests.builders import NOW, a_bet
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, Season, a_cohort, build, decides, replace_cap, the_book, week
from tests.rows import read_only


@pytest.fixture
def there(new_database: Callable[[], str]) -> str:
    """Return the address of a new and empty database."""
    return new_database()


def rows_of(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as file:
        return sorted(file.iterdump())


def moved(address: str | Path, to: str | Path) -> str:
    """Return the state hash of a record that was moved."""
    with open_read_only(str(address)) as engine:
        return move_record(engine, str(to), verified_content).state_hash


def hash_of(address: str | Path) -> str:
    with read_only(address, older=True) as connection:
        return verified_content(connection, address).state_hash


def test_from_file_to_file(built: Path, tmp_path: Path) -> None:
    assert moved(built, tmp_path / "new.db") == hash_of(tmp_path / "new.db")
    assert rows_of(tmp_path / "new.db") == rows_of(built)


def test_a_season_goes_on_where_it_was_moved_to(there: str, tmp_path: Path) -> None:
    """New rows are numbered from where the old ones end, and facts are guarded."""
    build(tmp_path / "week.db", 1).close()
    moved(tmp_path / "week.db", there)
    with closing(OpenedRecord.at(there)) as record:
        held = record.holdings(1)
        season = Season(record)
        season.start(a_cohort(2, week(1), replace_cap(REALISTIC), "ann"))
        season.look(2, week(1), the_book(SUN, week(1)))
        season.turn(2, "ann", decides(a_bet(300, market=SUN), sun="0.6"))
        season.value(2, week(1))
        assert record.holdings(1) == held
        with pytest.raises(Exception, match="append-only"), record.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE entry SET cash = 0")
    assert hash_of(there)


def test_to_postgresql_and_back_not_a_row_has_changed(
    built: Path, new_database: Callable[[], str], there: str, tmp_path: Path
) -> None:
    other = new_database()
    assert moved(built, there) == moved(there, other) == moved(other, tmp_path / "back.db") == hash_of(built)
    assert rows_of(tmp_path / "back.db") == rows_of(built)


def test_a_database_with_tables_of_others_takes_no_record(built: Path, there: str) -> None:
    """They would be in every verification and backup of it."""
    with psycopg.connect(there.replace("+psycopg", "")) as connection:
        connection.execute("CREATE TABLE theirs (id int)")
        connection.execute("INSERT INTO theirs VALUES (1)")
    with pytest.raises(ArenaError, match="schema theirs"):
        moved(built, there)
    with psycopg.connect(there.replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT id FROM theirs").fetchall() == [(1,)]
        assert connection.execute("SELECT count(*) FROM turn").fetchall() == [(0,)]


def test_broken_off_in_the_middle_nothing_is_there(
    built: Path, there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(connection: Connection, table: Table, *words: Any) -> None:
        if table.name == "turn":
            raise KeyboardInterrupt
        insert_lines(connection, table, *words)

    monkeypatch.setattr(copying, "insert_lines", break_off)
    with pytest.raises(KeyboardInterrupt):
        moved(built, there)
    monkeypatch.undo()
    engine = connect(there)
    with engine.connect() as connection:
        assert copying.is_empty(connection)
    engine.dispose()
    assert moved(built, there) == hash_of(built)


def test_what_does_not_arrive_as_it_was_is_not_kept(
    built: Path, there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "state_hash", lambda _: "another")
    for to in (there, str(tmp_path / "new.db")):
        with pytest.raises(ArenaError, match="has the state hash") as caught:
            moved(built, to)
        assert caught.value.code == "differs"
    assert list(tmp_path.iterdir()) == []
    engine = connect(there)
    with engine.connect() as connection:
        assert copying.is_empty(connection)
    engine.dispose()


def test_a_backup_of_a_server_is_a_file_of_one_instant(there: str, tmp_path: Path) -> None:
    """What is written while it is made is not in it."""
    build(there, 1).close()
    before = hash_of(there)
    record = OpenedRecord.at(there)

    def write(stage: str, done: int, _: int | None) -> None:
        if stage == "copying" and record.cohorts()[0].ended_at is None:
            record.end(1, NOW)
            with record.engine.begin() as connection:
                connection.exec_driver_sql("INSERT INTO prompt (hash, text) VALUES ('h', 't')")

    with open_read_only(there) as engine:
        made = backup(engine, tmp_path, 3, NOW, verified_content, write)
    record.close()
    assert made.path.name == f"{stem_of(url_of(there))}-{NOW:%Y%m%dT%H%M%SZ}.db"
    assert made.content.state_hash == hash_of(made.path) == before
    with closing(sqlite3.connect(made.path)) as file:
        assert file.execute("SELECT count(*) FROM prompt WHERE hash = 'h'").fetchone() == (0,)
        assert file.execute("SELECT ended_at FROM cohort").fetchone() == (None,)
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            file.execute("DELETE FROM entry")


def test_a_backup_is_restored_into_an_empty_database_only(built: Path, there: str, tmp_path: Path) -> None:
    with open_read_only(str(built)) as engine:
        made = backup(engine, tmp_path, 3, NOW, verified_content)
    done = restore(made.path, there, force=False, at=NOW, check=verified_content)
    assert done.content.state_hash == hash_of(there) == hash_of(built)
    with pytest.raises(ArenaError, match="already holds a record"):
        restore(made.path, there, force=True, at=NOW, check=verified_content)
    with pytest.raises(ArenaError, match="already holds a record"):
        moved(built, there)
    with pytest.raises(ArenaError, match="already exists"):
        moved(built, made.path)
    assert hash_of(there) == hash_of(made.path) == hash_of(built)


def test_an_older_backup_is_not_restored_into_a_server(
    built: Path, there: str, tmp_path: Path, older_version: str
) -> None:
    older = of_version(built, str(tmp_path / "older.db"), older_version)
    with pytest.raises(ArenaError, match="an older arena") as caught:
        restore(Path(older), there, force=False, at=NOW, check=verified_content)
    assert "--database NEW.db upgrades it; then arena admin backup URL" in caught.value.hint


def shape(engine: Engine) -> dict[str, object]:
    """Return every table with its columns, and every index."""
    found = inspect(engine)
    return {
        name: (
            [(column["name"], str(column["type"]), column["nullable"]) for column in found.get_columns(name)],
            sorted((index["name"] or "", *index["column_names"]) for index in found.get_indexes(name)),
        )
        for name in found.get_table_names()
    }


@pytest.mark.parametrize("where", ["file", "server"])
def test_an_older_schema_is_brought_to_the_newest_with_all_that_is_in_it(
    older_version: str, where: str, built: Path, new_database: Callable[[], str], there: str, tmp_path: Path
) -> None:
    address = of_version(built, str(tmp_path / "older.db") if where == "file" else there, older_version)
    with pytest.raises(ArenaError, match="an older arena"):
        connect(address, read_only=True)
    engine = connect(address)
    upgrade(engine)
    with reading(engine) as connection:
        assert schema_version(connection) == newest_schema_version()
        assert verified_content(connection, address).state_hash == hash_of(built)
    with pytest.raises(Exception, match="append-only"), engine.begin() as connection:
        connection.exec_driver_sql("UPDATE cohort SET frozen = '{}'")
    new = connect(str(tmp_path / "new.db") if where == "file" else new_database())
    upgrade(new)
    assert shape(engine) == shape(new)
    for each in (engine, new):
        each.dispose()


def test_a_server_of_an_older_schema_is_backed_up_as_it_is(
    built: Path, there: str, tmp_path: Path, older_version: str
) -> None:
    of_version(built, there, older_version)
    with open_read_only(there, older=True) as engine:
        made = backup(engine, tmp_path, 3, NOW, verified_content)
    assert (made.content.schema, made.content.state_hash) == (older_version, hash_of(built))
