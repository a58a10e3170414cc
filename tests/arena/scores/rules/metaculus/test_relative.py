"""Relative scores: against the median of the others by the text, against the community by the site."""

import math
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.metaculus import _timeline, community, relative
from arena.scores.rules.metaculus.forecasts import MetaculusQuestion, rows_of, total_by_forecaster
from arena.scores.rules.metaculus.question_types import binary, continuous, multiple_choice
from tests.arena.scores.rules.metaculus.slow_rules import Said, Told, told

DAY = MetaculusQuestion(0, 4, 4)


def test_alone_there_is_no_score_by_the_text_and_0_by_the_site() -> None:
    said = binary(["a"], [0], [0.8], outcome=True)
    assert math.isnan(total_by_forecaster(said, relative.score(DAY, said)).of("a")[0])
    assert total_by_forecaster(said, relative.score(DAY, said, "metaculus")).of("a") == (0, 1)


def test_no_forecast_at_all_gives_no_score() -> None:
    nobody = binary([], [], [], outcome=True)
    assert relative.score(DAY, nobody).score.size == relative.score(DAY, nobody, "metaculus").score.size == 0


@given(told())
def test_the_exact_score_equals_a_slow_transcription(case: Told) -> None:
    found = relative.score(case.question, case.forecasts)
    assert found.score == pytest.approx([case.averaged(s, case.relative_at) for s in case.said], abs=1e-9)


@given(told())
def test_a_table_in_pieces_is_the_table(case: Told) -> None:
    forecasts = case.forecasts
    whole = relative.score(case.question, forecasts).score
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_timeline, "CELLS", 1)
        assert relative.score(case.question, forecasts).score == pytest.approx(whole, abs=1e-12)


@given(told(outside=""))
def test_the_site_s_score_equals_a_slow_transcription(case: Told) -> None:
    changes = sorted({t for s in case.said for t in (s.start, s.end) if t is not None})
    then = [(max(t, case.opens), [s for s in case.said if s.stands(t)]) for t in changes]
    begins = [(t, slow_median(stood)) for t, stood in then if stood and t < case.closes]
    spans = list(pairwise([*begins, (case.closes, 1.0)]))

    def score(one: Said) -> float:
        low = max(one.start, case.opens)
        high = min(one.end or case.closes, case.closes)
        steps = [(u - t, m) for (t, m), (u, _) in spans if low <= t < high]
        return sum(math.log2(one.chance / m) * length for length, m in steps) / (case.closes - case.opens)

    found = relative.score(case.question, case.forecasts, "metaculus").score
    expected = [score(s) if case.closes > case.opens else 0.0 for s in case.said]
    assert found == pytest.approx(expected, abs=1e-9)


def slow_median(stood: list[Said]) -> float:
    """Return the value at half of the weight of the standing forecasts, oldest first and then by name."""
    n = len(stood)
    aged = sorted(stood, key=lambda s: (s.start, s.who))
    weight = {s: math.exp(math.sqrt(i) - math.sqrt(n)) if n > 2 else 1.0 for i, s in enumerate(aged, 1)}
    rising = sorted(stood, key=lambda s: s.chance)
    total = sum(weight.values())
    below = 0.0
    for one, after in pairwise([*rising, rising[-1]]):
        below += weight[one]
        if below > total / 2:
            return one.chance
        if below == total / 2:
            return (one.chance + after.chance) / 2
    raise AssertionError("half of the weight was never met")


@given(told(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(case: Told, chance: Random) -> None:
    order = np.array(chance.sample(range(len(case.said)), len(case.said)), dtype=int)
    forecasts = case.forecasts
    mixed = rows_of(case.forecasts, order)
    for mode in ("exact", "metaculus"):
        found, moved = (relative.score(case.question, one, mode).score for one in (forecasts, mixed))
        assert np.array_equal(found[order], moved)


def test_the_median_of_options_is_scaled_to_add_up_to_1() -> None:
    rows = [[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]
    found = [
        np.exp(community.recency_weighted(multiple_choice(list("abc"), [0, 1, 2], rows, k)).level[-1])
        for k in range(3)
    ]
    assert sum(found) == pytest.approx(1)
    above = np.array([0.3, 0.3, 0.2]) - 0.001
    assert found == pytest.approx(above / above.sum() * 0.997 + 0.001)


def test_the_community_of_numbers_is_a_weighted_mean() -> None:
    said = continuous(list("abc"), [0, 1, 2], [[0, 0.2, 1], [0, 0.6, 1], [0, 0.7, 1]], bucket=1)
    weights = np.exp(np.sqrt([1, 2, 3]) - np.sqrt(3))
    expected = np.average([0.4, 1.2, 1.4], weights=weights)
    assert np.exp(community.recency_weighted(said).level[-1]) == pytest.approx(expected)
