"""Corrections that come up to a month late are paid by every rule, also to cohorts that have ended."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.settled import profits, rows, unpaid, win_rates
from tests.program.rehearsal import SUNDAY, clock_at, rehearse
from tests.program.running import AGREES, agents_of, arena, arena_json
from tests.rows import rows_in

CONFIG = """\
seed: 11
markets:
  venue: simulator
  show: 30
  per_event: 6
  simulator:
    {start: 2026-01-04, WORLD, corrected_share: 0.3, corrected_days: 30,
     refund_share: 0.1, fraction_share: 0.1}
cohorts: {rounds: 3, count: 2, keep_deciding: 2, rules: RULES}
agents: [{kind: constant}, {kind: random}, {kind: oracle}, {kind: oracle, name: noisy, noise: 1.5}]
"""
JOBS = "marks: 1w, resolutions: 4d, scores: 4w, catalogue: off, quotes: off, backup: off"
"""What `arena run` does between rounds."""
LARGE, SMALL = "weeks: 8, markets: 45, events: 20", "weeks: 5, markets: 24, events: 12"
RULES = (
    pytest.param("realistic", marks=pytest.mark.thorough),  # all the other tests play by them
    pytest.param("replay", marks=pytest.mark.thorough),
    pytest.param("seed", marks=pytest.mark.thorough),
    pytest.param("reference", marks=pytest.mark.thorough),
    "{from: realistic, fill: quote, fee: none, max_bet: 0.4}",
)


@pytest.fixture(scope="module")
def config(thorough: bool) -> str:
    """Return the season's config without its rules."""
    return CONFIG.replace("WORLD", LARGE if thorough else SMALL)


def _agrees(folder: Path, name: str) -> dict[str, Any]:
    """Return the leaderboard, after checking its money against an export."""
    arena_json(folder, "share", "export", name, "--force")
    board = agents_of(arena_json(folder, "board")["leaderboard"])
    made = profits(folder / name)
    won = win_rates(folder / name)
    assert made.keys() <= board.keys() - {"market"}
    for agent in made:
        row = board[agent]
        assert row["pnl"] == pytest.approx(float(made[agent]), abs=1e-9), agent
        assert row["win_rate"] == (pytest.approx(won[agent]) if agent in won else None), agent
    return board


@pytest.mark.parametrize("rules", RULES)
def test_a_season_ends_with_everything_paid_by_the_newest_word(
    tmp_path: Path, config: str, rules: str
) -> None:
    (tmp_path / "config.yaml").write_text(config.replace("RULES", rules), "utf-8")
    arena_json(tmp_path, "demo", "--headless", "--config", "config.yaml", "--database", "arena.db")
    _agrees(tmp_path, "x")
    assert unpaid(tmp_path / "x") == []
    assert arena_json(tmp_path, "admin", "verify").items() >= AGREES.items()
    listed = arena_json(tmp_path, "show", "cohorts")["cohorts"]
    late = [one for one in listed if one["corrected_at"]]
    assert late
    assert all(one["corrected_at"] > one["ended_at"] for one in late)
    first = late[0]["cohort"]
    assert [row["cohort"] for row in rows(tmp_path / "x", "snapshots")].count(str(first)) > 3
    done = arena(tmp_path, "run", "--round")
    assert "every round has been played" in done.stderr


def test_money_and_scores_go_by_one_version_at_every_moment(
    tmp_path: Path, config: str, thorough: bool
) -> None:
    """After each look at the venue alone, which learns and pays nobody who goes on.

    With THOROUGH=1 also after the round before it.
    """
    text = config.replace("RULES", "realistic").replace("corrected_days: 30", "corrected_days: 12")
    text = text.replace("count: 2,", "count: 2, corrected_within: 20d,")
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    days = list[str]()
    while (done := arena(tmp_path, "run", "--round", "--json")).returncode == 0:
        if thorough:
            _agrees(tmp_path, "x")
        [(newest,)] = rows_in(tmp_path / "arena.db", "SELECT substr(max(at), 1, 10) FROM snapshot")
        if newest not in days:
            arena_json(tmp_path, "run", "--sync")
            days.append(newest)
            _agrees(tmp_path, "x")
    assert "every round " in done.stdout + done.stderr
    _agrees(tmp_path, "x")
    assert unpaid(tmp_path / "x") == []
    assert arena_json(tmp_path, "admin", "verify").items() >= AGREES.items()


@pytest.mark.parametrize("played_by", ["demo", "run"])
def test_forecasts_on_markets_that_nobody_holds_get_their_outcomes(tmp_path: Path, played_by: str) -> None:
    settings = CONFIG.replace("WORLD", SMALL).replace("RULES", "realistic")
    settings = f"{settings.partition('agents:')[0]}run: {{{JOBS}}}\n"
    one_round = settings.replace("{rounds: 3, count: 2,", "{rounds: 1, count: 1,")
    (tmp_path / "config.yaml").write_text(f"{one_round}agents: [{{kind: market}}]\n", "utf-8")
    if played_by == "demo":
        arena_json(tmp_path, "demo", "--headless", "--config", "config.yaml", "--database", "arena.db")
    else:
        clock_at(tmp_path, SUNDAY)
        rehearse(tmp_path)
    [market] = arena_json(tmp_path, "board")["leaderboard"]
    assert market["resolved"] + market["unscored"] == market["answered"] > 5


@pytest.mark.parametrize("once", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_arena_run_pays_corrections_too(tmp_path: Path, config: str, once: bool) -> None:
    text = config.replace("RULES", "realistic").replace("count: 2,", "count: 2, corrected_within: 35d,")
    text = f"{text}run: {{{JOBS}}}\n"
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    for week in (*range(6), *range(6, 24, 3)) if once else (0,):
        clock_at(tmp_path, SUNDAY + timedelta(weeks=week))
        rehearse(tmp_path, once=once)
    assert any(row["corrected_at"] for row in arena_json(tmp_path, "show", "cohorts")["cohorts"])
    _agrees(tmp_path, "x")
    assert unpaid(tmp_path / "x") == []
    assert arena_json(tmp_path, "admin", "verify").items() >= AGREES.items()
