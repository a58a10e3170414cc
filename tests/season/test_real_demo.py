"""The season over real markets that comes with the package: `arena demo --real`."""

import filecmp
from pathlib import Path

import pytest

from arena.cli.replay import PAST_MARKETS, play_past_markets
from arena.config import load
from arena.config.new_folder import template
from tests.program.command_line import ROOT
from tests.program.in_process import answered

EXAMPLE = ROOT / "examples" / "real-season"
KINDS = {"market", "constant", "favourite", "random", "kelly", "crowd"}
QUICK = """\
database: real.db
seed: 1
markets: {venue: recorded, show: 5, min_volume: 0, price_only: true}
cohorts: {decide: 28d, rounds: 1, count: 1, rules: replay}
agents: [{kind: market}, {kind: favourite}]
"""


def test_it_plays_and_verifies(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(QUICK, "utf-8")
    place = str(tmp_path / "real.db")
    played = play_past_markets(load(tmp_path / "config.yaml"), place)
    assert (played["cohorts"], played["rounds"], played["turns"]) == (1, 1, 2)
    assert played["stamp"] == "replay"
    assert answered("admin", "verify", "--database", place)["differences"] == []


def test_its_config_names_agents_that_follow_rules() -> None:
    config = load(template("real.yaml"))
    assert {agent.kind for agent in config.agents} == KINDS
    assert config.markets.venue == "recorded"


def test_it_is_played_whole() -> None:
    refused = answered("demo", "--real", "--rounds", "3", "--headless", status=64)
    assert refused["error"]["code"] == "whole_season"


@pytest.mark.parametrize("name", ["markets.jsonl.gz", "prices.csv.gz"])
def test_the_markets_are_those_that_were_recorded(name: str, shared_data: Path) -> None:
    recorded = shared_data / "replay" / "polymarket-daily" / name
    assert filecmp.cmp(PAST_MARKETS / name, recorded, shallow=False)
    assert "CC BY-SA 4.0" in (PAST_MARKETS / "README.md").read_text("utf-8")


def test_the_example_is_its_record(tmp_path: Path) -> None:
    place = str(tmp_path / "real.db")
    restored = answered("admin", "restore", EXAMPLE / "season.zip", "--database", place)
    played = play_past_markets(load(template("real.yaml")), str(tmp_path / "again.db"))
    assert restored["state_hash"] == played["state_hash"]
    assert answered("board", "--database", place)["sentence"] == played["sentence"]


def test_the_example_is_small_and_names_its_licence() -> None:
    assert (EXAMPLE / "season.zip").stat().st_size < 1_500_000
    text = (EXAMPLE / "README.md").read_text("utf-8")
    assert "CC BY-SA 4.0" in text
    assert "forecastbench-datasets" in text
