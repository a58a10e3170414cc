"""What a power cut leaves of a file of SQLite, and that commits which waited for the disk outlive it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.chaos.power_cut import SyncedLog, beside

NUMBERS = "SELECT number FROM written ORDER BY number"


class Writer:
    """Writes one number after another, some so that they outlive a power cut."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "a.db"
        self.log = SyncedLog(self.file)
        self.connection = sqlite3.connect(self.file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("CREATE TABLE written (number INTEGER, filling TEXT)")
        self.log.note_commit(2)
        self.written: list[int] = []

    def write(self, level: str) -> None:
        """Write the next number, at a level of `PRAGMA synchronous`."""
        number = len(self.written)
        self.connection.execute(f"PRAGMA synchronous = {level}")
        self.connection.execute("INSERT INTO written VALUES (?, ?)", (number, "x" * 300))
        [synchronous] = self.connection.execute("PRAGMA synchronous").fetchone()
        self.log.note_commit(synchronous)
        self.written.append(number)

    def numbers_after_cut(self, folder: Path, chance: Random) -> list[int]:
        """Return the numbers that are there after a power cut; raise if the file is damaged."""
        folder.mkdir()
        self.log.cut(folder, chance)
        with closing(sqlite3.connect(folder / self.file.name)) as copy:
            assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            return [number for (number,) in copy.execute(NUMBERS)]


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    """Yield a writer in a folder of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = Writer(folder)
    yield made
    made.connection.close()


def test_what_waited_for_the_disk_survives_each_cut_and_the_file_is_at_some_commit(
    writer: Writer, tmp_path: Path
) -> None:
    chance = Random(1)
    lost = 0
    safe = 0
    for cut in range(200):
        level = chance.choice(("FULL", "NORMAL", "NORMAL"))
        writer.write(level)
        if level == "FULL":
            safe = len(writer.written)
        if chance.random() < 0.05:
            writer.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            writer.log.note_commit(1)
            safe = len(writer.written)

        numbers = writer.numbers_after_cut(tmp_path / f"cut {cut}", chance)
        assert numbers == writer.written[: len(numbers)]
        assert len(numbers) >= safe
        lost += len(numbers) < len(writer.written)
    assert lost > 20, "no cut took anything"


def test_without_waiting_for_the_disk_an_answer_may_be_gone(writer: Writer, tmp_path: Path) -> None:
    for _ in range(20):
        writer.write("OFF")

    left = [len(writer.numbers_after_cut(tmp_path / f"cut {cut}", Random(cut))) for cut in range(20)]
    assert min(left) < 20
    assert set(left) != {0}


def test_what_was_there_at_the_start_stays(writer: Writer, tmp_path: Path) -> None:
    writer.write("OFF")
    writer.log.note_start()
    assert writer.numbers_after_cut(tmp_path / "cut", Random(3)) == [0]


def test_a_log_that_begins_anew_is_another(writer: Writer, tmp_path: Path) -> None:
    writer.write("FULL")
    writer.connection.execute("PRAGMA wal_checkpoint(RESTART)")
    writer.log.note_commit(1)
    writer.write("NORMAL")

    for cut in range(20):
        assert writer.numbers_after_cut(tmp_path / f"cut {cut}", Random(cut))[:1] == [0]
    assert not beside(tmp_path / "cut 1" / "a.db", "-shm").exists()
