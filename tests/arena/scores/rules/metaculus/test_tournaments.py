"""Tournaments: the post of 2022 with its two leaderboards, and prizes by peer score."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.metaculus import tournament, tournament_2022
from arena.scores.rules.metaculus.forecasts import MetaculusQuestion, Totals, chance_forecasts, totals
from arena.scores.rules.metaculus.tournament_2022 import HiddenPeriod
from tests.oracles.seed_001 import FORECASTERS, TABLES, forecasts_of, question_of, scored
from tests.oracles.seed_001 import tournament as of_2022

SCORES = {
    1: {
        "A": [-0.41, -0.92, 0.00, 0.00, -0.330],
        "B": [0.00, 1.28, 0.49, 0.49, 0.566],
        "C": [0.29, 0.00, -0.61, -0.45, -0.193],
        "bot": [0.0] * 5,
    },
    2: {
        "A": [0.0] * 5,
        "B": [0.69, 1.02, 1.71, 2.41, 1.459],
        "C": [-0.69, -0.69, -0.69, -0.69, -0.693],
        "bot": [0.0] * 5,
    },
    3: {
        "A": [0.00, 0.41, 0.00, 0.00, 0.101],
        "B": [0.00, -0.69, 0.00, 0.00, -0.173],
        "C": [0.0] * 5,
        "bot": [0.0] * 5,
    },
}
COVERAGE = {
    1: {"A": 1, "B": 0.75, "C": 1, "bot": 0.5},
    2: {"A": 1, "B": 1, "C": 1, "bot": 0.5},
    3: {"A": 0.5, "B": 0.5, "C": 0, "bot": 0.25},
}


@pytest.mark.parametrize("number", TABLES)
@pytest.mark.parametrize("name", FORECASTERS)
def test_the_tables_of_scores_day_by_day_and_of_questions(number: int, name: str) -> None:
    table = TABLES[number]
    forecasts = forecasts_of(table)
    found = tournament_2022.score(question_of(table), forecasts)
    days = [
        4 * found.score[(forecasts.forecaster == name) & (forecasts.start == day)].sum() for day in range(4)
    ]
    assert days == pytest.approx(SCORES[number][name][:4], abs=0.005)
    assert sum(days) / 4 == pytest.approx(SCORES[number][name][4], abs=0.0005)


@pytest.mark.parametrize("number", TABLES)
def test_the_tables_of_coverage(number: int) -> None:
    found = scored(TABLES[number])
    covered = {name: found.of(name)[1] if name in found.forecaster else 0 for name in FORECASTERS}
    assert covered == pytest.approx(COVERAGE[number])


def test_the_first_leaderboard_where_all_days_count() -> None:
    board = of_2022()
    lines = {line.forecaster: line for line in board.places}
    assert [round(lines[name].prize) for name in FORECASTERS] == [108, 779, 45, 68]
    assert [round(lines[name].score, 2) + 0.0 for name in FORECASTERS] == [-0.23, 1.85, -0.89, 0]
    assert [round(lines[name].coverage, 2) for name in FORECASTERS] == [0.83, 0.75, 0.67, 0.42]
    assert [round(lines[name].take, 2) for name in FORECASTERS] == [0.66, 4.78, 0.27, 0.42]
    assert [round(lines[name].share, 2) for name in FORECASTERS] == [0.11, 0.78, 0.04, 0.07]
    assert [lines[name].questions for name in FORECASTERS] == [3, 3, 2, 3]
    assert [line.forecaster for line in board.places] == ["B", "A", "bot", "C"]
    assert board.mode == "exact"


def test_the_second_leaderboard_where_only_the_hidden_period_counts() -> None:
    lines = {line.forecaster: line for line in of_2022(HiddenPeriod(2, 1.0)).places}
    assert [round(lines[name].prize) for name in FORECASTERS] == [149, 799, 52, 0]
    assert [round(lines[name].coverage, 2) for name in FORECASTERS] == [1, 0.67, 0.67, 0]
    assert [round(lines[name].take, 2) for name in FORECASTERS] == [0.80, 4.25, 0.27, 0]
    assert [lines[name].questions for name in FORECASTERS] == [3, 3, 2, 3]


def test_the_scoreboard_of_a() -> None:
    line = next(line for line in of_2022().places if line.forecaster == "A")
    found = round(line.score, 3), round(line.coverage, 2), round(line.take, 3)
    assert found == (-0.229, 0.83, 0.663)


@pytest.mark.parametrize(("until", "weight"), [(1, 0.5), (2, 0.5), (3, 0.5), (2, 1.0), (2, 0.25)])
def test_who_is_away_while_hidden_loses_its_weight_however_long_it_was(until: float, weight: float) -> None:
    forecasts = chance_forecasts(["late", "full"], [until, 0], [0.5, 0.5])
    found = totals(
        forecasts, tournament_2022.score(MetaculusQuestion(0, 4, 4), forecasts, HiddenPeriod(until, weight))
    )
    assert found.of("late")[1] == pytest.approx(1 - weight)
    assert found.of("full")[1] == pytest.approx(1)


def test_without_a_weight_hidden_time_counts_by_its_length() -> None:
    forecasts = chance_forecasts(["late"], [1], [0.5])
    assert tournament_2022.score(
        MetaculusQuestion(0, 4, 4), forecasts, HiddenPeriod(1)
    ).coverage.tolist() == [0.75]


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


def test_weights_of_questions() -> None:
    board = tournament.board([of_question(a=10, b=-10), of_question(a=-8, b=8)], weights=[1, 2])
    assert [(line.forecaster, line.score) for line in board.places] == [("b", 6), ("a", -6)]


def test_who_is_excluded_wins_nothing_and_takes_up_no_rank() -> None:
    board = tournament.board([of_question(a=3.0, bot=4.0, b=1.0)], pool=100, excluded=["bot"])
    found = [(line.forecaster, line.rank, line.prize, line.excluded) for line in board.places]
    assert found == [("bot", 1, 0, True), ("a", 1, 90, False), ("b", 2, 10, False)]


def test_equal_scores_share_a_rank() -> None:
    board = tournament.board([of_question(a=0.1 + 0.2, b=0.3, c=0.1)])
    assert [(line.forecaster, line.rank) for line in board.places] == [("a", 1), ("b", 1), ("c", 3)]


def test_nobody_has_no_board() -> None:
    assert tournament.board([]).places == tournament_2022.board([]).places == ()


@pytest.mark.parametrize(
    ("minimum", "shares"),
    [(0, [0.6, 0.3, 0.1]), (0.1, [0.6, 0.3, 0.1]), (0.25, [2 / 3, 1 / 3, 0]), (0.5, [1, 0, 0])],
)
def test_takes_below_the_minimum_go_to_the_others(minimum: float, shares: list[float]) -> None:
    assert tournament.shares([6, 3, 1], minimum) == pytest.approx(shares)


def slow_shares(takes: list[float], minimum: float, excluded: set[int]) -> list[float]:
    """Strike off the least who is under the minimum until nobody is."""
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
    found = tournament.shares(values, minimum, sorted(excluded))
    assert found == pytest.approx(slow_shares(values, minimum, excluded))
