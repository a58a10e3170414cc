"""Tournaments: the post of 2022 with its two leaderboards, and prizes by peer score."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.metaculus import tournament, tournament_2022
from arena.scores.rules.metaculus.forecasts import (
    MetaculusQuestion,
    Totals,
    chance_forecasts,
    total_by_forecaster,
)
from arena.scores.rules.metaculus.tournament_2022 import HiddenPeriod


@pytest.mark.parametrize(("until", "weight"), [(1, 0.5), (2, 0.5), (3, 0.5), (2, 1.0), (2, 0.25)])
def test_who_is_away_while_hidden_loses_its_weight_however_long_it_was(until: float, weight: float) -> None:
    forecasts = chance_forecasts(["late", "full"], [until, 0], [0.5, 0.5])
    found = total_by_forecaster(
        forecasts, tournament_2022.score(MetaculusQuestion(0, 4, 4), forecasts, HiddenPeriod(until, weight))
    )
    assert found.of("late")[1] == pytest.approx(1 - weight)
    assert found.of("full")[1] == pytest.approx(1)


def of_question(**scores: float) -> Totals:
    names = tuple(sorted(scores))
    return Totals("exact", names, np.array([scores[name] for name in names]), np.ones(len(names)))


def test_the_take_is_the_square_of_a_sum_above_0() -> None:
    board = tournament.board([of_question(a=20, b=10, c=-5), of_question(a=-10, b=20)], pool=1000)
    assert [(line.forecaster, line.score, line.take) for line in board.places] == [
        ("b", 30, 900), ("a", 10, 100), ("c", -5, 0),
    ]  # fmt: skip
    assert [line.prize for line in board.places] == [900, 100, 0]
    assert [(line.rank, line.questions, line.coverage) for line in board.places] == [
        (1, 2, 1),
        (2, 2, 1),
        (3, 1, 0.5),
    ]


def test_a_question_without_a_score_counts_0() -> None:
    board = tournament.board([of_question(a=math.nan, b=3.0), of_question(a=2.0)])
    assert [(line.forecaster, line.score) for line in board.places] == [("b", 3), ("a", 2)]


def test_who_is_excluded_wins_nothing_and_takes_up_no_rank() -> None:
    board = tournament.board([of_question(a=3.0, x=4.0, b=1.0, y=-9.0, z=-2.0)], pool=100, excluded="xyz")
    found = [(line.forecaster, line.rank, line.prize, line.excluded) for line in board.places]
    assert found[:3] == [("x", 1, 0, True), ("a", 1, 90, False), ("b", 2, 10, False)]
    assert found[3:] == [("z", 3, 0, True), ("y", 3, 0, True)]


def test_equal_scores_share_a_rank() -> None:
    board = tournament.board([of_question(a=0.1 + 0.2, b=0.3, c=0.1)])
    assert [(line.forecaster, line.rank) for line in board.places] == [("a", 1), ("b", 1), ("c", 3)]


def test_a_score_too_large_for_its_take_still_wins() -> None:
    questions = [of_question(ann=7.0, bob=-7.0)] * 150
    first, second = tournament_2022.board(questions, pool=100).places
    assert (first.forecaster, first.share, first.prize, second.prize) == ("ann", 1.0, 100.0, 0.0)
    assert math.isfinite(first.take)


def test_nobody_has_no_board() -> None:
    assert tournament.board([]).places == tournament_2022.board([]).places == ()


def slow_shares(takes: list[float], minimum: float, excluded: set[int]) -> list[float]:
    """Strike off the least share under the minimum until there is none."""
    left = {k: take for k, take in enumerate(takes) if take > 0 and k not in excluded}
    while left and min(left.values()) / sum(left.values()) < minimum:
        del left[min(left, key=lambda k: (left[k], -k))]
    return [left.get(k, 0) / sum(left.values()) if left else 0 for k in range(len(takes))]


@given(
    st.lists(st.integers(-3, 60), max_size=9),
    st.sampled_from([0, 1 / 64, 1 / 16, 1 / 4, 1 / 2]),
    st.sets(st.integers(0, 8), max_size=3),
)
def test_prizes_equal_a_slow_transcription(takes: list[int], minimum: float, excluded: set[int]) -> None:
    excluded &= set(range(len(takes)))
    values = [float(take) for take in takes]
    found = tournament.prize_shares(values, minimum, sorted(excluded))
    assert found == pytest.approx(slow_shares(values, minimum, excluded))
