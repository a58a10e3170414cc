"""Calls that the status shows: those under way, and those whose worker is gone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.operations.status_queries import read_calls_under_way
from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.opened_record import OpenedRecord, opened_record
from tests.records.full_record import SUN, Season, a_cohort, the_book


@pytest.fixture
def record(tmp_path: Path) -> Iterator[OpenedRecord]:
    with opened_record(tmp_path / "record.db") as opened:
        season = Season(opened)
        season.start(a_cohort(1, NOW, REALISTIC, "ann"))
        season.look(1, NOW, the_book(SUN, NOW))
        yield opened


def test_a_call_of_a_worker_that_is_gone_is_lost_before_anybody_has_noticed(record: OpenedRecord) -> None:
    for number, holder in enumerate(("alive", "alive", "gone", "alive"), 1):
        record.reserve(holder, 10**number, number=number)
    record.lose([4])
    found = record.read(read_calls_under_way, lambda holder: holder == "gone")
    assert (found.calls, found.worst) == (2, 110)
    assert (found.lost, found.lost_worst) == (2, 11_000)
