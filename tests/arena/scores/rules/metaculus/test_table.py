"""A table of many questions: what single questions give, at once or one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.metaculus import baseline, peer, relative
from arena.scores.rules.metaculus.forecasts import MetaculusQuestion, total_by_forecaster
from arena.scores.rules.metaculus.question_types import binary
from arena.scores.rules.metaculus.table import ResolvedRows, TableTimes, cell_scores


def test_times_make_it_what_a_single_question_gives() -> None:
    time = np.array([1.0, 3.0, 2.0])
    one = np.ones(3)
    chance = np.array([0.8, 0.6, 0.4])
    who = np.array([0, 0, 1])
    times = TableTimes(time, 0 * one, 5 * one, 8 * one)
    rows = ResolvedRows(np.zeros(3, np.intp), who, chance, one, np.full(3, True), times)
    found = cell_scores(rows, "exact")
    said = binary(["a", "a", "b"], time, chance, outcome=True)
    question = MetaculusQuestion(0, 5, 8)
    rules = baseline.score, peer.score, relative.score
    expected = [total_by_forecaster(said, rule(question, said)).of("a")[0] for rule in rules]
    assert found.values[:, 0] == pytest.approx([*expected, 0.5, np.nan, np.nan], nan_ok=True)


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 100)),
    max_size=9,
    unique_by=lambda row: row[:2],
)


@given(ROWS, st.integers(0, 3))
def test_all_at_once_is_one_by_one(rows: list[tuple[int, int, int]], outside: int) -> None:
    question, who, percent = (np.array(column, np.intp) for column in np.reshape(sorted(rows), (-1, 3)).T)
    zero = np.zeros(question.size)
    columns = question, who, percent / 100, (question == 0).astype(float), who != outside
    quick, slow = (
        cell_scores(ResolvedRows(*columns, times), "exact")
        for times in (None, TableTimes(zero, zero, zero + 4, zero + 4))
    )
    assert (quick.question.tolist(), quick.forecaster.tolist()) == (
        slow.question.tolist(),
        slow.forecaster.tolist(),
    )
    assert quick.values == pytest.approx(slow.values, abs=1e-9, nan_ok=True)
