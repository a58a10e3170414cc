"""Small records, played by the real code without a model: enough for every page to have something to show."""

import asyncio
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from arena.cohorts.freeze import plan_of
from arena.config import load
from arena.rounds.open_world import open_world
from arena.rounds.season import play_season
from arena.scores.refresh import refresh_cache
from tests.builders import NOW
from tests.once import made_once
from tests.opened_record import OpenedRecord

HOSTILE = "http:/203.0.113.9/_x_:fire:"
"""An agent's name as bad as a config lets it be: nearly an address, Markdown and an emoji code."""

AGENTS = (
    "{kind: market}",
    "{kind: constant}",
    "{kind: random}",
    "{kind: oracle, noise: 0.1}",
    f"{{kind: oracle, name: '{HOSTILE}', noise: 1.0}}",
)

CONFIG = """
database: season.db
seed: 7
markets:
  venue: simulator
  show: {show}
  per_event: 3
  closes_within: 60d
  min_volume: 0
  max_spread: 0.1
  simulator: {{start: 2026-01-04, weeks: 12, markets: 60, events: 20}}
cohorts:
  start: sun 00:00
  decide: weekly
  rounds: 4
  count: 2
  keep_deciding: 2
  bankroll: 10000
  rules: {rules}
agents:
"""


def play(
    folder: Path,
    agents: Sequence[str] = AGENTS,
    times: int | None = None,
    rules: str = "realistic",
    show: int = 20,
) -> Path:
    """Return the record of a season of two cohorts and five decision times, or of the first few of them.

    Where there is none yet it is a copy of the one that was played first.
    """
    database = folder / "season.db"
    config = folder / "config.yaml"
    lines = "".join(f"  - {agent}\n" for agent in agents)
    config.write_text(CONFIG.format(rules=rules, show=show) + lines, encoding="utf-8")
    if database.exists():
        asyncio.run(_play(config, database, times))
    else:
        database.touch(mode=0o600)
        database.write_bytes(_played(config.read_text("utf-8"), times))
    return database


@cache
def _played(text: str, times: int | None) -> bytes:
    with TemporaryDirectory() as folder:
        database = Path(folder) / "season.db"
        config = Path(folder) / "config.yaml"
        config.write_text(text, encoding="utf-8")
        asyncio.run(_play(config, database, times))
        return database.read_bytes()


def worked_out(database: Path) -> Path:
    """Return the record with its cache computed, as `arena run` leaves it."""
    record = OpenedRecord.at(database)
    refresh_cache(record, NOW)
    record.close()
    return database


def shared_season(folders: pytest.TempPathFactory) -> Path:
    """Return a whole season with its cache, made once for all processes of this run, and only to be read."""
    return made_once("season", folders, lambda folder: worked_out(play(folder))) / "season.db"


async def _play(config_file: Path, database: Path, times: int | None) -> None:
    config = load(config_file, {})
    record = OpenedRecord.at(database)
    try:
        async with open_world(config, record) as world:
            await play_season(plan_of(config, world.now()), world, record, times, lambda done, of: None)
    finally:
        record.close()
