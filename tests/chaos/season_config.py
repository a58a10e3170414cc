"""The config of a simulated season, which the seed draws."""

from pathlib import Path
from random import Random

from arena.config import Config, load

CONFIG = """\
database: arena.db
markets: {venue: simulator, show: 4, simulator: {start: 2026-01-04, weeks: 4, markets: 14, events: 5}}
cohorts: {rounds: 2, count: 2, bankroll: 1000}
run: {scores: off, backup: off}
agents:
  - {name: sharp, model: demo/sharp}
  - {name: blind, model: demo/blind}
  - {kind: kelly, of: sharp}
"""


def config_number(_seed: int) -> int:
    """Return which of the configs the season of a seed has; seasons of one config end in one state."""
    return 0


def write_config(folder: Path, number: int) -> Config:
    """Write a config into a folder, and load it."""
    chance = Random(f"config {number}")
    file = folder / "config.yaml"
    file.write_text(draw_config(chance), "utf-8")
    return load(file)


def draw_config(_chance: Random) -> str:
    """Return the text of a config."""
    return CONFIG
