"""A simulated venue is read as of its season's own time, whatever the machine's clock says."""

from pathlib import Path
from typing import Any

import pytest

from tests.program.rehearsal import rows
from tests.program.running import AGREES, arena, arena_json

CONFIG = """\
markets: {venue: simulator, show: 8, simulator: {start: 2026-01-04, weeks: 3, markets: 20, events: 8}}
cohorts: {rounds: 3, count: 1, bankroll: 1000, corrected_within: 8d}
agents: [{kind: oracle}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a season that has not begun."""
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    return tmp_path


LEARNT = """
    SELECT market_id, version, learnt_at FROM resolution
    WHERE market_id IN (SELECT market_id FROM snapshot_item) ORDER BY market_id, version"""
BETS = "SELECT at, kind, market_id, cash FROM entry ORDER BY id"


def season(folder: Path, record: str, *between: tuple[str, ...]) -> list[Any]:
    """Play a season, with commands between its rounds that may fail: what was bet, and learnt of bets."""
    while arena(folder, "run", "--round", "--database", record).returncode == 0:
        for words in between:
            arena(folder, *words, "--database", record)
    assert arena_json(folder, "admin", "verify", "--database", record).items() >= AGREES.items()
    return [rows(folder, query, record) for query in (LEARNT, BETS)]


def test_a_venue_that_is_read_between_rounds_changes_nothing(folder: Path) -> None:
    assert season(folder, "read.db", ("run", "--sync")) == season(folder, "left.db")


def test_it_is_read_at_the_first_start_then_at_the_newest_round_and_never_later(folder: Path) -> None:
    assert arena_json(folder, "run", "--sync")["at"] == "2026-01-04T00:00:00+00:00"
    again = arena(folder, "run", "--sync")
    assert again.returncode == 1
    assert "simulator was already read as of 2026-01-04 00:00 UTC" in again.stderr
    assert "the season stands at 2026-01-04 00:00; arena run --round plays on" in again.stderr

    for _ in range(2):
        arena_json(folder, "run", "--round")
    later = arena(folder, "run", "--sync", "--at", "2026-01-20")
    assert later.returncode == 1
    assert "2026-01-20 00:00 is later than the season, which stands at 2026-01-11 00:00" in later.stderr
    assert arena_json(folder, "run", "--sync")["at"] == "2026-01-11T00:00:00+00:00"
