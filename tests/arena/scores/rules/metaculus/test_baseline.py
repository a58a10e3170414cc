"""Baseline scores: the FAQ's tables, and a slow transcription of the time average."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.metaculus import baseline
from arena.scores.rules.metaculus.forecasts import MetaculusQuestion, totals
from arena.scores.rules.metaculus.question_types import binary, continuous, multiple_choice
from tests.arena.scores.rules.metaculus.slow_rules import Said, Told, told


def alone(*rows: tuple[int, float]) -> tuple[list[str], list[int], list[float]]:
    """One forecaster's forecasts from these days on."""
    return ["a"] * len(rows), [day for day, _ in rows], [chance for _, chance in rows]


@pytest.mark.parametrize(
    ("said", "yes", "no"),
    [(0.7, 48.54, -73.70), (0.8, 67.81, -132.19), (0.9, 84.80, -232.19), (0.99, 98.55, -564.39)],
)
def test_the_table_of_expected_scores(said: float, yes: float, no: float) -> None:
    assert baseline.points([said, 1 - said]) == pytest.approx([yes, no], abs=0.005)


def test_half_is_worth_nothing_and_certainty_100() -> None:
    assert baseline.points([0.5, 1.0]).tolist() == [0.0, 100.0]


@pytest.mark.parametrize("count", [2, 3, 8, 20])
def test_even_odds_among_options_are_worth_nothing_and_certainty_100(count: int) -> None:
    assert baseline.points([1 / count, 1.0], 1 / count, math.log(count)) == pytest.approx([0, 100], abs=1e-9)


def test_five_days_of_the_faq_average_27_with_a_coverage_of_four_fifths() -> None:
    found = baseline.score(
        MetaculusQuestion(0, 5, 5), binary(*alone((1, 0.4), (2, 0.7), (4, 0.8)), outcome=True)
    )
    assert found.score.sum() == pytest.approx(26.54, abs=0.005)
    assert found.coverage.tolist() == [0.2, 0.4, 0.2]


def test_an_early_close_counts_as_time_with_a_score_of_0() -> None:
    said = binary(*alone((0, 0.8)), outcome=True)
    whole = baseline.score(MetaculusQuestion(0, 4, 4), said).score[0]
    early = baseline.score(MetaculusQuestion(0, 1, 4), said)
    assert (early.score[0], early.coverage[0]) == (pytest.approx(whole / 4), 0.25)


def test_a_late_close_is_cut_at_the_plan_by_the_text_and_not_by_the_site() -> None:
    said, question = binary(*alone((0, 0.8)), outcome=True), MetaculusQuestion(0, 6, 4)
    assert baseline.score(question, said).coverage.tolist() == [1.0]
    assert baseline.score(question, said, "metaculus").coverage.tolist() == [1.5]


def test_a_forecast_after_the_close_is_no_forecast() -> None:
    said = binary(["late", "good"], [3, 0], [0.8, 0.8], outcome=True)
    question = MetaculusQuestion(0, 2, 4)
    found = totals(said, baseline.score(question, said))
    assert math.isnan(found.of("late")[0])
    assert found.of("late")[1] == 0
    assert totals(said, baseline.score(question, said, "metaculus")).of("late") == (0, 0)


def test_every_result_says_its_mode() -> None:
    said, question = binary(*alone((0, 0.8)), outcome=True), MetaculusQuestion(0, 2, 4)
    assert baseline.score(question, said).mode == totals(said, baseline.score(question, said)).mode == "exact"
    assert baseline.score(question, said, "metaculus").mode == "metaculus"


def test_an_option_that_came_later_is_read_from_other_among_the_options_of_then() -> None:
    said = multiple_choice(["a", "b"], [0, 0], [[0.5, np.nan, 0.5], [0.2, 0.6, 0.2]], outcome=1)
    found = baseline.score(MetaculusQuestion(0, 1, 1), said).score
    assert found == pytest.approx([0, 100 * math.log(0.6 * 3) / math.log(3)], abs=1e-9)


@pytest.mark.parametrize(("bounds", "bucket", "scores"), [(0, 1, 0.0), (1, 1, 0.0), (2, 1, 0.0), (1, 5, 0.0)])
def test_who_knows_nothing_of_a_number_scores_0(bounds: int, bucket: int, scores: float) -> None:
    inside = 1 - 0.05 * bounds
    first = 0.05 if bounds == 2 else 0.0
    cdf = first + inside * np.linspace(0, 1, 5)
    said = continuous(["a"], [0], [cdf], bucket, bounds)
    assert baseline.score(MetaculusQuestion(0, 1, 1), said).score == pytest.approx([scores], abs=1e-9)


def test_a_sharp_density_is_worth_50_for_each_factor_of_e() -> None:
    said = continuous(["a"], [0], [[0, 0, 1, 1, 1]], bucket=2)
    assert baseline.score(MetaculusQuestion(0, 1, 1), said).score == pytest.approx([50 * math.log(4)])


@given(told())
def test_time_averages_equal_a_slow_transcription(case: Told) -> None:
    def at(one: Said, _: float) -> float:
        return 100 * (math.log2(one.chance) + 1)

    found = baseline.score(case.question, case.forecasts)
    assert found.score == pytest.approx([case.averaged(s, at) for s in case.said], abs=1e-9)
    assert found.coverage == pytest.approx([case.averaged(s, lambda *_: 1) for s in case.said], abs=1e-12)


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_it_is_proper_what_one_believes_pays_best(truth: float, said: float) -> None:
    def expected(p: float) -> float:
        return float(truth * baseline.points(p) + (1 - truth) * baseline.points(1 - p))

    assert expected(truth) >= expected(said) - 1e-9
