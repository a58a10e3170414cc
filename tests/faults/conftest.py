"""A database for each test, of both sorts."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database with nothing in it."""
    if request.param == "sqlite":
        return str(tmp_path / "arena.db")
    new_database: Callable[[], str] = request.getfixturevalue("new_database")
    return new_database()
