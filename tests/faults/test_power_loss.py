"""The power fails: some of what was written last is lost, and what is left is a state that was committed."""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.faults.little import hash_of, play, witnessed, write_config
from tests.opened_record import backed_up, new_record, opened_record

FRAMES_BEGIN = 32
"""The length of the head of SQLite's log."""


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The files of a season as they lay there when the power failed, and every state it was in, by hash.

    Nothing has been taken over from the log into the record.
    """
    folder = tmp_path_factory.mktemp("season")
    write_config(folder)
    new_record(folder / "season.db")
    with opened_record(folder / "season.db") as record:
        states = [record.state_hash()]
        with record.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_autocheckpoint = 0")
        witnessed(record, states.append)
        play(record, folder)
        left = folder / "left"
        left.mkdir()
        for name in ("season.db", "season.db-wal"):
            shutil.copy(folder / name, left)
    assert (left / "season.db-wal").stat().st_size > 400_000
    return left, states


def truncated(log: bytes, place: int, _: Random) -> bytes:
    """The end never reached the disk."""
    return log[:place]


def zeroed(log: bytes, place: int, _: Random) -> bytes:
    """The file was made longer, but what should be in it never reached the disk."""
    return log[:place] + bytes(len(log) - place)


def with_a_hole(log: bytes, place: int, chance: Random) -> bytes:
    """A page in the middle never reached the disk, though later ones did."""
    hole = min(chance.choice([512, 4096, 20_000]), len(log) - place)
    return log[:place] + bytes(hole) + log[place + hole :]


@pytest.mark.parametrize("lost", [truncated, zeroed, with_a_hole])
def test_whatever_of_the_log_is_lost_the_record_is_in_a_state_that_was_committed(
    lost: Callable[[bytes, int, Random], bytes],
    cut_off: tuple[Path, list[str]],
    tmp_path: Path,
    thorough: bool,
) -> None:
    """It opens, agrees with itself, can be backed up; the season played on from it ends as it would have."""
    left, states = cut_off
    log, chance = (left / "season.db-wal").read_bytes(), Random(f"what is lost: {lost.__name__}")
    places = [0, 8, FRAMES_BEGIN, FRAMES_BEGIN + 1, len(log) - 1]
    places += [chance.randrange(len(log)) for _ in range(200 if thorough else 4)]
    reached = []
    databases = {place: tmp_path / f"{place}.db" for place in sorted(places)}
    for place, database in databases.items():
        shutil.copy(left / "season.db", database)
        database.with_name(f"{place}.db-wal").write_bytes(lost(log, place, chance))
        reached.append(hash_of(database))
        assert reached[-1] in states, place
    if lost is not with_a_hole:
        assert [states.index(state) for state in reached] == sorted(states.index(state) for state in reached)
    assert len(set(reached)) >= 4
    last = databases[max(places)]
    assert backed_up(last, tmp_path / "backup.db").content.state_hash == reached[-1]
    write_config(tmp_path)
    middle = databases[sorted(places)[len(places) // 2]]
    with opened_record(middle) as record:
        play(record, tmp_path)
    assert hash_of(middle) == states[-1]
