"""A dashboard that is open keeps what it shows up to date, where it may."""

import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from arena.cli.dashboard import refresh_scores
from arena.errors import ArenaError
from arena.scores.leaderboard import LEADERBOARD
from arena.scores.refresh import is_stale
from tests.dashboard.serving import Served, serving
from tests.opened_record import new_record
from tests.rows import read_only

PATIENCE = 180.0
SHUT = "attempt to write a readonly database"
"""What SQLite says where a file may not be written, whoever asks."""


@pytest.fixture
def record(first_round: Path, tmp_path: Path) -> Path:
    """Return a record of a round whose cache was not computed yet."""
    copy = Path(shutil.copy(first_round, tmp_path / "season.db"))
    with sqlite3.connect(copy) as base:
        base.execute("DELETE FROM rollup")
    base.close()
    return copy


def stale(record: Path) -> bool:
    with read_only(record) as connection:
        return is_stale(connection)


def heard(dashboard: Served, words: str) -> str:
    """Return the line in which a dashboard says something, or end it if it doesn't."""
    assert dashboard.process.stdout is not None
    ending = threading.Timer(PATIENCE, dashboard.process.terminate)
    ending.start()
    line = next((line for line in dashboard.process.stdout if words in line), "")
    ending.cancel()
    return line


def test_an_open_dashboard_works_out_what_is_stale_or_says_once_why_scores_are_old(
    record: Path, tmp_path: Path
) -> None:
    assert stale(record)
    shut = Path(shutil.copy(record, tmp_path / "shut.db"))
    with sqlite3.connect(shut) as base:
        base.execute(f"CREATE TRIGGER shut BEFORE INSERT ON rollup BEGIN SELECT RAISE(ABORT, '{SHUT}'); END")
    base.close()
    refresh_scores(str(record))
    assert not stale(record)
    with serving(shut) as dashboard:
        said = heard(dashboard, "only shown as last cached")
    with read_only(record) as connection:
        kept = LEADERBOARD.read(connection)
    assert kept is not None
    assert len(kept.value.rows) == 5
    assert "scores are not recomputed here" in said
    assert "can only be read" in said


def test_where_there_is_no_record_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="there is no record"):
        refresh_scores(str(tmp_path / "none.db"))
    assert list(tmp_path.iterdir()) == []


def test_a_record_without_a_cohort_is_left_as_it_is(tmp_path: Path) -> None:
    new_record(tmp_path / "empty.db")
    before = (tmp_path / "empty.db").read_bytes()
    refresh_scores(str(tmp_path / "empty.db"))
    assert (tmp_path / "empty.db").read_bytes() == before
