"""What takes another file's place, or is handed on, is on the disk before: nobody is told of it otherwise."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.config import load
from arena.config.code import FolderCode
from arena.config.editing import edited
from arena.config.trust import trust, trust_file
from arena.exports.restore import restore
from arena.operations.publisher import publish_due
from markets.bundle.files import JOURNAL, append, locked_folder
from markets.venues.wire.http import AnswerStore
from tests.arena.config_files import SMALL
from tests.arena.config_files import write as write_config
from tests.arena.exports.bent_exports import exported
from tests.builders import NOW
from tests.opened_record import OpenedRecord, backed_up
from tests.records.full_record import build

Flushed = list[tuple[Path, set[str]]]


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> Flushed:
    """The files that the disk was waited for, in order, and what lay beside each at that moment."""
    found: Flushed = []
    fsync = os.fsync

    def noted(number: int) -> None:
        path = Path(f"/proc/self/fd/{number}").readlink()
        folder = path if path.is_dir() else path.parent
        found.append((path, {other.name for other in folder.iterdir()}))
        fsync(number)

    monkeypatch.setattr(os, "fsync", noted)
    return found


@pytest.fixture
def record(tmp_path: Path) -> Iterator[OpenedRecord]:
    """The small record, in a folder of its own."""
    folder = tmp_path / "record"
    folder.mkdir()
    opened = build(folder / "arena.db")
    yield opened
    opened.close()


def test_a_config_is_on_the_disk_before_it_is_kept(flushed: Flushed, tmp_path: Path) -> None:
    config = write_config(tmp_path, SMALL)
    with edited(config, [{"kind": "market", "name": "price"}]) as other:
        [(path, _)] = flushed
        assert path.suffix == ".yaml"
        other.keep()
    assert "price" in [agent.name for agent in load(config).agents]


def test_the_file_of_trusted_folders_is_on_the_disk_before_it_counts(
    flushed: Flushed, tmp_path: Path
) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "user")}
    trust(FolderCode(tmp_path, ()), environ)
    [(_, beside)] = flushed
    file = trust_file(environ)
    assert file.exists()
    assert file.name not in beside


def test_an_export_is_on_the_disk_file_by_file_and_packed(
    flushed: Flushed, record: OpenedRecord, tmp_path: Path
) -> None:
    database = tmp_path / "record" / "arena.db"
    manifest = exported(database, tmp_path / "season")
    assert {path.name for path, _ in flushed} == set(manifest.files)

    flushed.clear()
    exported(database, tmp_path / "season.zip")
    assert flushed[-1][0].name == "packed"


def test_a_restored_record_is_on_the_disk_before_it_has_its_name(
    flushed: Flushed, record: OpenedRecord, tmp_path: Path
) -> None:
    exported(tmp_path / "record" / "arena.db", tmp_path / "season")
    flushed.clear()
    restore(tmp_path / "season", str(tmp_path / "other.db"))
    path, _ = flushed[-1]
    assert path.name == "other.db"
    assert path.parent != tmp_path


def test_a_backup_is_on_the_disk_before_it_has_its_name_and_its_folder_after(
    flushed: Flushed, record: OpenedRecord, tmp_path: Path
) -> None:
    backed_up(tmp_path / "record" / "arena.db", tmp_path / "backups" / "a.db")
    (first, before), (last, after) = flushed
    assert (first.name, last.name) == (".a.db.part", "backups")
    assert ("a.db" in before, "a.db" in after) == (False, True)


def test_a_head_is_on_the_disk_before_it_counts_as_published(
    flushed: Flushed, record: OpenedRecord, tmp_path: Path
) -> None:
    config = load(write_config(tmp_path, f"{SMALL}heads: heads\n"))
    record.add_head(NOW, {"tool": [[1, "0" * 64]]})
    assert asyncio.run(publish_due(config, record, NOW, "me.invalid/1/x")) == ""
    assert [path.name for path, _ in flushed] == ["heads"]


def test_a_bundle_says_on_the_disk_how_long_it_was_before_it_grows(flushed: Flushed, tmp_path: Path) -> None:
    """And its journal goes once what was added is there."""
    with locked_folder(tmp_path / "bundle"):
        append(tmp_path / "bundle", {"notes.jsonl": [{"a": 1}]}, {})
    names = [path.name for path, _ in flushed]
    assert names == [f"{JOURNAL}.new", "bundle", "notes.jsonl", "bundle"]


def test_answers_of_a_venue_outlive_a_crash_of_the_machine_but_for_the_last(tmp_path: Path) -> None:
    """They cost nothing to ask again; what is there must be whole."""
    store = AnswerStore(tmp_path / "answers.db")
    assert store._base.execute("PRAGMA synchronous").fetchone() == (1,)
