"""Opening a record: odd paths work, and what is no record is told in plain words."""

import sqlite3
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.store.database import NoRecord, connect, reading, url_of
from arena.store.record import Record

ODD = [
    "plain.db",
    "with space.db",
    "50%.db",
    "a#b.db",
    "what?.db",
    "q?mode=ro.db",
    "é ü.db",
    "a&b=c.db",
    "%20.db",
]


@pytest.mark.parametrize("name", ODD)
def test_any_file_name_will_do(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a folder%" / name
    path.parent.mkdir()
    Record.open(str(path)).close()
    assert path.is_file()
    engine = connect(path, read_only=True)
    with reading(engine) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM cohort").scalar() == 0
    engine.dispose()
    assert {file.name for file in path.parent.iterdir()} <= {name, f"{name}-wal", f"{name}-shm"}


def test_a_url_is_taken_as_it_is() -> None:
    url = url_of("postgresql+psycopg://ann@host:1234/arena")
    assert (url.get_backend_name(), url.host, url.port, url.database) == ("postgresql", "host", 1234, "arena")


def code_of(path: Path | str, *, read_only: bool) -> str:
    """The code of the error that opening brings."""
    with pytest.raises(ArenaError) as caught:
        connect(path, read_only=True) if read_only else Record.open(str(path))
    assert str(path) in caught.value.message
    assert caught.value.mend
    return caught.value.code


def test_no_file(tmp_path: Path) -> None:
    assert code_of(tmp_path / "none.db", read_only=True) == "no_record"
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(NoRecord):
        connect(tmp_path / "none.db", read_only=True)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_folder(read_only: bool, tmp_path: Path) -> None:
    assert code_of(tmp_path, read_only=read_only) == "cannot_open"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert code_of(tmp_path / "none" / "record.db", read_only=False) == "cannot_open"


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_no_database(read_only: bool, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 100, encoding="utf-8")
    assert code_of(path, read_only=read_only) == "not_a_record"
    assert path.read_text(encoding="utf-8").startswith("Dear diary")


def test_a_database_that_is_no_record(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "empty.db").execute("CREATE TABLE mine (a)").connection.close()
    assert code_of(tmp_path / "empty.db", read_only=True) == "no_record"


def test_a_url_that_is_none() -> None:
    with pytest.raises(ArenaError) as caught:
        url_of("://nothing")
    assert caught.value.code == "bad_database"


@pytest.mark.parametrize("read_only", [True, False])
def test_a_record_of_a_newer_arena(read_only: bool, copy: Path) -> None:
    database = sqlite3.connect(copy)
    database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.commit()
    database.close()
    with pytest.raises(ArenaError) as caught:
        connect(copy, read_only=True) if read_only else Record.open(str(copy))
    assert caught.value.code == "newer_record"
    assert "9999" in caught.value.message


def test_a_reader_sees_one_state_while_another_writes(copy: Path) -> None:
    record, engine = Record.open(str(copy)), connect(copy, read_only=True)
    count = "SELECT count(*) FROM cohort WHERE ended_at IS NOT NULL"
    with reading(engine) as connection:
        before = connection.exec_driver_sql(count).scalar()
        record.end_cohort(2, record.cohorts()[0].cohort.starts_at)
        assert connection.exec_driver_sql(count).scalar() == before == 1
    with reading(engine) as connection:
        assert connection.exec_driver_sql(count).scalar() == 2
    engine.dispose()
    record.close()
