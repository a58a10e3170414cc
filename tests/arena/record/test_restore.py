"""Restoring: nothing is overwritten, nothing that is no good backup gets in, nobody is disturbed."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from arena.errors import ArenaError
from arena.record.files.backup import backup, is_backup
from arena.record.files.restore import RestoreResult, restore
from arena.record.schema.database import connect, newest_schema_version
from arena.verify import verify
from arena.verify.content import verified_content
from tests.arena.record.downgraded import of_version
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.full_record import build
from tests.rows import hash_seen, opened_to_read, read_only

ASIDE = f"record-until-{NOW:%Y%m%dT%H%M%SZ}.db"


def hash_of(path: Path) -> str:
    with read_only(path, older=True) as connection:
        assert verify(connection) == []
        return hash_seen(connection)


@pytest.fixture(scope="module")
def saved(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a backup of the small record, to be restored, never changed."""
    with opened_to_read(built) as engine:
        return backup(engine, tmp_path_factory.mktemp("saved"), 1, NOW, verified_content).path


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Put another record, of one week, at the place that is restored to."""
    build(tmp_path / "record.db", 1).close()
    return tmp_path / "record.db"


def put(file: Path, target: Path, force: bool = False) -> RestoreResult:
    return restore(file, str(target), force, NOW, verified_content)


def refused(file: Path, target: Path, force: bool = True) -> ArenaError:
    """Return why a file can't be restored, after checking that trying changed nothing."""
    before = {path: path.read_bytes() for path in target.parent.iterdir()}
    with pytest.raises(ArenaError) as caught:
        put(file, target, force)
    assert {path: path.read_bytes() for path in target.parent.iterdir()} == before
    return caught.value


def test_a_record_that_is_lost_is_as_its_backup_has_it(saved: Path, built: Path, tmp_path: Path) -> None:
    before = saved.read_bytes()
    done = put(saved, tmp_path / "new.db")
    assert done.aside is None
    assert done.schema == done.content.schema == newest_schema_version()
    assert hash_of(tmp_path / "new.db") == hash_of(built) == done.content.state_hash
    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]
    assert saved.read_bytes() == before
    assert not is_backup(tmp_path / "new.db")


def test_a_season_goes_on_in_a_restored_record(tmp_path: Path, other: Path) -> None:
    with opened_to_read(other) as engine:
        made = backup(engine, tmp_path / "to", 1, NOW, verified_content)
    put(made.path, tmp_path / "new.db")
    with closing(OpenedRecord.at(tmp_path / "new.db")) as record:
        record.end(record.cohorts()[0].id, NOW)
        assert record.engine.connect().exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_a_record_that_is_there_is_not_overwritten(saved: Path, other: Path) -> None:
    error = refused(saved, other, force=False)
    assert error.code == "exists"
    assert error.message == f"{other} already has a record"
    assert "--force" in error.hint


def test_with_force_it_is_moved_aside_whole(saved: Path, built: Path, other: Path) -> None:
    before = hash_of(other)
    assert put(saved, other, force=True).aside == other.with_name(ASIDE)
    assert hash_of(other) == hash_of(built)
    assert hash_of(other.with_name(ASIDE)) == before
    assert sorted(path.name for path in other.parent.iterdir()) == [ASIDE, "record.db"]


def test_what_a_killed_writer_left_in_the_log_is_moved_aside_too(
    saved: Path, built: Path, other: Path, tmp_path: Path
) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    with closing(OpenedRecord.at(other)) as record:
        record.end(record.cohorts()[0].id, NOW)
        for path in other.parent.glob("record.db*"):
            shutil.copy(path, killed)
    assert (killed / "record.db-wal").stat().st_size > 0
    put(saved, killed / "record.db", force=True)
    assert hash_of(killed / "record.db") == hash_of(built)
    with read_only(killed / ASIDE) as connection:
        ended = connection.exec_driver_sql("SELECT ended_at FROM cohort").scalar()
    assert ended is not None


@pytest.mark.parametrize("is_writing", [False, True])
def test_a_record_that_another_process_has_open_is_left_alone(
    is_writing: bool, saved: Path, other: Path
) -> None:
    with closing(OpenedRecord.at(other)) as record, record.engine.connect() as connection:
        connection.exec_driver_sql("SELECT 1 FROM cohort")
        if not is_writing:
            connection.rollback()
        error = refused(saved, other)
        assert error.code == "locked"
        assert error.message == f"{other} is in use by another process"
    assert put(saved, other, force=True).aside


@pytest.mark.parametrize(
    ("text", "code"),
    [("Dear diary", "not_a_record"), ("", "not_a_record"), ("SQLite format 3\0 or so", "damaged")],
)
def test_a_file_that_is_no_database(text: str, code: str, other: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(text, "utf-8")
    error = refused(tmp_path / "notes.txt", other)
    assert error.code == code
    assert str(tmp_path / "notes.txt") in error.message


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ("DROP TABLE cohort; UPDATE alembic_version SET version_num = 'beef'", "not_a_record", ""),
        ("UPDATE alembic_version SET version_num = '9999'", "newer_record", ""),
        ("UPDATE mark SET value = value + 1 WHERE entrant_id = 2", "differs", "{} is inconsistent in "),
    ],
    ids=["somebody else's", "a newer arena's", "one that contradicts itself"],
)
def test_a_database_that_is_no_good_record(
    change: str, code: str, said: str, saved: Path, other: Path, tmp_path: Path
) -> None:
    bad = Path(shutil.copy(saved, tmp_path / "bad.db"))
    with closing(sqlite3.connect(bad)) as database:
        database.executescript(change)
    error = refused(bad, other)
    assert error.code == code
    assert error.message.startswith(said.format(bad))
    assert error.hint


def test_no_file_and_the_record_itself_are_no_backup_of_it(other: Path, tmp_path: Path) -> None:
    assert refused(tmp_path / "none.db", other).code == "no_file"
    assert refused(other, other).code == "same_file"


def test_a_truncated_file_wherever_cut(saved: Path, other: Path, tmp_path: Path, thorough: bool) -> None:
    whole = saved.read_bytes()
    chance = Random("where to cut")
    places = [1, 15, 16, 99, 100, 4096, len(whole) - 1, len(whole) - 4096]
    places += [chance.randrange(len(whole)) for _ in range(200 if thorough else 6)]
    for place in places:
        (tmp_path / "cut.db").write_bytes(whole[:place])
        error = refused(tmp_path / "cut.db", other)
        assert error.code == "damaged", place
        assert str(tmp_path / "cut.db") in error.message


def test_a_file_with_damaged_pages(saved: Path, other: Path, tmp_path: Path, thorough: bool) -> None:
    """Whatever is overwritten is found, or is room that nothing stood in."""
    whole = saved.read_bytes()
    chance = Random("what to damage")
    content = hash_of(saved)
    for trial in range(100 if thorough else 8):
        place = chance.randrange(100, len(whole) - 512)
        (tmp_path / "bad.db").write_bytes(whole[:place] + b"\xa5" * 512 + whole[place + 512 :])
        found: RestoreResult | ArenaError
        try:
            found = put(tmp_path / "bad.db", tmp_path / f"{trial}.db")
        except ArenaError as error:
            found = error
        if isinstance(found, ArenaError):
            assert found.code in ("damaged", "differs", "not_a_record"), place
            assert "bad.db" in found.message
        else:
            assert found.content.state_hash == content


def test_a_backup_of_an_older_schema_is_renewed_on_the_way(
    built: Path, tmp_path: Path, older_version: str
) -> None:
    older = Path(of_version(built, str(tmp_path / "older.db"), older_version))
    with opened_to_read(older, older=True) as engine:
        made = backup(engine, tmp_path / "to", 1, NOW, verified_content)
    done = put(made.path, tmp_path / "new.db")
    assert (done.schema, done.content.schema) == (older_version, newest_schema_version())
    assert hash_of(tmp_path / "new.db") == hash_of(built)
    with pytest.raises(ArenaError, match="an older arena"):
        connect(made.path, read_only=True)


@pytest.mark.parametrize("damaged", ["Dear diary", "SQLite format 3\0" + "\xff" * 5000])
def test_what_can_not_be_read_any_more_is_moved_aside_as_it_is(
    damaged: str, saved: Path, built: Path, tmp_path: Path
) -> None:
    """With its log, which the restored record would else take for its own."""
    target = tmp_path / "record.db"
    target.write_text(damaged, "latin-1")
    target.with_name("record.db-wal").write_text("log", "utf-8")
    assert put(saved, target, force=True).aside == tmp_path / ASIDE
    assert (tmp_path / ASIDE).read_text("latin-1") == damaged
    assert (tmp_path / f"{ASIDE}-wal").read_text("utf-8") == "log"
    assert hash_of(target) == hash_of(built)


def test_where_no_second_name_can_be_given_the_record_is_renamed(
    saved: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    before = hash_of(other)
    put(saved, other, force=True)
    assert hash_of(other.with_name(ASIDE)) == before
