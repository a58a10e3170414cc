"""The disk is full: it is said in words, nothing is left half-written, and with room again all goes on."""

import json
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import event

from arena.errors import ArenaError
from arena.record.schema.database_errors import translated_file_errors
from arena.verify.content import verified_content
from tests.faults.little import hash_of, play, witnessed, write_config
from tests.opened_record import OpenedRecord, new_record, opened_record
from tests.program.command_line import environment
from tests.program.forked import LONGEST_FILE
from tests.program.running import loaded
from tests.provider.replies import GOOD, Asked, says
from tests.provider.server import FaultyProvider, faulty
from tests.rows import read_only, rows_in
from tests.serving import Reply

KB = 1_024
ANSWERS = "SELECT count(*) FROM call WHERE error_code IS NULL"
WORDS = {
    "disk_full": "the disk is full: cannot write {}",
    "disk_error": "the disk failed at {}",
}


def arena(folder: Path, *words: str, kilobytes: int | None = None) -> Any:
    """The exit status, what is said as JSON, and what is said beside it."""
    full = {} if kilobytes is None else {LONGEST_FILE: str(kilobytes * KB)}
    done = loaded().run(folder, (*words, "--json"), environment(**full))
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
        new_record(tmp_path / "season.db")
    assert hash_of(tmp_path / "season.db") != whole[1]
    status, said = arena(tmp_path, *season)
    assert (status, said["state_hash"]) == (0, whole[1])


def test_at_whatever_page_the_room_ends(whole: tuple[Path, str], tmp_path: Path, thorough: bool) -> None:
    """The record is in a state that was committed before, and the season goes on from there."""
    write_config(tmp_path)
    new_record(tmp_path / "empty.db")
    with read_only(tmp_path / "empty.db") as connection:
        first = verified_content(connection, "empty").state_hash
        least = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    pages = whole[0].stat().st_size // 4096
    step = max(1, (pages - least) // (60 if thorough else 2))
    for page in range(least + 1, pages, step):
        database, states = tmp_path / f"{page}.db", [first]
        new_record(database)
        with opened_record(database) as record:
            limit(record, page)
            witnessed(record, states.append)
            with pytest.raises(ArenaError) as caught:
                play(record, tmp_path)
        assert caught.value.code == "disk_full", page
        assert caught.value.message == WORDS["disk_full"].format(database)
        assert hash_of(database) in states, page
        with opened_record(database) as record:
            play(record, tmp_path)
        assert hash_of(database) == whole[1], page


def limit(record: OpenedRecord, pages: int) -> None:
    """Have SQLite refuse a longer file."""
    record.engine.dispose()

    @event.listens_for(record.engine, "connect")
    def full(driver: Any, _: object) -> None:
        driver.execute(f"PRAGMA max_page_count = {pages}")


def test_of_a_backup_nothing_is_left(whole: tuple[Path, str], tmp_path: Path) -> None:
    size = whole[0].stat().st_size // KB
    status, said = arena(tmp_path, "admin", "backup", "--database", str(whole[0]), kilobytes=size // 2)
    assert status == 1
    assert said["error"]["code"] in WORDS
    assert str(whole[0]) in said["error"]["message"]
    assert list((tmp_path / "backups").iterdir()) == []
    status, said = arena(
        tmp_path, "admin", "restore", str(whole[0]), "--database", "new.db", kilobytes=size // 2
    )
    assert status == 1
    assert said["error"]["code"] in WORDS
    assert [path.name for path in tmp_path.iterdir()] == ["backups"]
    assert hash_of(whole[0]) == whole[1]


PAYING = """\
markets: {{venue: simulator, show: 6, simulator: {{start: 2026-01-04, weeks: 3, markets: 20, events: 8}}}}
cohorts: {{rounds: {rounds}, count: 1, corrected_within: 8d}}
run: {{marks: 1w, catalogue: off, quotes: off, resolutions: off, backup: off}}
agents:
{agents}
"""
PAID = "  - {{name: a{n}, model: openai/plays, base_url: '{url}', price: {{input: 1, output: 4}}}}"


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of a few megabytes, where this machine lets us have one."""
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("this machine mounts no disk for us")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


@contextmanager
def filled_as_it_answers(
    folder: Path, rounds: int = 1
) -> Iterator[tuple[FaultyProvider, Path, Callable[[], None]]]:
    """A provider, a disk that is full once it was asked, and what makes room there again."""
    with small_disk(folder) as disk, faulty(latency=0.3) as there:
        agents = "\n".join(PAID.format(n=n, url=there.url) for n in range(4))
        (folder / "config.yaml").write_text(PAYING.format(agents=agents, rounds=rounds), "utf-8")
        filler = disk / "filler"

        def fills(_: Asked) -> Reply:
            """While its answer is on its way, what is left of the disk is used up."""
            with suppress(OSError), filler.open("ab", buffering=0) as file:
                while file.write(bytes(4_096)):
                    pass
            return says(GOOD)

        def freed() -> None:
            filler.unlink()
            there.script("plays", says(GOOD))

        there.script("plays", fills)
        yield there, disk / "arena.db", freed


def test_of_a_disk_that_is_full_when_answers_come_no_paid_one_is_lost(tmp_path: Path) -> None:
    with filled_as_it_answers(tmp_path) as (there, database, freed):
        words = ("run", "--round", "--at", "2026-01-04T00:00Z", "--database", str(database), "--json")
        full = loaded().run(tmp_path, words, environment())
        assert full.returncode in (0, 1), "whether there is room for all else too"
        assert "Traceback" not in full.stderr
        kept, asked = rows_in(database, ANSWERS)[0][0], len(there.log)
        freed()
        done = loaded().run(tmp_path, words, environment())
        assert (done.returncode, kept, len(there.log)) == (0, asked, 4)
        assert hash_of(database)


def test_arena_run_says_that_the_disk_is_full_and_with_room_again_ends_as_if_it_never_was(
    tmp_path: Path,
) -> None:
    with filled_as_it_answers(tmp_path, rounds=3) as (there, database, freed):
        full = loaded().run(tmp_path, ("run", "--once", "--database", str(database)), environment())
        told = full.stdout + full.stderr
        assert (full.returncode == 0, "Traceback" in told) == (False, False), told
        assert "disk is full" in told or "there is no space to store an answer" in told, told
        kept, asked = rows_in(database, ANSWERS)[0][0], len(there.log)
        assert kept == asked < 12
        freed()
        with closing(sqlite3.connect(database)) as record, record:
            record.execute("UPDATE job SET ended_at = due_at WHERE failures > 0")  # a wait cut short
        for file in (database, tmp_path / "whole.db"):
            done = loaded().run(tmp_path, ("run", "--database", str(file)), environment())
            assert done.returncode == 0, done.stdout + done.stderr
        assert len(there.log) == 12 + 12, "each question was asked once"
        assert hash_of(database) == hash_of(tmp_path / "whole.db")


@pytest.mark.parametrize(("free", "code"), [(0, "disk_full"), (10_000_000, "disk_error")])
def test_a_failing_disk_without_room_is_a_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, code: str
) -> None:
    """SQLite calls it an I/O error where it can't make the file that its readers share."""
    monkeypatch.setattr(
        "arena.record.schema.database_errors.shutil.disk_usage", lambda _: SimpleNamespace(free=free)
    )
    with pytest.raises(ArenaError) as caught, translated_file_errors(tmp_path / "arena.db"):
        raise sqlite3.OperationalError("disk I/O error")
    assert (caught.value.code, caught.value.message) == (code, WORDS[code].format(tmp_path / "arena.db"))
