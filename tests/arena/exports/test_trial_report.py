"""What a quick trial shows: its figures against plain formulas, and what it claims of the price."""

import math
import re
from datetime import date
from random import Random

import pytest

from arena.exports.trial_report import (
    DISTANCES,
    AnsweredQuestion,
    TrialReport,
    calibration_line,
    distance_bar,
    trial_page,
)
from arena.rounds.past_questions import PastQuestion, past_questions
from arena.scores.rules.calibration import Bin


def report(answers: list[AnsweredQuestion], released: date | None = None, **more: object) -> TrialReport:
    values = {
        "model": "mine",
        "released": released,
        "answers": tuple(answers),
        "asked": len(answers),
        "unusable": 0,
        "example": "",
        "seconds": 74.4,
        "cost": 0,
        "most": 0,
        "ended": "",
        "next_steps": ("arena init my-arena --yes",),
    }
    return TrialReport(**(values | more))  # type: ignore[arg-type]


def answers(count: int, seed: int, released: date | None = None) -> list[AnsweredQuestion]:
    """Answers by chance to the first questions."""
    random = Random(seed)
    return [
        AnsweredQuestion(
            question, round(random.random(), 2), released is not None and question.asked_at >= released
        )
        for question in past_questions()[:count]
    ]


def asked_on(day: date, outcome: int = 1, price: float = 0.4) -> PastQuestion:
    return PastQuestion(
        "id", "Will it rain?", "In Rome.", day, price, date(2026, 3, 9), outcome, "https://a.example"
    )


@pytest.mark.parametrize("seed", range(5))
def test_scores_and_calibration_are_those_of_plain_formulas(seed: int) -> None:
    given = answers(120, seed)
    told = report(given)
    pairs = [(answer.forecast, answer.asked.price, answer.asked.outcome) for answer in given]
    assert told.brier == pytest.approx(sum((f - o) ** 2 for f, _, o in pairs) / 120)
    assert told.price_brier == pytest.approx(sum((p - o) ** 2 for _, p, o in pairs) / 120)
    assert told.distance == pytest.approx(sum(abs(f - p) for f, p, _ in pairs) / 120)

    tenths = {min(int(round(f * 100) // 10), 9) for f, _, _ in pairs}
    assert [round(tenth.low * 10) for tenth in told.bins] == sorted(tenths)
    for tenth in told.bins:
        within = [(f, o) for f, _, o in pairs if min(round(f * 100) // 10, 9) == round(tenth.low * 10)]
        assert tenth.count == len(within)
        assert tenth.forecast == pytest.approx(sum(f for f, _ in within) / len(within))
        assert tenth.observed == pytest.approx(sum(o for _, o in within) / len(within))


@pytest.mark.parametrize("seed", range(5))
def test_the_steps_of_the_distance_hold_every_question_once(seed: int) -> None:
    given = answers(120, seed)
    steps = report(given).distances
    for step in steps:
        apart = [round(abs(answer.forecast - answer.asked.price), 9) for answer in given]
        last = step.high == DISTANCES[-1]
        assert step.count == sum(step.low <= each < step.high or (last and each == 1) for each in apart)
    assert sum(step.count for step in steps) == 120


def test_a_distance_on_an_edge_is_in_the_step_that_begins_there() -> None:
    given = [AnsweredQuestion(asked_on(date(2026, 3, 1), price=0.3), 0.35, False)]
    assert [step.count for step in report(given).distances] == [0, 1, 0, 0, 0, 0]
    certain = [AnsweredQuestion(asked_on(date(2026, 3, 1), price=0.0), 1.0, False)]
    assert [step.count for step in report(certain).distances] == [0, 0, 0, 0, 0, 1]


def test_without_a_known_release_nothing_is_claimed_against_the_price() -> None:
    told = report(answers(120, 1))
    assert told.standing.startswith(
        "mine may remember how these questions ended: its release is not known, and they closed"
    )
    assert "Nothing is claimed against the price." in told.standing
    assert told.comparison is None
    assert "difference" not in told.score_sentence


@pytest.mark.parametrize(
    ("counting", "said"),
    [(0, "none of them was asked after"), (19, "only 19 of them were asked after")],
)
def test_with_too_few_questions_after_the_release_nothing_is_claimed(counting: int, said: str) -> None:
    released = date(2026, 3, 1)
    given = [
        AnsweredQuestion(asked_on(date(2026, 3, 1 if n < counting else 2)), 0.5, n < counting)
        for n in range(40)
    ]
    told = report(given, released)
    assert told.comparison is None
    assert said in told.standing
    assert "Nothing is claimed against the price." in told.standing


def test_only_questions_after_the_release_are_compared_by_the_mean_difference_and_its_interval() -> None:
    released = date(2026, 4, 1)
    given = answers(120, 3, released)
    counted = [answer for answer in given if answer.counts]
    told = report(given, released)
    compared = told.comparison
    assert compared is not None
    assert 20 <= compared.questions == len(counted) < 120

    apart = [
        (answer.forecast - answer.asked.outcome) ** 2 - (answer.asked.price - answer.asked.outcome) ** 2
        for answer in counted
    ]
    mean = sum(apart) / len(apart)
    deviation = math.sqrt(sum((each - mean) ** 2 for each in apart) / (len(apart) - 1))
    assert compared.difference == pytest.approx(mean)
    assert compared.difference == pytest.approx(compared.brier - compared.price_brier)
    assert compared.high - mean == pytest.approx(1.96 * deviation / math.sqrt(len(apart)))
    assert compared.low + compared.high == pytest.approx(2 * mean)
    assert f"{len(counted)} of 120 questions were asked after that" in told.standing
    assert "may remember" not in told.standing


def test_the_widest_gap_is_that_of_a_tenth_with_enough_questions() -> None:
    few = [AnsweredQuestion(asked_on(date(2026, 3, 1), 0), 0.95, False)] * 9
    many = [AnsweredQuestion(asked_on(date(2026, 3, 1), 1), 0.55, False)] * 10
    assert "of 10 questions from 50% to 60% it says 55% on average, and 100% happened" in (
        report(few + many).calibration_sentence
    )
    assert report(few).calibration_sentence == "Too few questions to say more of its calibration."


@pytest.mark.parametrize(
    ("forecast", "observed", "line"),
    [
        (0.0, 1.0, "○" + "─" * 39 + "●"),
        (1.0, 0.0, "●" + "─" * 39 + "○"),
        (0.5, 0.5, "·" * 20 + "◉" + "·" * 20),
    ],
)
def test_the_line_shows_where_both_are(forecast: float, observed: float, line: str) -> None:
    assert calibration_line(Bin(0.0, 0.1, 1, forecast, observed)) == line


def test_bars_are_as_long_as_their_part_of_the_largest() -> None:
    steps = report(answers(120, 2)).distances
    lengths = [len(distance_bar(step, steps)) for step in steps]
    assert max(lengths) == 30
    assert [bool(length) for length in lengths] == [bool(step.count) for step in steps]


def test_the_sentence_says_what_is_missing_and_why() -> None:
    told = report(answers(30, 1), asked=40, unusable=5, example="I won't", ended="interrupted by Ctrl-C")
    assert told.sentence == (
        "mine answered 30 of 40 questions in 74 s. 5 could not be read, for example: I won't "
        "It ended early: interrupted by Ctrl-C."
    )


def test_the_cost_is_told_beside_what_was_agreed_to() -> None:
    given = answers(20, 1)
    assert report(given, cost=12_345, most=500_000).cost_text == "$0.0123 of at most $0.5000"
    assert report(given).cost_text == "$0.00"
    assert report(given, cost=None, most=None).cost_text == "unknown, because its price is unknown"


def test_the_page_loads_nothing_and_names_the_licence_and_quotes_what_it_shows() -> None:
    given = answers(120, 4)
    hostile = PastQuestion(
        "x", "<script>alert(1)</script>?", "", date(2026, 3, 1), 0.5, date(2026, 3, 8), 0, "u"
    )
    page = trial_page(report([*given, AnsweredQuestion(hostile, 0.2, False)], model="<b>mine</b>"))
    assert "<script" not in page
    assert "<b>" not in page
    assert not re.search(r"<link|<img|src=|@import|url\(", page)
    assert "CC BY-SA 4.0" in page
    assert "© Forecasting Research Institute" in page
    assert page.index("may remember") < page.index("Brier score")
    assert page.count("<tr><td><a href=") == 121
