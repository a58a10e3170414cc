"""Pruning lets go of quotes that nothing stands on, and of nothing else."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from arena.record.queries.markets import read_quotes_as_of
from arena.record.write.listings import PruneResult, plan_pruning, prune_quotes
from arena.verify import verify
from tests.arena.record.histories import (
    LONGEST,
    MARKETS,
    MINUTE,
    Look,
    all_times,
    begun,
    histories,
    keep,
    minute,
    played,
)
from tests.builders import NOW, usd
from tests.opened_record import OpenedRecord
from tests.records.full_record import build
from tests.rows import TABLES

FOG, MIST, _ = MARKETS


def quote_rows(connection: Connection) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in connection.execute(TABLES["quote"].select())}


@given(looks=histories(), edge=st.integers(0, 2 * LONGEST))
def test_what_is_referred_to_or_newest_never_goes(looks: list[Look], edge: int, empty: Path) -> None:
    older_than = NOW + edge * MINUTE / 2
    with played(empty, looks) as record:
        with record.engine.begin() as connection:
            before = quote_rows(connection)
            known = {at: read_quotes_as_of(connection, MARKETS, at) for at in all_times()}
            plan = plan_pruning(connection, older_than)
            assert prune_quotes(connection, older_than, NOW + timedelta(days=1)) == plan
        with record.reading() as connection:
            after = quote_rows(connection)
            used = set(connection.exec_driver_sql("SELECT quote_id FROM snapshot_item").scalars())
            assert after <= before
            assert len(before) - len(after) == plan.goes
            assert {row[0] for row in after} >= used - {None}
            for market in MARKETS:
                mine = [row for row in before if row[1] == market and row[2] < older_than]
                assert set(sorted(mine, key=lambda row: (row[2], row[0]))[-1:]) <= after
            assert {row for row in before if row[2] >= older_than} <= after
            for at in all_times():
                if at >= older_than:
                    assert read_quotes_as_of(connection, MARKETS, at) == known[at], at
            assert verify(connection) == []
        for look in looks:
            found = record.snapshot(1, minute(look.minute))
            assert (found and list(found[1])) == (None if look.sync else look.listings)


@given(looks=histories(), later=histories(), edge=st.integers(0, 2 * LONGEST))
def test_after_pruning_nothing_is_said_that_was_not_so(
    looks: list[Look], later: list[Look], edge: int, empty: Path
) -> None:
    """Whatever a pruned record says of an instant was seen at the time it names."""
    late = [look for look in later if not look.sync and all(x.minute != look.minute for x in looks)]
    every = [*looks, *late]
    seen = {listing.quote for look in every for listing in look.listings if listing.quote}
    with played(empty, looks) as record:
        with record.engine.begin() as connection:
            prune_quotes(connection, NOW + edge * MINUTE / 2, NOW + timedelta(days=1))
        for look in late:
            keep(record, look)
        with record.reading() as connection:
            for at in all_times():
                assert set(read_quotes_as_of(connection, MARKETS, at).values()) <= seen, at


@pytest.fixture
def record(empty: Path, tmp_path: Path) -> OpenedRecord:
    record = begun(empty, tmp_path / "record.db")
    for number, price in enumerate(("0.1", "0.2", "0.2", "0.3", "0.4")):
        keep(record, Look(number != 1, number, {FOG: usd(price)}))
    return record


def pruned(record: OpenedRecord, older_than: int) -> PruneResult:
    with record.engine.begin() as connection:
        return prune_quotes(connection, minute(older_than), NOW + timedelta(days=1))


def test_it_says_what_goes_and_why_the_others_stay(record: OpenedRecord) -> None:
    with record.reading() as connection:
        assert plan_pruning(connection, minute(4)) == PruneResult(minute(4), goes=1, used=1, last=1, later=1)
        assert plan_pruning(connection, minute(9)) == PruneResult(minute(9), goes=2, used=1, last=1, later=0)
        assert len(quote_rows(connection)) == 4


def test_pruning_twice_is_pruning_once(record: OpenedRecord) -> None:
    assert [pruned(record, 9).goes, pruned(record, 9).goes, pruned(record, 3).goes] == [2, 0, 0]
    with record.reading() as connection:
        assert [row.quotes for row in connection.execute(TABLES["prune"].select())] == [2]


def test_prunings_are_numbered(record: OpenedRecord) -> None:
    assert [pruned(record, 3).goes, pruned(record, 9).goes] == [1, 1]
    with record.reading() as connection:
        assert [row.number for row in connection.execute(TABLES["prune"].select())] == [1, 2]
        assert verify(connection) == []


def test_a_played_season_loses_nothing(tmp_path: Path) -> None:
    record = build(tmp_path / "record.db")
    with record.engine.begin() as connection:
        assert prune_quotes(connection, NOW + timedelta(weeks=9), NOW + timedelta(weeks=9)).goes == 0
    record.close()
