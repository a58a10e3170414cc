"""A record for calls: three entrants and two rounds that wait for them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, WEEK, Season, a_cohort, the_book


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a record in which nothing was asked yet, to be copied."""
    path = tmp_path_factory.mktemp("begun") / "record.db"
    season = Season(OpenedRecord.at(path))
    season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob", "eve"))
    for at in (NOW, NOW + WEEK):
        season.look(1, at, the_book(SUN, at))
    season.record.close()
    return path


@pytest.fixture
def record(begun: Path, tmp_path: Path) -> Iterator[OpenedRecord]:
    """Yield a copy of it."""
    opened = OpenedRecord.at(shutil.copy(begun, tmp_path / "record.db"))
    yield opened
    opened.close()
