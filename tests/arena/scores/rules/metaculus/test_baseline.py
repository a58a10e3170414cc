"""Baseline scores: the FAQ's tables, and a slow transcription of the time average."""

import math

import numpy as np
import pytest
from hypothesis import given

from arena.scores.rules.metaculus import baseline
from arena.scores.rules.metaculus.forecasts import MetaculusQuestion, total_by_forecaster
from arena.scores.rules.metaculus.question_types import binary, multiple_choice
from tests.arena.scores.rules.metaculus.slow_rules import Said, Told, told


def test_a_forecast_after_the_close_is_no_forecast() -> None:
    said = binary(["late", "good"], [3, 0], [0.8, 0.8], outcome=True)
    question = MetaculusQuestion(0, 2, 4)
    found = total_by_forecaster(said, baseline.score(question, said))
    assert math.isnan(found.of("late")[0])
    assert found.of("late")[1] == 0
    assert total_by_forecaster(said, baseline.score(question, said, "metaculus")).of("late") == (0, 0)


def test_an_option_that_came_later_is_read_from_other_among_the_options_of_then() -> None:
    said = multiple_choice(["a", "b"], [0, 0], [[0.5, np.nan, 0.5], [0.2, 0.6, 0.2]], outcome=1)
    found = baseline.score(MetaculusQuestion(0, 1, 1), said).score
    assert found == pytest.approx([0, 100 * math.log(0.6 * 3) / math.log(3)], abs=1e-9)


@given(told())
def test_time_averages_equal_a_slow_transcription(case: Told) -> None:
    def at(one: Said, _: float) -> float:
        return 100 * (math.log2(one.chance) + 1)

    found = baseline.score(case.question, case.forecasts)
    assert found.score == pytest.approx([case.averaged(s, at) for s in case.said], abs=1e-9)
    assert found.coverage == pytest.approx([case.averaged(s, lambda *_: 1) for s in case.said], abs=1e-12)
