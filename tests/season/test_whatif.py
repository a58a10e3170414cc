"""What if, over a demo season: every entrant's ledger again, and bettors whose stakes are known."""

from pathlib import Path
from typing import Any

import pytest

from tests.program.running import agents_of, arena_json
from tests.season.demo import six_rounds, the_demo


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory, thorough: bool) -> Path:
    """The first six decision times of the demo, or all of it with THOROUGH=1."""
    return the_demo(tmp_path_factory) if thorough else six_rounds(tmp_path_factory)


def whatif(folder: Path, *words: str) -> dict[str, Any]:
    return agents_of(arena_json(folder, "whatif", "--database", "demo.db", *words)["agents"])


def test_as_bet_by_their_own_rules_every_ledger_is_the_recorded_one(season: Path) -> None:
    rows = whatif(season)
    board = agents_of(arena_json(season, "leaderboard", "--database", "demo.db")["leaderboard"])
    assert set(rows) == set(board)
    for name, row in rows.items():
        assert row["exact"], name
        assert row["pnl"] == row["pnl_then"] == pytest.approx(board[name]["pnl"], abs=1e-6), name


def test_who_bets_a_quarter_of_kelly_has_the_same_again_and_whom_it_believes_has_as_much(
    season: Path,
) -> None:
    rows = whatif(season, "--sizing", "quarter-kelly")
    for name in ("constant", "oracle", "oracle-noisy", "kelly", "market"):
        assert rows[name]["pnl"] == rows[name]["pnl_then"], name
    assert rows["sharp"]["pnl_then"] == rows["kelly"]["pnl"] != rows["sharp"]["pnl"]


def test_free_fills_at_the_mid_are_worth_something_to_who_bets_the_same_small_stakes(season: Path) -> None:
    random = whatif(season, "--fill", "mid", "--fee", "none", "--agent", "random")["random"]
    assert random["difference"] > 0
    assert random["filled_then"] == random["filled"]
