"""Autocast's three metrics and their sum, against the Brier score and by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules import brier
from arena.scores.rules.autocast import choice, combined, numeric


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 1)), min_size=1, max_size=20))
def test_of_two_options_it_is_the_brier_score(rows: list[tuple[int, int]]) -> None:
    yes = [f / 100 for f, _ in rows]
    answers = [answer for _, answer in rows]
    found = choice.each([[1 - f, f] for f in yes], answers)
    assert found.mean() == pytest.approx(brier.score(yes, answers), abs=1e-12)


def test_a_type_without_a_question_leaves_the_sum_unknown() -> None:
    assert math.isnan(combined.score(0.25, math.nan, 0.25))


def test_a_number_outside_its_range_is_refused_by_row() -> None:
    with pytest.raises(ValueError, match=r"row 1: 1\.5 is not"):
        numeric.each([0.5, 1.5], [0.5, 0.5])


def test_numbers_score_their_distance() -> None:
    assert numeric.each([0.2, 1.0, 0.0], [0.5, 1.0, 1.0]) == pytest.approx([0.3, 0, 1])
