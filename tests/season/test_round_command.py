"""`arena run --round`: one decision time after another, as an operator plays them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.program.running import AGREES, arena, arena_json, loaded

CONFIG = """\
markets:
  venue: simulator
  simulator: {start: 2026-01-04, weeks: 4, markets: 20, events: 8}
cohorts: {rounds: 2, count: 2, corrected_within: 8d}
agents:
  - kind: market
  - kind: oracle
  - {kind: python, name: eve, function: broken:decide}
"""
BROKEN = "def decide(view, ask):\n    raise ValueError('no idea')\n"
AWAY = '{name: eve, model: openai/nobody, base_url: "http://127.0.0.1:9/v1", timeout: 2s}'

RUDE = """\
import sys

from agents.model import KindSettings as Settings


def agent(settings, given):
    async def decide(view, ask):
        print("look at me")
        sys.exit(3)

    return decide
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    (tmp_path / "broken.py").write_text(BROKEN, "utf-8")
    return tmp_path


def times(played: Any) -> list[tuple[int, int, str]]:
    return [
        (played_round["cohort"], played_round["round"], played_round["at"][:10])
        for played_round in played["rounds"]
    ]


def test_each_call_plays_the_next_decision_time_until_all_are_played(folder: Path) -> None:
    assert times(arena_json(folder, "run", "--round", status=2)) == [(1, 1, "2026-01-04")]
    assert times(arena_json(folder, "run", "--round", status=2)) == [
        (1, 2, "2026-01-11"),
        (2, 1, "2026-01-11"),
    ]
    assert times(arena_json(folder, "run", "--round", status=2)) == [(2, 2, "2026-01-18")]
    weeks = 0
    while (settled := arena(folder, "run", "--round", "--json")).returncode == 0:
        assert times(json.loads(settled.stdout)) == []
        weeks += 1
    assert weeks > 1
    assert json.loads(settled.stdout)["error"]["message"] == "every round has been played"
    assert arena_json(folder, "admin", "verify").items() >= AGREES.items()


def test_a_model_that_cannot_be_reached_fails_says_so_and_holds_up_nobody(folder: Path) -> None:
    away = CONFIG.replace("{kind: python, name: eve, function: broken:decide}", AWAY)
    (folder / "config.yaml").write_text(away, "utf-8")
    said = arena(folder, "run", "--round")
    assert said.returncode == 2
    assert "eve failed; arena run --round --at 2026-01-04T00:00Z tries again\n" in said.stdout
    assert "eve has no good turn yet: check its server, or correct its block" in said.stdout
    again = arena_json(folder, "run", "--round", "--at", "2026-01-04T00:00Z", status=2)
    assert [turn["agent"] for turn in again["rounds"][0]["turns"]] == ["eve"]
    board = arena_json(folder, "board")["leaderboard"]
    assert {row["agent"]: row["failed"] for row in board} == {"market": 0, "oracle": 0, "eve": 1}
    assert all(row["pnl"] is not None for row in board)


def test_a_time_at_which_nobody_decides_is_refused_with_the_next_one(folder: Path) -> None:
    refused = arena(folder, "run", "--round", "--at", "2026-01-05")
    assert refused.returncode == 1
    assert "no cohort decides on 2026-01-05" in refused.stderr
    assert "2026-01-11" in refused.stderr


def test_a_round_that_was_missed_is_not_played_after_a_later_one(folder: Path) -> None:
    arena_json(folder, "run", "--round", "--at", "2026-01-04", status=2)
    (folder / "config.yaml").write_text(CONFIG.replace("count: 2", "count: 3"), "utf-8")
    arena_json(folder, "run", "--round", "--at", "2026-01-18", status=2)
    refused = arena(folder, "run", "--round", "--at", "2026-01-11", "--json")
    assert refused.returncode == 1
    assert '"too_late"' in refused.stdout


def test_an_agent_added_later_is_told_with_which_cohort_it_joins(folder: Path) -> None:
    scheduled = CONFIG.replace("count: 2", "count: 3")
    added = "  - {kind: constant, p: 0.4}\n"
    last = scheduled.replace("count: 3", "count: 1")
    (folder / "config.yaml").write_text(last, "utf-8")
    for command in ("run --round", "check", "status"):
        assert "joins" not in arena(folder, *command.split()).stdout

    for text, cohort in (
        (scheduled, "cohort 2 on Sunday, 2026-01-11"),
        (last, "the next cohort, and none is scheduled"),
    ):
        (folder / "config.yaml").write_text(text + added, "utf-8")
        said = arena(folder, "run", "--round", "--at", "2026-01-04").stdout
        assert f"constant joins with {cohort}; " in said
        assert "arena admin cohort start begins " in said
        for command in ("check", "status"):
            elsewhere = " ".join(arena(folder, command).stdout.split())
            assert f"constant joins with {cohort}; " in elsewhere, command
        told = arena_json(folder, "status")["joins"]
        assert told.startswith(f"constant joins with {cohort}; ")
        assert arena_json(folder, "check")["joins"] == told

    (folder / "config.yaml").write_text(scheduled, "utf-8")
    said = arena(folder, "add", "demo/sharp", "--no-probe").stdout
    assert "sharp joins with cohort 2 on Sunday, 2026-01-11; " in " ".join(said.split())

    (folder / "config.yaml").write_text(scheduled + added, "utf-8")
    assert "joins" not in arena(folder, "run", "--round").stdout


def test_where_nothing_is_due_an_added_agent_is_told_so_too(folder: Path) -> None:
    (folder / "config.yaml").write_text(CONFIG.replace("count: 2", "count: 1"), "utf-8")
    while arena(folder, "run", "--round").returncode in (0, 2):
        pass
    with (folder / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("  - {kind: constant, p: 0.4}\n")
    refused = arena(folder, "run", "--round")
    assert "every round has been played" in refused.stderr
    assert "constant joins with the next cohort, and none is scheduled; " in refused.stderr
    named = arena(folder, "run", "--round", "--config", "config.yaml").stderr
    assert "arena admin cohort start --config config.yaml begins " in " ".join(named.split())


def test_two_at_once_play_every_turn_once_and_the_loser_says_so_in_a_line(folder: Path) -> None:
    pair = [loaded().start(folder, "run", "--round") for _ in range(2)]
    # Eve failed in one; the other was told that it waits, or came too late and tried eve again.
    assert [run.wait() for run in pair] == [2, 2], [run.said() for run in pair]
    assert all("Traceback" not in run.said() for run in pair)
    arena(folder, "run", "--round", "--at", "2026-01-04")
    assert arena_json(folder, "admin", "verify").items() >= AGREES.items()
    board = arena_json(folder, "board")["leaderboard"]
    assert {row["turns"] for row in board} == {board[0]["turns"]}


def test_an_extension_that_prints_and_exits_has_failed_and_the_answer_is_still_json(folder: Path) -> None:
    (folder / "extensions").mkdir()
    (folder / "extensions" / "rude.py").write_text(RUDE, "utf-8")
    (folder / "config.yaml").write_text(CONFIG.replace("kind: oracle", "kind: rude"), "utf-8")
    played = arena_json(folder, "run", "--round", status=2)
    rude = next(turn for turn in played["rounds"][0]["turns"] if turn["agent"] == "rude")
    assert (rude["status"], rude["note"]) == ("failed", "rude.py:9: SystemExit: 3")
