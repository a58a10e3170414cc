"""A world with families, news, late, odd and corrected ends, and silence is played like any other."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.once import made_once
from tests.program.running import arena_json

CONFIG = """\
seed: 3
markets:
  venue: simulator
  show: 30
  per_event: 6
  strata: [price, category]
  simulator:
    start: 2026-01-04
    weeks: 8
    markets: 90
    events: 30
    exclusive_share: 0.4
    ladder_share: 0.3
    jump_rate: 0.03
    refund_share: 0.1
    fraction_share: 0.1
    delay_share: 0.3
    corrected_share: 0.3
    unquoted_rate: 0.1
cohorts: {rounds: 6, count: 2, keep_deciding: 2}
agents:
  - kind: constant
  - kind: random
  - kind: oracle
"""


WORDS = ("demo", "--headless", "--config", "wide.yaml", "--database")


def the_wide_world(folders: pytest.TempPathFactory) -> Path:
    """The folder with its config, its season, and what the demo answered; it is only read."""

    def make(folder: Path) -> None:
        (folder / "wide.yaml").write_text(CONFIG, encoding="utf-8")
        (folder / "said.json").write_text(json.dumps(arena_json(folder, *WORDS, "wide.db")), "utf-8")

    return made_once("wide", folders, make)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return the_wide_world(tmp_path_factory)


@pytest.fixture(scope="module")
def season(folder: Path) -> Any:
    return json.loads((folder / "said.json").read_text("utf-8"))


def test_it_is_played_to_the_end_and_verified(folder: Path, season: Any) -> None:
    assert season["settlements"] > 50
    assert arena_json(folder, "verify", "--database", "wide.db")["ok"] is True


def test_it_is_the_same_again(folder: Path, season: Any, tmp_path: Path) -> None:
    again = arena_json(folder, *WORDS, str(tmp_path / "again.db"))
    assert again["state_hash"] == season["state_hash"]


def test_wrong_ends_are_taken_back_and_paid_anew(folder: Path, season: Any) -> None:
    with sqlite3.connect(folder / "wide.db") as record:
        corrected = record.execute("SELECT count(*) FROM resolution WHERE version = 2").fetchone()[0]
        reversals = record.execute("SELECT count(*) FROM entry WHERE kind = 'reverse'").fetchone()[0]
    assert corrected > 5
    assert reversals > 5
