"""What is cached is shown until something changes, and never when it is stale."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.errors import ArenaError
from arena.record.write.rollups import scores_basis
from arena.scores.cache import CacheKind
from arena.scores.comparisons import COMPARISONS, compute_duel, turns_basis
from arena.scores.leaderboard import LEADERBOARD, compute_leaderboard, compute_provisional, read_leaderboard
from arena.scores.refresh import refresh_leaderboards
from arena.scores.slices import SLICES, compute_slices, read_slices
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.full_record import build


@pytest.fixture
def record(tmp_path: Path) -> Iterator[OpenedRecord]:
    """Yield a small record of some weeks."""
    record = build(tmp_path / "record.db", 4)
    yield record
    record.close()


def test_it_is_stale_until_it_was_computed_and_then_until_something_is_played_or_ends(
    record: OpenedRecord,
) -> None:
    assert not record.read(COMPARISONS.is_current)
    assert not record.read(LEADERBOARD.is_current)
    refresh_leaderboards(record, NOW)
    assert record.read(COMPARISONS.is_current)
    cached = record.cached(COMPARISONS.name_of())
    assert cached is not None
    state = f"{record.read(scores_basis)}; {record.read(turns_basis)}"
    basis = f"{COMPARISONS.method}: {state}; ranked from 0.8"
    assert (cached.basis, cached.made_at) == (basis, NOW)
    record.put_cached(replace(cached, basis="another method"))
    assert not record.read(COMPARISONS.is_current)
    assert record.read(LEADERBOARD.is_current)


@pytest.mark.parametrize("kind", [LEADERBOARD, COMPARISONS])
def test_what_is_current_is_shown_and_what_is_stale_is_not(
    record: OpenedRecord, tmp_path: Path, kind: CacheKind[Any]
) -> None:
    fresh = record.read(read_leaderboard)
    refresh_leaderboards(record, NOW)
    assert record.read(read_leaderboard) == fresh
    cached = record.cached(kind.name_of())
    assert cached is not None
    if kind is COMPARISONS:  # which are read where the leaderboard is stale
        with sqlite3.connect(tmp_path / "record.db") as plain:
            plain.execute("DELETE FROM rollup WHERE name = 'board'")
        plain.close()
    noise = {"pairs": 1, "typical": 7.0, "widest": 7.0} if kind is COMPARISONS else 7.0
    said = cached.body | {"noise": noise}
    record.put_cached(replace(cached, body=said))
    assert record.read(read_leaderboard).noise == 7.0
    assert record.read(compute_leaderboard) == fresh
    record.put_cached(replace(cached, body=said, basis="stale"))
    assert record.read(read_leaderboard) == fresh


def test_slices_are_read_from_the_cache_while_they_are_current(record: OpenedRecord) -> None:
    fresh = record.read(compute_slices, "price")
    assert record.read(read_slices, "price") == fresh
    row = record.read(SLICES.row, NOW, tuple(fresh[:1]), "price")
    record.put_cached(row)
    assert list(record.read(read_slices, "price")) == fresh[:1]
    assert record.read(read_slices, "price", 1) == record.read(compute_slices, "price", 1)
    record.put_cached(replace(row, basis=f"{row.basis} and more"))
    assert record.read(read_slices, "price") == fresh


def test_a_leaderboard_is_stale_once_another_account_is_marked_at_the_same_instant(
    record: OpenedRecord, tmp_path: Path
) -> None:
    for whose in ("min", "max"):
        with sqlite3.connect(tmp_path / "record.db") as plain:
            plain.execute(
                "INSERT INTO mark SELECT entrant_id, '2099-01-01T00:00:00.000000Z', snapshot_id, cash, "
                "value, liquidation, cost, realised, stale, age FROM mark "
                f"WHERE entrant_id = (SELECT {whose}(entrant_id) FROM mark) LIMIT 1"
            )
        plain.close()
        assert not record.read(LEADERBOARD.is_current)
        refresh_leaderboards(record, NOW)
        assert record.read(LEADERBOARD.is_current)


def test_each_cohort_has_its_own(record: OpenedRecord) -> None:
    refresh_leaderboards(record, NOW)
    numbers = [stored.cohort.number for stored in record.cohorts()]
    with record.reading() as connection:
        for kind in (COMPARISONS, LEADERBOARD):
            assert all(kind.read(connection, number) for number in [None, *numbers])
        assert {row.cohorts for row in read_leaderboard(connection, numbers[0]).rows} == {1}


def test_who_and_what_is_not_there_is_said(record: OpenedRecord) -> None:
    with record.reading() as connection:
        for ask in (read_leaderboard, compute_leaderboard, compute_provisional):
            with pytest.raises(ArenaError, match="no cohort 99"):
                ask(connection, 99)
        with pytest.raises(ArenaError, match="no agent 'nobody'"):
            compute_duel(connection, "nobody", record.cohorts()[0].cohort.entrants[0].name)
        with pytest.raises(ArenaError, match="no cohort 99"):
            compute_slices(connection, "price", 99)


def test_it_is_no_fact(record: OpenedRecord) -> None:
    before = record.state_hash()
    refresh_leaderboards(record, NOW)
    assert record.state_hash() == before
