"""A table of many questions: each forecaster's means, and what is refused by row."""

import math
import re
from dataclasses import astuple, dataclass
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from arena.scores.rules.metaculus import baseline, peer, relative
from arena.scores.rules.metaculus.question import MetaculusQuestion, Mode
from arena.scores.rules.metaculus.question_types import binary
from arena.scores.rules.metaculus.table import CellScores, TableTimes, cell_scores, check_rows
from arena.scores.rules.metaculus.totals import totals


@dataclass(frozen=True, slots=True)
class ForecasterMeans:
    """A forecaster's means over questions; NaN where there is no such score."""

    forecaster: str
    questions: int
    baseline: float
    peer: float
    relative: float
    coverage: float
    spot_baseline: float
    spot_peer: float


@dataclass(frozen=True, slots=True)
class TableScores:
    """Everybody by name, the mode in which they were scored, and what the means are of."""

    mode: Mode
    lines: tuple[ForecasterMeans, ...]
    cells: CellScores


def score(
    question: ArrayLike,
    forecaster: ArrayLike,
    probability: ArrayLike,
    outcome: ArrayLike,
    times: TableTimes | None = None,
    mode: Mode = "exact",
) -> TableScores:
    """The means of everyone in a table of forecasts."""
    cells = cell_scores(check_rows(question, forecaster, probability, outcome, times), times, mode)
    found = []
    for name in sorted(set(cells.forecaster.tolist())):
        own = cells.values[:, cells.forecaster == name]
        known = [column[~np.isnan(column)] for column in own]
        means = [float(column.mean()) if column.size else math.nan for column in known]
        found.append(ForecasterMeans(name, own.shape[1], *means))
    return TableScores(mode, tuple(found), cells)


def line(found: TableScores, name: str) -> ForecasterMeans:
    return next(line for line in found.lines if line.forecaster == name)


def test_a_forecaster_s_line_is_the_mean_over_questions() -> None:
    found = score(["q", "q", "r", "r"], ["a", "b"] * 2, [0.8, 0.4, 0.1, 0.2], [1, 1, 0, 0])
    a = line(found, "a")
    assert (a.questions, a.coverage, found.mode) == (2, 1, "exact")
    assert a.baseline == pytest.approx(50 * (math.log2(0.8) + math.log2(0.9)) + 100)
    assert a.peer == pytest.approx(50 * (math.log(0.8 / 0.4) + math.log(0.9 / 0.8)))
    assert a.relative == pytest.approx((1 + math.log2(0.9 / 0.8)) / 2)


def test_times_make_it_what_a_single_question_gives() -> None:
    times = TableTimes(time=[1, 2, 3], closes=[5, 5, 5], opens=[0, 0, 0], scheduled=[8, 8, 8])
    found = line(score(["q"] * 3, ["a", "b", "a"], [0.8, 0.4, 0.6], [1] * 3, times), "a")
    said, question = (
        binary(["a", "b", "a"], [1, 2, 3], [0.8, 0.4, 0.6], outcome=True),
        MetaculusQuestion(0, 5, 8),
    )
    rules = baseline.score, peer.score, relative.score
    expected = [totals(said, rule(question, said)).of("a")[0] for rule in rules]
    assert [found.baseline, found.peer, found.relative] == pytest.approx(expected)
    assert found.coverage == 0.5


def test_without_an_opening_a_question_opens_with_its_first_forecast() -> None:
    found = score(["q"] * 2, ["a", "b"], [0.8, 0.4], [1, 1], TableTimes(time=[1, 3], closes=[5, 5]))
    assert (line(found, "a").coverage, line(found, "b").coverage) == (1, 0.5)


def test_unresolved_questions_are_left_out() -> None:
    found = score(["q", "q", "open", "half"], ["a", "b", "a", "a"], [0.8, 0.4, 0.9, 0.9], [1, 1, -1, 0.5])
    assert [(each.forecaster, each.questions) for each in found.lines] == [("a", 1), ("b", 1)]
    assert score(["q"], ["a"], [0.5], [-1]).lines == score([], [], [], []).lines == ()


def test_who_was_alone_has_a_baseline_score_and_no_other() -> None:
    found = line(score(["q"], ["a"], [0.8], [1]), "a")
    assert found.baseline == pytest.approx(67.81, abs=0.005)
    assert math.isnan(found.peer)
    assert math.isnan(found.relative)
    assert line(score(["q"], ["a"], [0.8], [1], mode="metaculus"), "a").peer == 0


TWO = ["q", "q"], ["a", "b"], [0.5, 0.5], [1, 1]
SAME = ["q", "q"], ["a", "a"], [0.5, 0.5], [1, 1]
WRONG: dict[str, tuple[Any, ...]] = {
    "row 1: 1.5 is not a probability": (["q", "q"], ["a", "b"], [0.5, 1.5], [1, 1]),
    "row 1: outcome 0, but row 0 of the same question has 1": (*TWO[:3], [1, 0]),
    "row 1: a has forecast the same question at the same time in row 0": SAME,
    "row 1: a has forecast": (*SAME, TableTimes([2, 2], [5, 5])),
    "row 1: time nan is not a time": (*TWO, TableTimes([0, math.nan], [1, 1])),
    "column time has 1 rows, not 2": (*TWO, TableTimes([0], [1, 1])),
    "column outcome has 1 rows, not 2": (*TWO[:3], [1]),
    "row 1: closes 2, but row 0 of the same question has 1": (*TWO, TableTimes([0, 0], [1, 2])),
    "row 0: close 1.0 is before the opening 3.0": (*TWO, TableTimes([4, 4], [1, 1], [3, 3], [9, 9])),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_is_said_with_its_row(message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        score(*WRONG[message])


rows = st.lists(
    st.tuples(st.sampled_from("qrs"), st.sampled_from("abc"), st.integers(0, 100)),
    max_size=9,
    unique_by=lambda row: row[:2],
)


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(rows: list[tuple[str, str, int]], chance: Random) -> None:
    def lines(rows: list[tuple[str, str, int]]) -> str:
        columns = [[row[k] for row in rows] for k in range(3)]
        return repr(score(columns[0], columns[1], np.array(columns[2]) / 100, [q == "q" for q in columns[0]]))

    assert lines(rows) == lines(chance.sample(rows, len(rows)))


@given(rows)
def test_all_at_once_is_one_by_one(rows: list[tuple[str, str, int]]) -> None:
    columns = [[row[k] for row in rows] for k in range(3)]
    ended = [q == "q" for q in columns[0]]
    given = columns[0], columns[1], np.array(columns[2]) / 100, ended
    quick, slow = score(*given), score(*given, TableTimes([0] * len(rows), [4] * len(rows)))
    assert [line.forecaster for line in quick.lines] == [line.forecaster for line in slow.lines]
    for one, other in zip(quick.lines, slow.lines, strict=True):
        assert astuple(one)[1:] == pytest.approx(astuple(other)[1:], abs=1e-9, nan_ok=True)
