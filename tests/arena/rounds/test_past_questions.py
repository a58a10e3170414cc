"""The questions that come with the package: what they are, whose they are, and what a model sees of them."""

import json
from collections import Counter
from datetime import date, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agents.prompts.prompt import render
from arena.rounds.quick_trial import (
    AT_ONCE,
    DATA,
    OVERRUN,
    TEMPLATE,
    TOGETHER,
    PastQuestion,
    asking_cost,
    asking_settings,
    past_questions,
    question_view,
    questions_to_ask,
)

ROOT = Path(__file__).resolve().parents[3]
LARGEST = 200_000


@pytest.fixture(scope="module")
def script() -> Any:
    """Import the script that chose the questions, which is no part of a package."""
    spec = spec_from_file_location("choosing", ROOT / "scripts" / "past_questions.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(*questions: PastQuestion) -> str:
    return "\n".join(m.content for m in render(TEMPLATE, question_view(questions), prices=False).messages)


def test_the_file_is_small_and_says_whose_it_is_and_under_which_licence() -> None:
    about = json.loads(DATA.read_text("utf-8"))
    assert DATA.stat().st_size < LARGEST
    assert about["copyright"] == "(c) Forecasting Research Institute"
    assert about["licence"].startswith("CC BY-SA 4.0")
    assert "cut" in about["changes"]
    assert (DATA.parent / "LICENSE").read_text("utf-8").startswith("Attribution-ShareAlike 4.0 International")
    assert {path.suffix for path in DATA.parent.iterdir()} == {".json", ".md", ""}


def test_the_questions_are_resolved_and_priced_some_days_before_their_end() -> None:
    questions = past_questions()
    assert len({question.id for question in questions}) == len(questions) == 200
    for question in questions:
        assert question.outcome in (0, 1)
        assert 0 < question.price < 1
        assert timedelta(days=7) <= question.closed - question.asked_at <= timedelta(days=13)
        assert question.url.startswith("https://polymarket.com/")


def test_neither_an_outcome_nor_a_price_is_rare_and_the_first_twenty_are_like_the_rest() -> None:
    questions = past_questions()
    assert 60 <= sum(question.outcome for question in questions) <= 140
    tenths = Counter(int(question.price * 10) for question in questions)
    assert min(tenths[tenth] for tenth in range(10)) >= 4
    expected = 20 * sum(question.price for question in questions) / len(questions)
    assert abs(sum(question.price for question in questions[:20]) - expected) < 1


def test_a_model_is_told_the_day_of_the_question_and_not_its_price_its_end_or_its_outcome() -> None:
    question = PastQuestion(
        "1", "Will it rain?", "In Rome.", date(2026, 3, 1), 0.4321, date(2026, 3, 9), 1, "u"
    )
    other = PastQuestion(
        "2", "Will it snow?", "In Oslo.", date(2026, 4, 5), 0.8765, date(2026, 4, 12), 0, "u"
    )
    text = shown(question, other)
    assert "### m1\n| Will it rain?\n|\n| Asked on 2026-03-01. In Rome." in text
    assert "Asked on 2026-04-05. In Oslo." in text
    assert not [part for part in ("4321", "43.2", "8765", "2026-03-09", "2026-04-12", "9999") if part in text]


def test_questions_asked_after_the_release_come_first() -> None:
    released = date(2026, 5, 1)
    asked = questions_to_ask(released)
    later = [question.asked_at >= released for question in past_questions()].count(True)
    assert 20 <= later < 120
    assert [question.asked_at >= released for question in asked] == [True] * later + [False] * (120 - later)
    assert questions_to_ask(None) == list(past_questions()[:120])


def test_the_cost_is_that_of_every_prompt_and_the_most_leaves_room_for_the_calls_under_way() -> None:
    questions = past_questions()[:40]
    settings = asking_settings({"model": "openai/mine", "price": {"input": 2, "output": 10}})
    cost = asking_cost(settings, questions)
    assert cost is not None
    expected, most = cost
    usual, dearest = 0, 0
    for start in range(0, len(questions), TOGETHER):
        size = len(shown(*questions[start : start + TOGETHER]).encode()) - 1  # the line between the messages
        usual += 2 * (size // 4) + 10 * 30 * TOGETHER
        dearest = max(dearest, 2 * size + 10 * settings.max_tokens)
    assert expected == usual
    assert OVERRUN * expected + AT_ONCE * dearest < most < 1.1 * (OVERRUN * expected + AT_ONCE * dearest)
    assert asking_cost(asking_settings({"model": "openai/mine"}), questions) is None


def test_the_script_chooses_the_file_by_price_and_wording_and_not_by_outcome(
    script: Any, shared_data: Path
) -> None:
    found = script.read_questions(shared_data / "replay" / "polymarket-daily")
    chosen = script.choose(found, Random(script.SEED))
    assert chosen == json.loads(DATA.read_text("utf-8"))["questions"]

    turned = [question | {"outcome": 1 - question["outcome"]} for question in found]
    again = script.choose(turned, Random(script.SEED))
    assert [question["id"] for question in again] == [question["id"] for question in chosen]


def test_a_description_is_cut_at_the_end_of_a_word(script: Any) -> None:
    assert script.cut("One\n\ntwo") == "One two"
    assert script.cut("word " * 100) == "word " * 79 + "word …"
