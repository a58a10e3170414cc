"""What a quick trial shows: its figures against plain formulas, and what it claims of the price."""

import re
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from agents.model import Call, Prompt
from arena.cli.page import page_lines
from arena.cli.try_model import calibration_line, report, trial_data, write_page
from arena.config.model_blocks import ModelOptions
from arena.rounds.quick_trial import PastQuestion, QuickTrial, asking_settings, past_questions
from arena.scores.rules.calibration import Bin
from arena.scores.rules.comparisons.mean_interval import t_quantile

Given = list[tuple[PastQuestion, float]]


async def never_asked(_prompt: Prompt) -> Call:
    raise AssertionError


def data(given: Given, released: date | None = None, **more: Any) -> dict[str, Any]:
    """Return what a trial with these answers shows."""
    settings = asking_settings({"model": "openai/mine"})
    questions = [question for question, _ in given]
    trial = QuickTrial(settings, never_asked, questions, 0, 120, float, took=74.4, asked=len(given))
    trial.answers = {question.id: probability for question, probability in given}
    for name, value in more.items():
        setattr(trial, name, value)
    return trial_data("mine", trial, released, ModelOptions()) | {"page": None}


def text(told: dict[str, Any]) -> str:
    return "\n".join(page_lines(report(told), None))


def answers(count: int, seed: int) -> Given:
    """Draw an answer to each of the first questions; a seed always draws the same."""
    chance = Random(seed)
    return [(question, round(chance.random(), 2)) for question in past_questions()[:count]]


def asked_on(day: date, number: int = 0, outcome: int = 1) -> PastQuestion:
    link = "https://a.example"
    return PastQuestion(f"id{number}", "Will it rain?", "", day, 0.4, date(2026, 3, 9), outcome, link)


MARCH = date(2026, 3, 1)


@pytest.mark.parametrize("seed", range(5))
def test_scores_and_calibration_are_those_of_plain_formulas(seed: int) -> None:
    given = answers(120, seed)
    told = data(given)
    pairs = [(forecast, question.price, question.outcome) for question, forecast in given]
    assert told["brier"] == pytest.approx(sum((f - o) ** 2 for f, _, o in pairs) / 120)
    assert told["brier_price"] == pytest.approx(sum((p - o) ** 2 for _, p, o in pairs) / 120)
    assert told["distance"] == pytest.approx(sum(abs(f - p) for f, p, _ in pairs) / 120)

    tenths = {min(int(round(f * 100) // 10), 9) for f, _, _ in pairs}
    assert [round(tenth.low * 10) for tenth in told["calibration"]] == sorted(tenths)
    for tenth in told["calibration"]:
        within = [(f, o) for f, _, o in pairs if min(round(f * 100) // 10, 9) == round(tenth.low * 10)]
        assert tenth.count == len(within)
        assert tenth.forecast == pytest.approx(sum(f for f, _ in within) / len(within))
        assert tenth.observed == pytest.approx(sum(o for _, o in within) / len(within))


def test_one_distance_in_ten_is_larger_than_what_is_told() -> None:
    given = answers(120, 3)
    told = data(given)
    apart = [abs(forecast - question.price) for question, forecast in given]
    assert sum(distance > told["distance_of_tenth"] for distance in apart) == 12
    mean = sum(apart) / 120
    tenth = told["distance_of_tenth"]
    words = f"{100 * mean:.0f} points on average, and more than {100 * tenth:.0f} for one question in ten."
    assert f"Distance from the price: {words}" in text(told)


def test_without_a_known_release_nothing_is_claimed_against_the_price() -> None:
    told = data(answers(120, 1))
    first = text(told).splitlines()[0]
    assert first.startswith("mine may remember how these questions ended: they closed from ")
    assert "the day of its release is not known (--released DAY)." in first
    assert first.endswith("Nothing is claimed against the price.")
    assert told["comparison"] is None
    assert "interval" not in text(told)


@pytest.mark.parametrize("counting", [0, 19])
def test_with_too_few_questions_after_the_release_nothing_is_claimed(counting: int) -> None:
    days = [date(2026, 3, 2 if number < counting else 1) for number in range(40)]
    told = data([(asked_on(day, number), 0.5) for number, day in enumerate(days)], date(2026, 3, 2))
    assert (told["comparison"] is None) == (counting == 0)
    assert counting == 0 or "no comparison: 19 events" in text(told)
    first = text(told).splitlines()[0]
    assert f"{counting} of 40 questions were asked after its release on 2026-03-02." in first
    assert first.endswith("Nothing is claimed against the price.")


def test_what_was_all_asked_after_the_release_is_not_said_to_be_remembered() -> None:
    told = data([(asked_on(date(2026, 3, 2), number), 0.5) for number in range(19)], date(2026, 3, 1))
    first = text(told).splitlines()[0]
    assert first.startswith("All 19 questions were asked after its release on 2026-03-01: they closed from ")
    assert "remember" not in first


def test_only_questions_after_the_release_are_compared_by_the_mean_difference_and_an_interval() -> None:
    released = date(2026, 4, 1)
    chance = Random(3)
    given = [
        (question, min(max(question.price + chance.gauss(0, 0.15), 0.01), 0.99))
        for question, _ in answers(120, 3)
    ]
    counted = [(question, forecast) for question, forecast in given if question.asked_at >= released]
    told = data(given, released)
    compared = told["comparison"]
    assert 20 <= compared["questions"] == len(counted) < 120

    apart = [(q.price - q.outcome) ** 2 - (f - q.outcome) ** 2 for q, f in counted]
    mean = sum(apart) / len(apart)
    half = np.std(apart, ddof=1) / len(apart) ** 0.5 * t_quantile(np.array([len(apart) - 1.0]))[0]
    assert compared["skill"] == pytest.approx(mean)
    assert compared["skill"] == pytest.approx(compared["price_brier"] - compared["brier"])
    assert compared["high"] - mean == pytest.approx(half, rel=0.2)
    assert mean - compared["low"] == pytest.approx(half, rel=0.2)
    assert f"{len(counted)} of 120 questions were asked after that" in text(told).splitlines()[0]
    assert "may remember" not in text(told)
    assert f"95% interval {compared['low']:+.3f} to {compared['high']:+.3f}." in text(told)


def test_calibration_is_read_where_enough_forecasts_are_sure_of_a_side() -> None:
    given = [(asked_on(MARCH, number, number % 2), 0.8) for number in range(20)]
    assert "Where it is 70% sure or more of either side: says 80%, happens 50%." in text(data(given))
    assert "too few questions to say more" in text(data(given[:19]))


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


def test_the_sentence_says_what_is_missing_and_why() -> None:
    told = data(answers(30, 1), asked=40, unusable=5, example="I won't", ended="interrupted by Ctrl-C")
    assert (
        "mine answered 30 of 40 questions in 74 s. 5 could not be read, for example: I won't "
        "It ended early: interrupted by Ctrl-C."
    ) in text(told)


def test_the_cost_is_told_beside_what_was_agreed_to() -> None:
    given = answers(20, 1)
    assert "Cost:  $0.0123 of at most $0.5000" in text(data(given, spent=12_345, most=500_000))
    assert "Cost:  $0.00" in text(data(given))
    unknown = data(given, most=None)
    assert "Cost:  unknown, because its price is unknown" in text(unknown)
    assert unknown["cost_usd"] is None


def test_the_page_loads_nothing_and_names_the_licence_and_quotes_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = PastQuestion("x", "<script>alert(1)</script>?", "", MARCH, 0.5, date(2026, 3, 8), 0, "u")
    written = write_page(data([*answers(120, 4), (hostile, 0.2)]) | {"model": "<b>mine</b>"})
    assert written == Path("try--b-mine-b-.html")
    page = written.read_text("utf-8")
    assert "<script" not in page
    assert "<b>" not in page
    assert not re.search(r"<link|<img|src=|@import|url\(", page)
    assert "CC BY-SA 4.0" in page
    assert "© Forecasting Research Institute" in page
    assert page.index("may remember") < page.index("Brier score")
    assert page.count("<tr><td><a href=") == 121
