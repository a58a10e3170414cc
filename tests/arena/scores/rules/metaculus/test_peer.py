"""Peer scores in both modes, against slow transcriptions, and where the two differ."""

import math
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena.scores.rules.metaculus import peer
from arena.scores.rules.metaculus.forecasts import (
    ForecastScores,
    MetaculusQuestion,
    rows_of,
    total_by_forecaster,
)
from arena.scores.rules.metaculus.question_types import binary, continuous, multiple_choice
from tests.arena.scores.rules.metaculus.slow_rules import Said, Told, told

DAY = MetaculusQuestion(0, 4, 4, spot=2)


def ln(p: float, q: float) -> float:
    return 100 * math.log(p / q)


def test_nobody_has_a_peer_score_alone() -> None:
    said = binary(["a"], [0], [0.5], outcome=True)
    assert math.isnan(total_by_forecaster(said, peer.score(DAY, said)).of("a")[0])
    assert total_by_forecaster(said, peer.score(DAY, said, "metaculus")).of("a") == (0, 1)


def test_numbers_count_half() -> None:
    said = continuous(["a", "b"], [0, 0], [[0, 0.8, 1], [0, 0.4, 1]], bucket=1)
    assert peer.score(DAY, said).score == pytest.approx([50 * math.log(2), -50 * math.log(2)])


def test_who_had_no_such_option_is_read_from_other_by_the_text() -> None:
    rows = [[0.5, np.nan, 0.5], [0.2, 0.6, 0.2]]
    said = multiple_choice(["a", "b"], [0, 0], rows, outcome=1)
    assert peer.score(DAY, said).score == pytest.approx([ln(0.5, 0.6), ln(0.6, 0.5)])
    mean = math.sqrt(0.5 * 0.2)
    assert peer.score(DAY, said, "metaculus").score == pytest.approx([2 * ln(0.5, mean), 2 * ln(0.6, mean)])


def test_all_starting_at_the_spot_have_a_spot_score_by_the_text_and_none_by_the_site() -> None:
    said = binary(["a", "b"], [2, 2], [0.8, 0.4], outcome=True)
    assert peer.spot(DAY, said).score == pytest.approx([ln(0.8, 0.4), ln(0.4, 0.8)])
    assert peer.spot(DAY, said, "metaculus").coverage.tolist() == [0, 0]


def test_a_spot_after_the_close_is_taken_at_the_close_without_those_who_came_with_it() -> None:
    said = binary(["a", "b", "c"], [0, 0, 1], [0.8, 0.4, 0.9], outcome=True)
    early = MetaculusQuestion(0, 1, 4, spot=2)
    assert peer.spot(early, said).coverage.tolist() == [1, 1, 0]
    assert peer.spot(early, said, "metaculus").coverage.tolist() == [1, 1, 1]


def test_no_forecast_at_all_gives_no_score() -> None:
    nobody = binary([], [], [], outcome=True)
    for rule in (peer.score, peer.spot):
        for mode in ("exact", "metaculus"):
            assert rule(DAY, nobody, mode).score.size == 0


@given(told())
def test_the_exact_score_equals_a_slow_transcription(case: Told) -> None:
    found = peer.score(case.question, case.forecasts)
    assert found.score == pytest.approx([case.averaged(s, case.peer_at) for s in case.said], abs=1e-9)


@given(told())
def test_the_exact_spot_score_equals_a_slow_transcription(case: Told) -> None:
    at = min(case.spot, case.closes)
    stood = [s for s in case.said if s.stands(at) and s.start < case.closes]
    expected = [case.peer_at(s, at) if s in stood else 0.0 for s in case.said]
    assume(all(o in stood for s in stood for o in case.others(s, at)))
    found = peer.spot(case.question, case.forecasts)
    assert found.score == pytest.approx(expected, abs=1e-9)
    assert found.coverage.tolist() == [s in stood for s in case.said]


@given(told())
def test_the_site_s_score_equals_a_slow_transcription(case: Told) -> None:
    """Each step of the base holds until the next; a forecast has the steps that begin while it stands."""
    base = [s for s in case.said if s.who in case.base] or list(case.said)
    changes = sorted({t for s in base for t in (s.start, s.end) if t is not None})
    means = [(t, [math.log(s.chance) for s in base if s.stands(t)]) for t in changes]
    begins = [(max(t, case.opens), logs) for t, logs in means if logs]
    begins = [(t, logs) for t, logs in begins if t < case.closes]
    spans = [(t, u, logs) for (t, logs), (u, _) in pairwise([*begins, (case.closes, [])])]

    def score(one: Said) -> tuple[float, float]:
        low = max(one.start, case.opens)
        high = min(one.end or case.closes, case.closes)
        total = covered = 0.0
        for t, u, logs in spans:
            if low <= t < high:
                n = len(logs)
                length = (u - t) / (case.scheduled - case.opens)
                if n > 1:
                    total += 100 * n / (n - 1) * (math.log(one.chance) - sum(logs) / n) * length
                covered += length
        return total, covered

    found = peer.score(case.question, case.forecasts, "metaculus")
    expected = np.array([score(s) for s in case.said]).reshape(-1, 2)
    assert found.score == pytest.approx(expected[:, 0], abs=1e-9)
    assert found.coverage == pytest.approx(expected[:, 1], abs=1e-12)


@given(told(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(case: Told, chance: Random) -> None:
    order = np.array(chance.sample(range(len(case.said)), len(case.said)), dtype=int)
    forecasts = case.forecasts
    mixed = rows_of(case.forecasts, order)
    for rule in (peer.score, peer.spot):
        for mode in ("exact", "metaculus"):
            found = rule(case.question, forecasts, mode)
            moved = ForecastScores(mode, found.score[order], found.coverage[order], found.compared[order])
            other = rule(case.question, mixed, mode)
            columns = ("score", "coverage", "compared")
            assert all(np.array_equal(getattr(moved, name), getattr(other, name)) for name in columns)
