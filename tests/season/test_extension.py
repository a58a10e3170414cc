"""A new kind of agent is one file and one line in the config, and nothing else."""

import shutil
from pathlib import Path

import pytest

from tests.program.command_line import ROOT
from tests.program.running import agents_of, arena_json, demo_config

CONTRARIAN = '''\
"""Believes the opposite of the price."""

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common


class Settings(Common):
    """Nothing to set."""


def agent(settings: Settings, given: Given) -> Agent:
    async def decide(view: View, ask: Ask) -> Decision:
        priced = [(x.market.id, x.mid / 1_000_000) for x in view.snapshot.shown if x.mid is not None]
        return Decision(tuple(Forecast(market_id, 1 - price) for market_id, price in priced))

    return decide
'''
LINE_UP = "  - kind: market\n  - kind: contrarian\n"
PACKAGES = ("markets", "portfolio", "agents", "arena", "dashboard")


def plays(folder: Path, home: Path = ROOT) -> None:
    """The demo's season, shortened, with the new kind in the line-up."""
    config = demo_config(folder, LINE_UP, show=20, markets=100, events=40)
    words = ("demo", "--headless", "--rounds", "4", "--config", str(config))
    rows = agents_of(arena_json(folder, *words, home=home)["leaderboard"])
    assert rows["contrarian"]["kind"] == "contrarian"
    assert rows["contrarian"]["coverage"] == 1
    assert rows["contrarian"]["resolved"] == rows["market"]["resolved"] > 0
    assert rows["contrarian"]["skill"] < 0


@pytest.mark.parametrize("place", ["extensions", "extensions/kinds"])
def test_a_file_beside_the_config_is_a_kind(tmp_path: Path, place: str) -> None:
    folder = tmp_path / place
    folder.mkdir(parents=True)
    (folder / "contrarian.py").write_text(CONTRARIAN, "utf-8")
    plays(tmp_path)


def test_a_file_in_the_folder_of_kinds_is_a_kind(tmp_path: Path) -> None:
    home = tmp_path / "checkout"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, home / package)
    (home / "agents" / "kinds" / "contrarian.py").write_text(CONTRARIAN, "utf-8")
    plays(tmp_path, home)


def test_the_readme_shows_this_very_file() -> None:
    assert CONTRARIAN in (ROOT / "README.md").read_text("utf-8")
