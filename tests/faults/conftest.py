"""A database for each test, of both sorts; and the little season as it is played where nothing fails."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.faults.little import hash_of, play, write_config
from tests.once import made_once
from tests.opened_record import OpenedRecord, opened_record
from tests.records.full_record import SUN, Season, a_cohort, the_book


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database for a new record."""
    if request.param == "sqlite":
        return str(tmp_path / "arena.db")
    new_record: Callable[[], str] = request.getfixturevalue("new_server_record")
    return new_record()


@pytest.fixture
def record(database: str) -> Iterator[OpenedRecord]:
    """A record with a round that waits for a turn."""
    with opened_record(database) as opened:
        season = Season(opened)
        season.start(a_cohort(1, NOW, REALISTIC, "ann"))
        season.look(1, NOW, the_book(SUN, NOW))
        yield opened


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The little season played to its end, and its state hash."""

    def make(folder: Path) -> None:
        write_config(folder)
        with opened_record(folder / "season.db") as record:
            play(record, folder)

    path = made_once("little season", tmp_path_factory, make) / "season.db"
    return path, hash_of(path)
