"""The small record, built once; each test that changes it has a copy of its own."""

import shutil
from pathlib import Path

import pytest

from arena.record.record import Record
from tests.arena.full_record import build


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the small record: to be looked at, never changed."""
    path = tmp_path_factory.mktemp("small") / "record.db"
    build(path, watched=True).close()
    return path


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a record with nothing in it: to be copied, which is quicker than to make one."""
    path = tmp_path_factory.mktemp("empty") / "record.db"
    Record.open(str(path)).close()
    return path


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A copy of the small record."""
    return Path(shutil.copy(built, tmp_path / "record.db"))
