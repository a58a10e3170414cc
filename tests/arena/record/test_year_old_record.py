"""The record a year old that benchmarks are run on, a hundredth of it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.cohorts.schedule import Expected
from arena.operations.status import read_status
from arena.record.schema.database import open_read_only, reading
from arena.record.schema.tables import METADATA
from tests.year.play import ROUNDS
from tests.year.record import NOW, make, size
from tests.year.world import COHORTS


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("year") / "year.db"
    make(path, 0.002)
    return path


@pytest.fixture
def base(year: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(year)) as opened:
        yield opened


def count(base: sqlite3.Connection, table: str, where: str = "1") -> int:
    (found,) = base.execute(f'SELECT count(*) FROM "{table}" WHERE {where}').fetchone()
    return int(found)


def test_a_whole_one_has_a_million_marks_and_five_million_quotes() -> None:
    whole = size(1)
    weeks = 40 * 12 + sum(range(1, 13))
    assert whole.agents * whole.marks * weeks >= 1_000_000
    assert whole.markets * whole.quotes >= 5_000_000


def test_its_keys_and_chains_hold(base: sqlite3.Connection) -> None:
    assert base.execute("PRAGMA foreign_key_check").fetchall() == []
    assert base.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    gaps = "SELECT entrant_id FROM entry GROUP BY entrant_id HAVING max(number) <> count(*)"
    assert base.execute(gaps).fetchall() == []
    assert count(base, "entry", "held < 0") == 0
    unsettled = "SELECT sum(shares) FROM entry WHERE entrant_id <= 2 * 40 AND market_id <> ''"
    assert base.execute(unsettled).fetchone() == (0,)


def test_every_table_that_grows_has_something(base: sqlite3.Connection) -> None:
    tables = set(METADATA.tables) - {
        "article",
        "evidence",
        "gathering",
        "lane",
        "prune",
        "rejection",
        "reservation",
        "rollup",
    }
    assert [name for name in sorted(tables) if not count(base, name)] == []


def test_its_status_is_that_of_an_arena_that_is_well(year: Path) -> None:
    with open_read_only(str(year)) as engine, reading(engine) as connection:
        status = read_status(connection, NOW, Expected())
    assert status.word == "ok"
    assert status.calendar.due == status.calendar.done == COHORTS * ROUNDS - 10
    assert status.held.positions > 0


def test_the_same_seed_makes_the_same_rows(year: Path, tmp_path: Path) -> None:
    make(tmp_path / "again.db", 0.002)
    with closing(sqlite3.connect(year)) as one, closing(sqlite3.connect(tmp_path / "again.db")) as other:
        for table in METADATA.tables:
            rows = f'SELECT * FROM "{table}" ORDER BY 1, 2'
            assert one.execute(rows).fetchall() == other.execute(rows).fetchall(), table
