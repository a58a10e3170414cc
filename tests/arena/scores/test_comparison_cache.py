"""What is worked out once and kept: until something ends, and never told when it is stale."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.record.hashes import state_hash
from arena.record.record import Record
from arena.record.schema.database import reading
from arena.record.write.rollups import put_rollups, read_rollup, scores_basis
from arena.scores.cache.leaderboards import (
    comparisons_are_stale,
    comparisons_name,
    compute_comparisons,
    compute_duel,
    compute_leaderboard,
    compute_provisional,
    compute_slices,
)
from arena.scores.comparisons import COMPARISON_METHOD
from tests.arena.full_record import build
from tests.builders import NOW


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    """A small record of some weeks."""
    record = build(tmp_path / "record.db", 4)
    yield record
    record.close()


def keep(record: Record) -> None:
    """What the job does."""
    with reading(record.engine) as connection:
        found = compute_comparisons(connection, NOW)
    record.write(put_rollups, found)


def test_it_is_stale_until_it_was_worked_out_and_then_until_something_ends(record: Record) -> None:
    with reading(record.engine) as connection:
        assert comparisons_are_stale(connection)
    keep(record)
    with reading(record.engine) as connection:
        assert not comparisons_are_stale(connection)
        kept = read_rollup(connection, comparisons_name(None))
        assert kept is not None
        assert (kept.basis, kept.made_at) == (scores_basis(connection, COMPARISON_METHOD), NOW)
    record.write(put_rollups, [replace(kept, basis="another method")])
    with reading(record.engine) as connection:
        assert comparisons_are_stale(connection)


def test_what_was_kept_is_shown_while_it_holds_and_what_is_stale_is_not(record: Record) -> None:
    with reading(record.engine) as connection:
        fresh = compute_leaderboard(connection)
    keep(record)
    with reading(record.engine) as connection:
        assert compute_leaderboard(connection) == fresh
        kept = read_rollup(connection, comparisons_name(None))
    assert kept is not None
    said = kept.body | {"sentence": "kept"}
    record.write(put_rollups, [replace(kept, body=said)])
    with reading(record.engine) as connection:
        assert compute_leaderboard(connection).sentence == "kept"
    record.write(put_rollups, [replace(kept, body=said, basis="stale")])
    with reading(record.engine) as connection:
        assert compute_leaderboard(connection) == fresh


def test_it_is_no_fact(record: Record) -> None:
    with reading(record.engine) as connection:
        before = state_hash(connection)
    keep(record)
    keep(record)
    with reading(record.engine) as connection:
        assert state_hash(connection) == before


def test_each_cohort_has_its_own(record: Record) -> None:
    keep(record)
    numbers = [stored.cohort.number for stored in record.cohorts()]
    with reading(record.engine) as connection:
        assert all(read_rollup(connection, comparisons_name(number)) for number in [None, *numbers])
        assert {row.cohorts for row in compute_leaderboard(connection, numbers[0]).rows} == {1}


def test_who_and_what_is_not_there_is_said(record: Record) -> None:
    with reading(record.engine) as connection:
        for ask in (compute_leaderboard, compute_provisional):
            with pytest.raises(ArenaError, match="no cohort 99"):
                ask(connection, 99)
        with pytest.raises(ArenaError, match="no agent 'nobody'"):
            compute_duel(connection, "nobody", record.cohorts()[0].cohort.entrants[0].name)
        with pytest.raises(ArenaError, match="no cohort 99"):
            compute_slices(connection, "price", 99)
