"""Every key with its default is a valid config, and settings written out are read back as they were."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.registry import kinds
from arena.config import Config, load
from arena.config.listing import effective, every_key, sections, yaml_text
from markets.venues import polymarket
from tests.arena.config_files import SMALL, write

ROOT = Path(__file__).parents[3]
FULL = """\
database: "sqlite:///12"
seed: 7
heads: [./publish.sh, origin]
markets: {venue: simulator, show: 12, closes_within: 90s, min_volume: 0.000001, categories: ["a: b", "true"]}
cohorts:
  start: tue 05:30
  first: 2026-02-01
  decide: 12h
  count: 3
  rules: {from: replay, max_bet: 0.2, max_quote_age: 2d}
budget: {call: 0.5, arena: 500}
evidence: {from: folder, folder: {path: press}}
run: {marks: sun 04:00, keep_quotes: 30d, grace: 0s}
watch: {webhook: $HOOK, health: "[::1]:8780"}
ask: {timeout: 15m, temperature: 0.7}
agents:
  - {name: "12", model: openai/mine, base_url: "http://127.0.0.1:1/v1", price: {input: 0, output: 4.5},
    extra: {top_p: 0.9, stop: ["#", "1e3"]}}
  - {kind: python, function: "mine:decide", arguments: {edge: 0.1, deep: {list: [1, null, "a, b"]}}}
  - {kind: crowd, of: ["12", python], method: mean}
  - {kind: market}
"""


def plain(config: Config) -> Config:
    """Return a config without its file and the places of its agents in it."""
    agents = tuple(replace(agent, line=0) for agent in config.agents)
    rules = config.cohorts.rules_block.model_validate({"from": config.cohorts.rules_block.start_from})
    cohorts = config.cohorts.model_copy(update={"rules_block": rules})
    return replace(config, file=Path(), hash="", agents=agents, cohorts=cohorts)


@pytest.mark.parametrize("text", [FULL, SMALL, *((ROOT / name).read_text("utf-8") for name in (
    "config.yaml", "examples/demo.yaml"))])  # fmt: skip
def test_settings_written_out_are_read_back_as_they_were(tmp_path: Path, text: str) -> None:
    (tmp_path / "press").mkdir()
    config = load(write(tmp_path, text))
    again = load(write(tmp_path, yaml_text(effective(config)), "again.yaml"))
    assert plain(again) == plain(config)
    assert again.cohorts.rules == config.cohorts.rules


def test_the_list_of_every_key_is_a_config_that_changes_nothing(tmp_path: Path) -> None:
    every = load(write(tmp_path, every_key()))
    small = load(write(tmp_path, SMALL.replace("simulator", "polymarket"), "small.yaml"))
    assert plain(every) == plain(small)
    assert every.cohorts.rules == small.cohorts.rules
    assert every.venue_settings == polymarket.Settings.model_validate({})


def test_the_list_names_every_key_and_every_kind() -> None:
    lines = every_key().splitlines()
    assert all(any(line.strip().startswith(f"{row.name}:") for line in lines)
               for section in sections() for row in section.keys)  # fmt: skip
    assert all(f"# - kind: {kind}" in lines for kind in kinds())
    assert max(map(len, lines)) <= 110
