"""What comes after a round is over is not written, and the round ends once."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agents.toolbox import ToolResult
from arena.record.write.heads import begin_chain, read_newest_head
from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, WEEK, Season, a_cohort, the_book, the_news

ASKED = ("ann", "search", '{"query":"sun"}')


@pytest.fixture
def record(tmp_path: Path) -> Iterator[OpenedRecord]:
    """Yield a record with a round that is over and one that is not."""
    with closing(OpenedRecord.at(tmp_path / "record.db")) as opened:
        season = Season(opened)
        season.start(replace(a_cohort(1, NOW, REALISTIC, "ann"), evidence="none"))
        season.look(1, NOW, the_book(SUN, NOW))
        season.value(1, NOW)
        season.look(1, NOW + WEEK, the_book(SUN, NOW + WEEK))
        yield opened


def count(record: OpenedRecord, table: str) -> int:
    with record.reading() as connection:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def test_a_round_ends_once(record: OpenedRecord) -> None:
    """A second process has come to its end too: its head is there already."""
    newest = record.read(read_newest_head)
    record.value(1, {}, 1)
    assert record.read(read_newest_head) == newest


def test_the_marks_of_a_round_that_is_over_stay(record: OpenedRecord) -> None:
    """A process that was stalled has marks from before the last turn, or from before the round was over."""
    marks = count(record, "mark")
    assert marks
    for over in (None, 1):
        record.value(1, {}, over)
        assert count(record, "mark") == marks


def test_nothing_is_gathered_for_a_round_that_is_over(record: OpenedRecord) -> None:
    for round_id in (1, 2):
        record.gather(round_id, (1, round_id), {SUN: the_news(SUN, NOW)})
    assert count(record, "gathering") == 1


def test_no_tool_tells_anything_in_a_round_that_is_over(record: OpenedRecord) -> None:
    with pytest.raises(LookupError):
        record.keep_result(1, (1, 1), ASKED, ToolResult("It rains."), NOW)
    assert record.keep_result(2, (1, 2), ASKED, ToolResult("It rains."), NOW) == "It rains."


def test_the_first_head_of_an_older_record_covers_the_rounds_that_are_over(record: OpenedRecord) -> None:
    """The one that is not gets a head of its own when it ends."""
    record.write(begin_chain, NOW)
    with record.reading() as connection:
        query = "SELECT members FROM head ORDER BY number DESC LIMIT 1"
        members = json.loads(connection.exec_driver_sql(query).scalar_one())
    assert [line[:2] for line in members["round"]] == [[1, 1]]
