"""Scores over time of many questions at once come to those of each question by itself."""

from dataclasses import replace

import numpy as np
import pytest

from arena.scores.all_kinds import read_all_kinds
from arena.scores.files import over_time
from arena.scores.files.by_question import NAMES, score_questions
from arena.scores.files.forecasts import ForecastTable
from tests.records.question_season import play


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ForecastTable:
    record = play(tmp_path_factory.mktemp("season") / "season.db", size=24, silent=("bob",))
    return record.read(read_all_kinds)


def assert_same(table: ForecastTable, outside: tuple[str, ...]) -> None:
    """Check that scoring the community as one more forecaster leaves all others as they are."""
    at_once = score_questions(table, "exact", outside)
    one_by_one = score_questions(table, "exact", outside, community=True)
    own = one_by_one.who < len(table.forecasters)
    assert np.array_equal(at_once.who, one_by_one.who[own])
    assert np.array_equal(at_once.question, one_by_one.question[own])
    assert np.array_equal(at_once.rows, one_by_one.rows[:-1])
    for name in NAMES:
        theirs = one_by_one.values[name][own]
        assert np.allclose(at_once.values[name], theirs, rtol=1e-9, atol=1e-9, equal_nan=True), name


@pytest.mark.parametrize("outside", [(), ("flat",), ("ann", "bob", "flat")])
def test_at_once_is_one_by_one(table: ForecastTable, outside: tuple[str, ...]) -> None:
    assert over_time.timed_rows(table) is not None
    assert_same(table, outside)


def test_a_table_in_parts_is_the_same(table: ForecastTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_time, "TABLE_CELLS", 40)
    assert_same(table, ("flat",))


def test_what_ends_by_itself_is_scored_one_by_one(table: ForecastTable) -> None:
    assert table.time is not None
    assert over_time.timed_rows(replace(table, end=table.time + 60)) is None
    assert over_time.timed_rows(replace(table, time=None)) is None
