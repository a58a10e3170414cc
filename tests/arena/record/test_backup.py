"""Backups: whole under their name or not there, verified, rotated without touching what is not ours."""

import os
import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.record.files.backup import Backup, backup, backup_to, is_backup
from arena.record.files.copy import atomic_file
from arena.record.files.integrity import examine_file
from arena.record.schema.database import connect, newest_schema_version
from arena.verify.content import verified_content
from tests.arena.record.downgraded import of_version
from tests.builders import NOW
from tests.rows import opened_to_read, state_of

HOUR = timedelta(hours=1)


def backed_up(record: Path, folder: Path, hours: int = 0, keep: int = 3) -> Backup:
    with opened_to_read(record, older=True) as engine:
        return backup(engine, folder, keep, NOW + hours * HOUR, verified_content)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_backup_is_one_file_that_says_what_is_in_it(built: Path, tmp_path: Path) -> None:
    made = backed_up(built, tmp_path / "to" / "here")
    assert made.path == tmp_path / "to" / "here" / f"record-{NOW:%Y%m%dT%H%M%SZ}.db"
    assert names(made.path.parent) == [made.path.name]
    assert made.size == made.path.stat().st_size
    assert made.content.schema == newest_schema_version()
    assert made.content.state_hash == state_of(built) == state_of(made.path)
    assert (made.content.counts["cohorts"], made.content.counts["turns"]) == (2, 15)
    assert examine_file(made.path, verified_content) == made.content
    assert is_backup(made.path)
    assert not is_backup(built)
    with sqlite3.connect(built) as here, sqlite3.connect(made.path) as there:
        assert list(here.iterdump()) == list(there.iterdump())


def test_the_newest_stay_and_what_the_arena_did_not_make_stays_too(built: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "record-20200101T000000Z.db"
    shutil.copy(built, theirs)
    others = [tmp_path / name for name in ("other-20200101T000000Z.db", "notes.txt", "record-2020.db")]
    made = backed_up(built, tmp_path)
    for path in others:
        shutil.copy(made.path, path)
    gone = [backed_up(built, tmp_path, hours).gone for hours in (1, 2, 3, 4)]
    assert gone[:2] == [(), ()]
    assert gone[2] == (made.path,)
    stamps = [f"record-{NOW + hours * HOUR:%Y%m%dT%H%M%SZ}.db" for hours in (2, 3, 4)]
    assert names(tmp_path) == sorted([*stamps, theirs.name, *(path.name for path in others)])


def test_the_newest_made_is_kept_though_the_clock_was_put_back(built: Path, tmp_path: Path) -> None:
    later = backed_up(built, tmp_path, hours=5, keep=1)
    earlier = backed_up(built, tmp_path, keep=1)
    assert earlier.gone == ()
    assert names(tmp_path) == sorted([earlier.path.name, later.path.name])


def test_made_again_for_the_same_time_it_replaces_its_own_kind_only(built: Path, tmp_path: Path) -> None:
    made = backed_up(built, tmp_path)
    assert backed_up(built, tmp_path).path == made.path
    made.path.write_text("mine", "utf-8")
    with pytest.raises(ArenaError, match="already exists"):
        backed_up(built, tmp_path)
    assert made.path.read_text("utf-8") == "mine"


def test_a_named_file_is_never_overwritten(built: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.db").write_text("mine", "utf-8")
    with opened_to_read(built) as engine, pytest.raises(ArenaError, match="already exists"):
        backup_to(engine, tmp_path / "mine.db", verified_content)
    assert (tmp_path / "mine.db").read_text("utf-8") == "mine"


def test_a_record_that_contradicts_itself_pushes_out_no_good_backup(copy: Path, tmp_path: Path) -> None:
    good = backed_up(copy, tmp_path / "to", keep=1)
    with sqlite3.connect(copy) as database:
        database.execute("UPDATE mark SET value = value + 1")
    database.close()
    with pytest.raises(ArenaError) as caught:
        backed_up(copy, tmp_path / "to", hours=1, keep=1)
    assert caught.value.code == "differs"
    assert caught.value.message.startswith(f"{copy} is inconsistent in ")
    assert names(tmp_path / "to") == [good.path.name]


def test_of_a_damaged_record_no_backup_is_made(copy: Path, tmp_path: Path) -> None:
    with sqlite3.connect(copy) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entry'").fetchone()[0]
        size = database.execute("PRAGMA page_size").fetchone()[0]
    database.close()
    with copy.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with pytest.raises(ArenaError) as caught:
        backed_up(copy, tmp_path / "to")
    assert caught.value.code == "damaged"
    assert str(copy) in caught.value.message
    assert names(tmp_path / "to") == []


def test_one_process_at_a_time_backs_up_and_what_a_killed_one_left_goes(built: Path, tmp_path: Path) -> None:
    with atomic_file(tmp_path / "record-20200101T000000Z.db", "record"):
        with pytest.raises(ArenaError, match="another process is writing to") as caught:
            backed_up(built, tmp_path)
        assert caught.value.code == "locked"
        (tmp_path / ".record-20200101T000000Z.db.part").write_text("", "utf-8")
    left = [".record-20200101T000000Z.db.part", ".record-20200101T000000Z.db.part-wal"]
    others = [".record-b-20200101T000000Z.db.part", ".record.db.part"]
    for name in left + others:
        (tmp_path / name).write_text("half", "utf-8")
    (tmp_path / ".record.lock").touch()
    (tmp_path / "record-20200101T000000Z.db").unlink()
    made = backed_up(built, tmp_path)
    assert names(tmp_path) == sorted([made.path.name, *others])


@pytest.mark.parametrize("stage", ["copying", "checking", "verifying", "hashing"])
def test_stopped_by_a_key_in_the_midst_of_a_stage_it_ends_at_once_and_nothing_stays(
    stage: str, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.record.files.copy.PAGES", 1)
    monkeypatch.setattr("arena.record.files.integrity.STEPS_BETWEEN_CALLS", 100)
    heard = list[str]()

    def told(what: str, _done: int, _of: int | None) -> None:
        heard.append(what)
        if heard.count(stage) == 2:
            raise KeyboardInterrupt

    with opened_to_read(built) as engine, pytest.raises(KeyboardInterrupt):
        backup(engine, tmp_path / "to", 3, NOW, verified_content, told)
    assert (heard[-1], heard.count(stage)) == (stage, 2)
    assert names(tmp_path / "to") == []


def test_a_folder_that_can_not_be_written_to_is_named(built: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(ArenaError) as caught:
        backed_up(built, tmp_path / "file" / "to")
    assert caught.value.code == "cannot_write"
    assert str(tmp_path / "file") in caught.value.message
    with pytest.raises(ArenaError, match=r"/file is a file, not a folder") as caught:
        backed_up(built, tmp_path / "file")
    assert caught.value.hint == "name another folder, or move it"


def test_a_record_of_an_older_schema_is_backed_up_as_it_is(
    built: Path, tmp_path: Path, older_version: str
) -> None:
    older = Path(of_version(built, str(tmp_path / "older.db"), older_version))
    made = backed_up(older, tmp_path / "to")
    assert made.content.schema == older_version
    assert made.content.state_hash == state_of(built)
    assert names(tmp_path / "to") == [made.path.name]
    with pytest.raises(ArenaError, match="an older arena") as caught:
        connect(made.path, read_only=True)
    assert caught.value.hint == "`arena admin backup --upgrade` brings it up to date"


def test_it_is_written_to_the_disk_before_it_has_its_name(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, bool]] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").resolve()
        seen.append((path.name, (tmp_path / "to" / f"record-{NOW:%Y%m%dT%H%M%SZ}.db").exists()))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    made = backed_up(built, tmp_path / "to")
    assert seen == [(f".{made.path.name}.part", False), ("to", True)]
