"""Models without their key: a warning in the check; then they wait, without failures, until they enter."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.program.running import AGREES, arena, arena_json, provider

CONFIG = """\
markets: {{venue: simulator, show: 8, simulator: {{start: 2026-01-04, weeks: 6, markets: 20, events: 8}}}}
cohorts: {{rounds: 3, count: 1}}
agents:
  - kind: market
  - {{name: ann, model: openai/sharp, base_url: "{url}", api_key_env: ANN_KEY}}
  - {{name: bob, model: openai/sharp, base_url: "{url}", api_key_env: BOB_KEY}}
  - {{kind: kelly, of: ann}}
"""
BOB: dict[str, Any] = {"BOB_KEY": "bob-key"}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with provider(tmp_path / "log") as url:
        (tmp_path / "config.yaml").write_text(CONFIG.format(url=url), "utf-8")
        yield tmp_path


def statuses(played: dict[str, Any]) -> dict[str, str]:
    return {turn["agent"]: turn["status"] for turn in played["rounds"][0]["turns"]}


def test_a_config_without_keys_is_valid_and_warned_of(folder: Path) -> None:
    assert arena_json(folder, "check")["missing_keys"] == {"ann": "ANN_KEY", "bob": "BOB_KEY"}
    assert "Missing keys: ann needs ANN_KEY, bob needs BOB_KEY.\n" in arena(folder, "check").stdout
    assert "Missing keys: ann needs ANN_KEY.\n" in arena(folder, "check", **BOB).stdout
    (folder / ".env").write_text("ANNE_KEY=x\nOTHER=y\n", "utf-8")
    assert "Missing keys: ann needs ANN_KEY (.env has ANNE_KEY).\n" in arena(folder, "check", **BOB).stdout


STARTS = [
    ("run", "--once"),
    *(
        pytest.param(x, marks=pytest.mark.thorough)
        for x in (("run", "--round"), ("admin", "cohort", "start"))
    ),
]


@pytest.mark.parametrize("words", STARTS)
def test_where_no_model_has_a_key_a_cohort_starts_only_if_asked_for(
    folder: Path, words: tuple[str, ...]
) -> None:
    refused = arena_json(folder, *words, status=1)["error"]
    assert (refused["code"], refused["message"]) == (
        "no_keys",
        "no model has its key: ann, bob",
    )
    assert "ANN_KEY or BOB_KEY" in refused["mend"]
    assert arena_json(folder, "check")["next_command"] == "run --round --baselines"
    assert arena_json(folder, "status", "--incidents")["incidents"] == []
    assert arena(folder, *words, "--baselines").returncode == 0
    assert [one["cohort"] for one in arena_json(folder, "show", "cohorts")["cohorts"]] == [1]


def test_an_agent_waits_and_enters_once_its_key_is_there(folder: Path) -> None:
    first = arena_json(folder, "run", "--round", **BOB)
    assert statuses(first) == {"market": "played", "ann": "waiting", "bob": "played", "kelly": "waiting"}
    assert arena_json(folder, "show", "cohort", "1")["waiting"] == {
        "ann": "waiting for ANN_KEY",
        "kelly": "waiting for ann",
    }
    assert "ann is waiting for ANN_KEY" in arena(folder, "show", "agents").stdout
    status = arena_json(folder, "status")
    assert [reason["text"] for reason in status["reasons"]] == [
        "kelly is waiting for ann",
        "ann is waiting for ANN_KEY",
    ]
    assert statuses(arena_json(folder, "run", "--round", **BOB))["ann"] == "waiting"
    (folder / ".env").write_text("ANN_KEY=ann-key\n", "utf-8")
    third = arena_json(folder, "run", "--round", **BOB)
    assert set(statuses(third).values()) == {"played"}
    incidents = arena_json(folder, "status", "--incidents")["incidents"]
    told = [(x["kind"], x["data"]["agent"]) for x in incidents if x["kind"] != "cost_unknown"]
    assert sorted(told) == [
        (kind, name) for kind in ("agent_entered", "agent_waiting") for name in ("ann", "kelly")
    ]
    assert arena_json(folder, "status")["reasons"] == []
    rows = {row["agent"]: row["failed"] for row in arena_json(folder, "board")["leaderboard"]}
    assert set(rows.values()) == {0}
    assert arena_json(folder, "admin", "verify").items() >= AGREES.items()


def test_models_of_the_demo_are_refused_at_a_live_venue(folder: Path) -> None:
    text = "markets: {venue: polymarket}\nagents:\n  - {model: demo/sharp}\n"
    (folder / "config.yaml").write_text(text, "utf-8")
    for words in (("check",), ("run", "--round")):
        refused = arena(folder, *words)
        assert refused.returncode == 1
        assert "demo models belong to the simulator" in refused.stderr
