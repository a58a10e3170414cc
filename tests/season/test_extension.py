"""A new kind of agent is one file and one line in the config, and nothing else."""

from pathlib import Path

from tests.program.command_line import ROOT
from tests.program.running import agents_of, arena_json, demo_config

CONTRARIAN = '''\
"""Bets that the market has it backwards."""

from arena.extend import Agent, Ask, Decision, Forecast, Given, KindSettings, View


class Settings(KindSettings):
    """Nothing to set."""


def agent(settings: Settings, given: Given) -> Agent:
    async def decide(view: View, ask: Ask) -> Decision:
        priced = [(x.market.id, x.mid / 1_000_000) for x in view.snapshot.shown if x.mid is not None]
        return Decision(tuple(Forecast(market_id, 1 - price) for market_id, price in priced))

    return decide
'''
LINE_UP = "  - kind: market\n  - kind: contrarian\n  - kind: other\n"


def test_a_file_beside_the_config_is_a_kind(tmp_path: Path) -> None:
    """In `extensions`, or in the folder for kinds there; the arena's own kinds are found in the same way."""
    (tmp_path / "extensions" / "kinds").mkdir(parents=True)
    for name in ("contrarian", "kinds/other"):
        (tmp_path / "extensions" / f"{name}.py").write_text(CONTRARIAN, "utf-8")
    config = demo_config(tmp_path, LINE_UP, show=20, markets=100, events=40)
    words = ("demo", "--headless", "--rounds", "4", "--config", str(config))
    rows = agents_of(arena_json(tmp_path, *words)["leaderboard"])
    for name in ("contrarian", "other"):
        assert (rows[name]["kind"], rows[name]["coverage"]) == (name, 1)
        assert rows[name]["resolved"] == rows["market"]["resolved"] > 0
        assert rows[name]["skill"] < 0


def test_the_recipes_show_this_very_file() -> None:
    assert CONTRARIAN in (ROOT / "docs" / "recipes.md").read_text("utf-8")
