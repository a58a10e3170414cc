"""The small record, built once; each test that changes it has a copy of its own."""

import shutil
from pathlib import Path

import pytest

from tests.arena.store.build import build


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the small record: to be looked at, never changed."""
    path = tmp_path_factory.mktemp("small") / "record.db"
    build(path).close()
    return path


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A copy of the small record."""
    return Path(shutil.copy(built, tmp_path / "record.db"))
