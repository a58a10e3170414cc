"""A record that is verified by several processes: the same is found, and what goes wrong ends all of them."""

import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest
from sqlalchemy import Connection

from arena.errors import ArenaError
from arena.verify import find
from tests.records.tampering import tamper
from tests.rows import read_only

TAMPERED = (
    "UPDATE mark SET value = value + 1",
    "UPDATE quote SET volume = 7 WHERE id = 9",
    "UPDATE fill SET fee = fee + 1",
    "UPDATE call SET reply = 'x'",
    "UPDATE market_version SET at = 'soon' WHERE market_id = 'sim:sun'",
)


def fork_context(_how: str) -> BaseContext:
    """Return processes that need not load all of the arena again."""
    return multiprocessing.get_context("fork")


@pytest.fixture
def tampered(copy: Path) -> Iterator[tuple[Path, Connection]]:
    tamper(copy, *TAMPERED)
    with read_only(copy) as connection:
        yield copy, connection


@pytest.mark.parametrize("most", [pytest.param(None, marks=pytest.mark.thorough), 3])
def test_as_much_is_found_and_told_by_two_processes_as_by_one(
    most: int | None, tampered: tuple[Path, Connection]
) -> None:
    """All of it on a server, always: see `test_streams`."""
    one = list[str]()
    two = list[str]()
    path, connection = tampered
    alone = find(connection, most, lambda x: one.append(x.message))
    parted = find(connection, most, lambda x: two.append(x.message), address=str(path), processes=2)
    assert one == two
    assert len(one) == 3 or len(one) == alone.count > 10
    assert (alone.listed, alone.left_out, alone.unproved) == (
        parted.listed,
        parted.left_out,
        parted.unproved,
    )


def test_what_goes_wrong_in_a_process_or_here_is_raised_and_ends_all_of_them(
    tampered: tuple[Path, Connection], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, connection = tampered
    monkeypatch.setattr("arena.verify.parts.get_context", fork_context)
    with pytest.raises(ArenaError, match="there is no record at"):
        find(connection, None, address=str(tmp_path / "gone.db"), processes=2)
    assert all_are_gone()

    def press(_done: int, _of: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find(connection, None, address=str(path), processes=2, progress=press)
    assert all_are_gone()


def all_are_gone() -> bool:
    """Wait for the pool's own thread to have seen that its processes ended, and tell whether all have."""
    for _ in range(500):
        if not multiprocessing.active_children():
            return True
        time.sleep(0.01)
    return False
