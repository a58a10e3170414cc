"""Scores of public forms beside the figures that their boards publish or define."""

from collections.abc import Sequence
from math import log, log2

import pytest

from arena.forms.model import SourceFile
from arena.scores.files.scores import ForecasterScores, score_file
from arena.scores.files.sources import SourceChoices, read_table
from tests.arena.forms.sources import (
    arena_board,
    inspect_log,
    inspect_sample,
    json_file,
    packed_log,
    prophet_answer,
    prophet_events,
)


def scored(files: Sequence[SourceFile]) -> dict[str, ForecasterScores]:
    """Return everyone's scores by Metaculus's own rules."""
    rows = score_file(read_table(files, SourceChoices()), "metaculus").rows
    return {row.forecaster: row for row in rows}


def published(files: Sequence[SourceFile], forecaster: str) -> dict[str, float]:
    """Return the figures that a board publishes of somebody."""
    figures = read_table(files, SourceChoices()).published
    return {figure.name: figure.value for figure in figures if figure.forecaster == forecaster}


def test_skill_is_the_alpha_of_a_forecast_arena_where_all_was_answered() -> None:
    owl = scored(arena_board())["owl"]
    board = published(arena_board(), "owl")

    assert owl.brier == pytest.approx(board["Brier"])
    assert owl.skill == pytest.approx(board["alpha"])


def test_a_missing_answer_has_the_price_in_skill_and_is_left_out_of_alpha() -> None:
    hare = scored(arena_board())["hare"]
    board = published(arena_board(), "hare")

    assert board["alpha"] == pytest.approx(0.4**2 - 0.1**2)
    assert hare.brier == pytest.approx(board["Brier"])
    assert hare.skill is None  # half of the markets is too little
    assert hare.filled["brier"] == pytest.approx((0.1**2 + 1) / 2)


def test_prophet_means_events_where_we_mean_questions() -> None:
    answers = [
        prophet_answer("match", 0, {"Ann": 0.8, "Bo": 0.4, "Cy": 0.5}),
        prophet_answer("vote", 0, {"Left": 0.4, "Right": 0.6}),
    ]
    files = [prophet_events(), json_file("set/forecasts.json", answers)]
    errors = (0.2**2, 0.4**2, 0.4**2)  # of Ann, of Bo, of the vote

    assert published(files, "owl")["Brier"] == pytest.approx(((errors[0] + errors[1]) / 2 + errors[2]) / 2)
    assert scored(files)["owl"].brier == pytest.approx(sum(errors) / 3)


def test_the_mean_of_an_inspect_log_is_the_brier_score() -> None:
    shares = {1: 0.8, 2: 0.3}
    samples = [
        inspect_sample(number, "yes", {"value": (1 - share) ** 2, "answer": str(share)})
        for number, share in shares.items()
    ]

    owl = scored([packed_log("a.eval", inspect_log("owl", *samples))])["owl"]

    assert owl.brier == pytest.approx((0.2**2 + 0.7**2) / 2)


def test_metaculus_scores_are_those_of_its_formulas() -> None:
    # Planned for 30 days, the first closed after 20; spot scores are taken on the fifth.
    life = "2026-01-01,2026-01-05,2026-01-31"
    questions = f"""\
Question ID,Question Type,MC Options,Lower Bound,Open Lower Bound,Upper Bound,Open Upper Bound,\
Continuous Range,Open Time,CP Reveal Time,\
Scheduled Close Time,Actual Close Time,Resolution,Resolution Known Time
11,binary,,,,,,,{life},2026-01-21,yes,2026-01-22
21,multiple_choice,"['Rain', 'Snow', 'Other']",,,,,,{life},2026-01-31,Snow,2026-02-01
31,numeric,,1,False,100,True,"[1.0, 10.0, 100.0]",{life},2026-01-31,above_upper_bound,2026-02-01
41,numeric,,1,False,100,True,"[1.0, 10.0, 100.0]",{life},2026-01-31,20,2026-02-01
"""
    forecasts = """\
Question ID,Forecaster Username,Start Time,End Time,Forecaster Count,Probability Yes,\
Probability Yes Per Category,Continuous CDF
11,ann,2026-01-02,2026-01-12,,0.8,,
11,ann,2026-01-12,2026-01-16,,0.7,,
11,bob,2026-01-03,,,0.4,,
21,ann,2026-01-01,,,,"[0.1, 0.3, 0.6]",
21,bob,2026-01-01,,,,"[0.25, 0.5, 0.25]",
31,ann,2026-01-01,,,,,"[0.0, 0.5, 0.75]"
31,bob,2026-01-01,,,,,"[0.0, 0.25, 0.5]"
41,ann,2026-01-01,,,,,"[0.0, 0.5, 0.75]"
41,bob,2026-01-01,,,,,"[0.0, 0.1, 0.7]"
"""
    files = [
        SourceFile("question_data.csv", questions.encode()),
        SourceFile("forecast_data.csv", forecasts.encode()),
    ]

    rows = scored(files)

    ann = [
        100 * ((log2(0.8) + 1) * 10 + (log2(0.7) + 1) * 4) / 30,
        100 * log(0.3 / (1 / 3)) / log(3),
        100 * log(0.25 / 0.05) / 2,
        100 * log(2 * 0.25 / 0.95) / 2,  # 20 is in the upper half of the logarithmic scale
    ]
    bob = [
        100 * (log2(0.4) + 1) * 18 / 30,
        100 * log(0.5 / (1 / 3)) / log(3),
        100 * log(0.5 / 0.05) / 2,
        100 * log(2 * 0.6 / 0.95) / 2,
    ]
    assert rows["ann"].baseline == pytest.approx(sum(ann) / 4)
    assert rows["bob"].baseline == pytest.approx(sum(bob) / 4)
    assert rows["ann"].coverage == pytest.approx((14 / 30 + 3) / 4)

    spot = [100 * (log2(0.4) + 1), *bob[1:]]
    assert rows["bob"].spot_baseline == pytest.approx(sum(spot) / 4)

    # Against the one other forecaster: on the first question both stood for 9 and 4 days of 30.
    peer = [
        100 * (log(0.4 / 0.8) * 9 + log(0.4 / 0.7) * 4) / 30,
        100 * log(0.5 / 0.3),
        100 * log(0.5 / 0.25) / 2,
        100 * log(0.6 / 0.25) / 2,
    ]
    assert rows["bob"].peer == pytest.approx(sum(peer) / 4)
