"""Open positions and turns in a few sums, against the same thing worked out one by one."""

from pathlib import Path

import pytest

from arena.record.queries.accounts import (
    read_accounts,
    read_ledgers,
    read_profits,
)
from arena.record.queries.progress import (
    code_versions,
    read_played_turns,
    status_counts,
)
from arena.record.queries.settlements import read_owed
from arena.rounds.season import count_open_positions, read_newest_snapshot_times
from dashboard.cohorts import read_equity_curves
from tests.arena.operations.test_status import asked, plans
from tests.opened_record import OpenedRecord
from tests.records.full_record import build, week
from tests.rows import cohorts_seen


@pytest.mark.parametrize("weeks", range(1, 6))
def test_open_positions_are_the_lots_that_the_ledgers_fold_to(weeks: int, tmp_path: Path) -> None:
    record = build(tmp_path / "record.db", weeks)
    found = record.read(count_open_positions)
    for stored in record.cohorts():
        lots = sum(len(account.lots) for account in record.holdings(stored.id).values())
        assert found[stored.id] == (0 if stored.ended_at else lots)
    record.close()


def test_turns_are_counted_by_round_and_by_version(built: Path) -> None:
    record = OpenedRecord.join(str(built))
    with record.reading() as connection:
        first, second = (read_played_turns(connection, stored.id) for stored in record.cohorts())
        looked = read_newest_snapshot_times(connection)
        profits = read_profits(connection)
    record.close()
    assert status_counts(first) == {
        1: {"played": 2, "malformed": 1},
        2: {"played": 3},
        3: {"played": 2, "failed": 1},
    }
    assert code_versions(first) == {1: ("1",), 2: ("1", "2"), 3: ("1",)}
    assert code_versions(second) == {1: ("1",)}
    assert set(looked.values()) == {week(4)}
    assert {number: list(made) for number, made in profits.items()} == {
        1: ["ann", "bob", "eve"],
        2: ["ann", "zoe"],
    }


@pytest.mark.parametrize("weeks", range(1, 6))
def test_profits_are_the_last_marks_less_every_deposit_with_what_is_owed(weeks: int, tmp_path: Path) -> None:
    record = build(tmp_path / "record.db", weeks)
    with record.reading() as connection:
        profits = read_profits(connection)
        owed = read_owed(connection)
        accounts = {(one.cohort, one.agent): one for one in read_accounts(connection)}
        slow: dict[int, dict[str, int]] = {}
        for stored in cohorts_seen(connection):
            number = stored.cohort.number
            totals = {mark.agent: mark.total for mark in read_equity_curves(connection, number)}
            for agent, entries in read_ledgers(connection, stored.id).items():
                given = sum(entry.cash for entry in entries if entry.kind == "deposit")
                assert accounts[number, agent].bankroll == given > 0
                if agent in totals:
                    total = totals[agent] + owed.get(stored.entrant_ids[agent], 0)
                    assert accounts[number, agent].total == total
                    slow.setdefault(number, {})[agent] = total - given
    record.close()
    assert profits == slow != {}


def test_profits_are_read_without_going_through_ledgers_or_marks(built: Path) -> None:
    engine = OpenedRecord.join(str(built)).engine
    with asked(engine) as questions, OpenedRecord(engine).reading() as connection:
        read_profits(connection)
    steps = [step for step, _ in plans(engine, questions)]
    engine.dispose()
    assert not [plan for plan in steps if plan.startswith(("SCAN mark", "SCAN entry", "SCAN newest"))]
    assert any("entrant_id=?" in plan for plan in steps)
