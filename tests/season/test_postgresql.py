"""The same season on PostgreSQL: the same hash, and the same refusal to change a fact."""

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from arena.cohorts.schedule import Expected
from arena.operations.incidents import note_rounds, note_venue
from arena.operations.status import read_status, status_data
from arena.record.hashes import round_heads
from arena.record.queries.markets import read_quotes_as_of
from arena.record.queries.progress import read_played_turns
from arena.record.write.sync import markets_gone_since
from arena.rounds.season import cohort_overviews as seen
from arena.verify import verify
from markets.venue import VenueError
from tests.builders import NOW
from tests.opened_record import opened_record
from tests.program.running import AGREES, arena_json, demo_config
from tests.records.full_record import DEW, FOG, MIST, build, watch
from tests.rows import hash_seen

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


def test_a_season_has_one_hash_on_both_databases_and_no_fact_is_changed(
    tmp_path: Path, new_database: Callable[[], str]
) -> None:
    address = new_database()
    small = demo_config(tmp_path, LINE_UP, show=40, markets=150, events=55)
    words = ["demo", "--headless", "--rounds", "3", "--config", str(small)]
    here = arena_json(tmp_path, *words, "--database", "here.db")
    there = arena_json(tmp_path, *words, "--database", address)
    assert there["state_hash"] == here["state_hash"]
    assert there["leaderboard"] == here["leaderboard"]
    assert there["settlements"] > 0
    assert arena_json(tmp_path, "admin", "verify", "--database", address).items() >= AGREES.items()
    again = arena_json(tmp_path, *words, "--resume", "--database", address)
    assert again["state_hash"] == here["state_hash"]
    told = [agents_told(tmp_path, place) for place in ("here.db", address)]
    assert told[0] == told[1]
    assert arena_json(tmp_path, *words, "--resume", "--database", address)["state_hash"] == here["state_hash"]
    for change in CHANGES:
        with (
            psycopg.connect(driven(address)) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="the record is append-only"),
        ):
            connection.execute(change)


def driven(address: str) -> str:
    """Return an address of the arena's as the driver takes it."""
    return address.replace("postgresql+psycopg://", "postgresql://", 1)


def agents_told(folder: Path, database: str) -> list[Any]:
    """Return an agent's pages and the result of trying it, without times."""
    shown = arena_json(folder, "show", "agent", "sharp", "--database", database)["record"]
    listed = arena_json(folder, "show", "agents", "--database", database)
    tried = arena_json(folder, "show", "turn", "--play", "sharp", "--database", database)
    counted = {key: value for key, value in shown.items() if not key.endswith("_ms") and key != "reported"}
    served = [(each["model"], each["fingerprint"], each["answers"]) for each in shown["reported"]]
    return [counted, served, listed, tried["cash"], tried["decision"], tried["fills"], tried["cost_usd"]]


def test_a_watched_venue_reads_the_same_on_both_databases(
    tmp_path: Path, new_server_record: Callable[[], str]
) -> None:
    """Syncs, what was set aside, prices as of an instant, pruning, and the guard over what must stay."""
    there = new_server_record()
    days = [NOW + timedelta(days=day) for day in range(-10, 2)]
    found = []
    for database in (str(tmp_path / "here.db"), there):
        with opened_record(database) as record:
            watch(record)
            with record.reading() as connection:
                prices = [read_quotes_as_of(connection, [FOG, MIST, DEW], at) for at in days]
                assert verify(connection) == []
                found.append(
                    (
                        prices,
                        record.quarantined(),
                        record.read(markets_gone_since, NOW - timedelta(days=99)),
                    )
                )
    assert found[0] == found[1]
    for change in ("DELETE FROM quote", "UPDATE set_aside SET reason = 'x'", "DELETE FROM sync"):
        with (
            psycopg.connect(driven(there)) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="the record is append-only"),
        ):
            connection.execute(change)


def test_evidence_and_cohorts_read_the_same_on_both_databases(
    tmp_path: Path, new_server_record: Callable[[], str]
) -> None:
    """The small record, in which articles are shown. What was frozen stays, and a stop is for good."""
    there = new_server_record()
    found = []
    for database in (str(tmp_path / "here.db"), there):
        with closing(build(database)) as record:
            rounds = [
                stored_round for stored in record.cohorts() for stored_round in record.rounds(stored.id)
            ]
            with record.reading() as opened:
                assert verify(opened) == []
                evidence = [record.evidence(stored_round.id) for stored_round in rounds]
                sealed = [round_heads(opened, stored.id) for stored in record.cohorts()]
                glances = [(x.state, x.next_at, x.open, x.profits) for x in seen(opened, 5, NOW)]
                turns = [read_played_turns(opened, stored.id) for stored in record.cohorts()]
                chain = opened.exec_driver_sql("SELECT hash FROM head ORDER BY number").scalars().all()
                found.append((hash_seen(opened), evidence, sealed, glances, turns, chain))
            record.stop(record.cohorts()[1].id, NOW)
    assert found[0] == found[1]
    assert any(found[0][1])
    for change in (
        "UPDATE article SET text = ''",
        "DELETE FROM evidence",
        "DELETE FROM head",
        "UPDATE gathering SET found = 0",
        "UPDATE cohort SET stopped_at = NULL WHERE number = 2",
        "UPDATE entrant SET settings = '{}'",
        "INSERT INTO cohort SELECT * FROM cohort ON CONFLICT (id) DO UPDATE SET frozen = '{}'",
        "INSERT INTO prompt SELECT * FROM prompt ON CONFLICT (hash) DO UPDATE SET text = ''",
    ):
        with (
            psycopg.connect(driven(there)) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="the record is append-only"),
        ):
            connection.execute(change)


def test_the_status_and_what_is_told_are_the_same_on_both_databases(
    tmp_path: Path, new_server_record: Callable[[], str]
) -> None:
    """The small record, in which somebody is at work, with an outage that begins and ends."""
    found = []
    expected = Expected(live=False, limits={"day": 1, "round": 1, "agent": 1, "arena": 1})
    for database in (str(tmp_path / "here.db"), new_server_record()):
        with closing(build(database, 2, watched=True)) as record:
            for _ in range(2):
                note_rounds(record, NOW)
                note_venue(record, "100%", NOW, VenueError("timeout", "…"))
            note_venue(record, "100_", NOW, None)
            first, *rest = record.untold(NOW + timedelta(days=1))
            record.tell(first.id, NOW)
            note_venue(record, "100%", NOW, None)
            with record.reading() as opened:
                found.append(
                    (
                        rest,
                        read_status(opened, NOW, expected),
                        status_data(read_status(opened, NOW, expected)),
                    )
                )
    assert found[0] == found[1]
    assert found[0][1].held.positions
    assert len(found[0][1].incidents) > 1
