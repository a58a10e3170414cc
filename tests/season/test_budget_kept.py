"""A budget in the config stops calls before they are made."""

from pathlib import Path

from tests.season.running import agents_of, arena_json

CONFIG = """\
markets: {{venue: simulator, simulator: {{start: 2026-01-04, weeks: 8, markets: 60, events: 20}}}}
cohorts: {{rounds: 2, count: 1}}
budget: {budget}
agents:
  - kind: market
  - {{model: demo/sharp, price: {{input: 1.0, output: 4.0}}, max_tokens: 4000}}
"""


def test_past_the_budget_no_model_is_asked_and_the_turn_says_why(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.format(budget="{call: 0.001}"), "utf-8")
    played = arena_json(tmp_path, "round", status=2)["rounds"][0]
    turns = {turn["agent"]: turn for turn in played["turns"]}
    assert turns["market"]["verdict"] == "played"
    assert turns["demo/sharp"]["verdict"] == "failed"
    assert "over the budget of $0.0010 a call" in turns["demo/sharp"]["note"]
    assert agents_of(arena_json(tmp_path, "leaderboard")["leaderboard"])["demo/sharp"]["cost_usd"] == 0


def test_within_the_budget_all_play(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.format(budget="{call: 0.50, day: 20}"), "utf-8")
    played = arena_json(tmp_path, "round")["rounds"][0]
    assert {turn["verdict"] for turn in played["turns"]} == {"played"}
