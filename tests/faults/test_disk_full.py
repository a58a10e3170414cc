"""The disk is full: it is said in words, nothing is left half-written, and with room again all goes on."""

import json
import resource
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from arena.errors import ArenaError
from arena.record.record import Record
from arena.record.schema.database import open_read_only, reading
from arena.verify.content import verified_content
from tests.faults.little import play, witnessed, write_config
from tests.program.command_line import command, environment

KB = 1_024
WORDS = {
    "disk_full": "the disk is full: cannot write {}",
    "disk_error": "the disk failed at {}",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The season played to its end, and its state hash."""
    folder = tmp_path_factory.mktemp("whole")
    write_config(folder)
    with closing(Record.open(str(folder / "season.db"))) as record:
        play(record, folder)
    return folder / "season.db", hash_of(folder / "season.db")


def hash_of(database: Path) -> str:
    """The state hash of a record that agrees with itself."""
    with open_read_only(str(database)) as engine, reading(engine) as connection:
        return verified_content(connection, database).state_hash


def with_room(kilobytes: int) -> Callable[[], None]:
    """What has a process see a full disk as soon as a file gets longer than that."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * KB, kilobytes * KB))


def arena(folder: Path, *words: str, kilobytes: int | None = None) -> Any:
    """The exit status, what is said as JSON, and what is said beside it."""
    full = None if kilobytes is None else with_room(kilobytes)
    done = subprocess.run(
        command(*words, "--json"),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        preexec_fn=full,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


def test_in_a_season_it_ends_in_words_and_with_room_again_in_the_hash_of_an_unbroken_one(
    whole: tuple[Path, str], tmp_path: Path
) -> None:
    write_config(tmp_path)
    size = whole[0].stat().st_size // KB
    season = ["demo", "--headless", "--resume", "--config", "config.yaml", "--database", "season.db"]
    for kilobytes in (40, size // 2):  # not enough for the tables, and for the season
        status, said = arena(tmp_path, *season, kilobytes=kilobytes)
        assert status == 1
        assert said["error"]["message"] == WORDS[said["error"]["code"]].format("season.db")
        assert "room" in said["error"]["mend"] or "space" in said["error"]["mend"]
        Record.open(str(tmp_path / "season.db")).close()
    assert hash_of(tmp_path / "season.db") != whole[1]
    status, said = arena(tmp_path, *season)
    assert (status, said["state_hash"]) == (0, whole[1])


def test_at_whatever_page_the_room_ends(whole: tuple[Path, str], tmp_path: Path, thorough: bool) -> None:
    """The record is in a state that was committed before, and the season goes on from there."""
    write_config(tmp_path)
    Record.open(str(tmp_path / "empty.db")).close()
    with open_read_only(str(tmp_path / "empty.db")) as engine, reading(engine) as connection:
        first = verified_content(connection, "empty").state_hash
        least = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    pages = whole[0].stat().st_size // 4096
    step = max(1, (pages - least) // (60 if thorough else 3))
    for page in range(least + 1, pages, step):
        database, states = tmp_path / f"{page}.db", [first]
        Record.open(str(database)).close()
        with closing(Record.open(str(database))) as record:
            limit(record, page)
            witnessed(record, states.append)
            with pytest.raises(ArenaError) as caught:
                play(record, tmp_path)
        assert caught.value.code == "disk_full", page
        assert caught.value.message == WORDS["disk_full"].format(database)
        assert hash_of(database) in states, page
        with closing(Record.open(str(database))) as record:
            play(record, tmp_path)
        assert hash_of(database) == whole[1], page


def limit(record: Record, pages: int) -> None:
    """Have SQLite refuse a longer file."""
    record.engine.dispose()

    @event.listens_for(record.engine, "connect")
    def full(driver: Any, _: object) -> None:
        driver.execute(f"PRAGMA max_page_count = {pages}")


def test_of_a_backup_nothing_is_left(whole: tuple[Path, str], tmp_path: Path) -> None:
    size = whole[0].stat().st_size // KB
    status, said = arena(tmp_path, "db", "backup", "--database", str(whole[0]), kilobytes=size // 2)
    assert status == 1
    assert said["error"]["code"] in WORDS
    assert str(whole[0]) in said["error"]["message"]
    assert list((tmp_path / "backups").iterdir()) == []
    status, said = arena(
        tmp_path, "db", "restore", str(whole[0]), "--database", "new.db", kilobytes=size // 2
    )
    assert status == 1
    assert said["error"]["code"] in WORDS
    assert [path.name for path in tmp_path.iterdir()] == ["backups"]
    assert hash_of(whole[0]) == whole[1]
