"""A world with families, news, late, odd and corrected ends, and silence is played like any other."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("wide")
    (found / "wide.yaml").write_text(CONFIG, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def season(folder: Path) -> Any:
    return arena_json(folder, "demo", "--headless", "--config", "wide.yaml", "--database", "wide.db")


def test_it_is_played_to_the_end_and_verified(folder: Path, season: Any) -> None:
    assert season["settlements"] > 50
    assert arena_json(folder, "verify", "--database", "wide.db")["ok"] is True


def test_it_is_the_same_again(folder: Path, season: Any) -> None:
    again = arena_json(folder, "demo", "--headless", "--config", "wide.yaml", "--database", "again.db")
    assert again["state_hash"] == season["state_hash"]


def test_wrong_ends_are_taken_back_and_paid_anew(folder: Path, season: Any) -> None:
    with sqlite3.connect(folder / "wide.db") as record:
        corrected = record.execute("SELECT count(*) FROM resolution WHERE version = 2").fetchone()[0]
        reversals = record.execute("SELECT count(*) FROM entry WHERE kind = 'reverse'").fetchone()[0]
    assert corrected > 5
    assert reversals > 5
