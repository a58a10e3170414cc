"""The small record, built once; each test that changes it has a copy of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.record.schema import database
from arena.verify import verify
from tests.opened_record import OpenedRecord, new_record
from tests.records.full_record import build
from tests.records.tampered import TamperedRecord


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the small record, to be read, never changed."""
    path = tmp_path_factory.mktemp("small") / "record.db"
    build(path, watched=True).close()
    return path


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of an empty record, to be copied, which is quicker than making one."""
    path = tmp_path_factory.mktemp("empty") / "record.db"
    new_record(path)
    return path


@pytest.fixture
def record(empty: Path, tmp_path: Path) -> Iterator[OpenedRecord]:
    """Yield an empty record, and check afterwards that it agrees with itself."""
    opened = OpenedRecord.at(shutil.copy(empty, tmp_path / "arena.db"))
    yield opened
    with opened.reading() as connection:
        assert verify(connection) == []
    opened.close()


@pytest.fixture(scope="session")
def tampered(built: Path) -> Iterator[TamperedRecord]:
    """Yield the small record in memory, for all tests that change it and undo that."""
    held = TamperedRecord(built)
    yield held
    held.close()


@pytest.fixture
def changing(tampered: TamperedRecord) -> Iterator[TamperedRecord]:
    """Yield the same for one test, and undo its changes at the end."""
    with tampered.undone():
        yield tampered


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """Return a copy of the small record."""
    return Path(shutil.copy(built, tmp_path / "record.db"))


LATER = """
from alembic import op

revision = "9999"
down_revision = "{version}"


def upgrade() -> None:
    op.create_index("ix_entry_ref", "entry", ["ref"])
"""


@pytest.fixture
def older_version(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Pretend that the arena is newer, and yield the version of today's records, which are then old."""
    version = database.newest_schema_version()
    folder = tmp_path_factory.mktemp("later") / "migrations"
    shutil.copytree(database.MIGRATIONS, folder)
    (folder / "versions" / "9999_later.py").write_text(LATER.format(version=version), "utf-8")
    monkeypatch.setattr(database, "MIGRATIONS", folder)
    database.schema_versions.cache_clear()
    yield version
    database.schema_versions.cache_clear()
