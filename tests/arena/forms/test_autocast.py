"""Autocast's questions as a form: what they ask, and what they came to."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arena.forms.asked_questions import asked_folder, read_public_folder
from arena.forms.model import SourceData, SourceFile, SourceOutcome, SourcePrice, SourceQuestion
from arena.forms.public import autocast
from arena.forms.sources.choose import choose_form
from markets.distributions import form_of
from markets.millionths import ONE
from markets.venue import VenueError

OPENED = datetime(2021, 1, 1, tzinfo=UTC)
CLOSES = datetime(2021, 3, 1, 12, tzinfo=UTC)


def a_question(own_id: str, qtype: str, choices: Any, answer: Any = None, **more: Any) -> dict[str, Any]:
    told = {
        "question": f"What of {own_id}?",
        "id": own_id,
        "background": "Known so far.",
        "publish_time": "2021-01-01 00:00:00+00:00",
        "close_time": "2021-03-01 12:00:00+00:00",
        "tags": ["Business", "Finance"],
        "choices": choices,
        "qtype": qtype,
        "status": "Resolved" if answer is not None else "Active",
        "answer": answer,
    }
    return told | more


ALL = [
    a_question(
        "G1", "t/f", ["yes", "no"], "no", crowd=[{"forecast": 0.4}], source_links=["https://x.example"]
    ),
    a_question("G1", "t/f", ["yes", "no"], "yes", question="Will it not be?"),
    a_question("G2", "mc", ["few", "some", "many"], "C"),
    a_question("M3", "num", {"min": 0, "max": 200, "deriv_ratio": 1}, 0.25),
    a_question("M4", "num", {"min": 1, "max": 1000, "deriv_ratio": 1000}, 0.5),
    a_question("M5", "num", {"min": "2021-01-01", "max": "2021-01-11", "deriv_ratio": 1}, 0.5),
    a_question("M6", "num", {"min": 0, "max": 200, "deriv_ratio": 1}),
]


def as_file(questions: list[dict[str, Any]]) -> SourceFile:
    return SourceFile("autocast.json", json.dumps(questions, indent=1).encode())


def test_it_is_recognised_and_read_with_all_three_kinds() -> None:
    file = as_file(ALL)
    chosen = choose_form([file])
    assert chosen is not None
    assert chosen.name == "autocast"

    data = autocast.read([file])
    assert data.faults == ()
    assert [question.key for question in data.questions] == ["G1", "G1-2", "G2", "M3", "M4", "M5", "M6"]
    assert {question.event for question in data.questions[:2]} == {"G1"}
    ends = {outcome.question: outcome.value for outcome in data.outcomes}
    assert ends == {"G1": 0, "G1-2": 1, "G2": "many", "M3": 50, "M4": 0.5, "M5": "2021-01-06T00:00:00+00:00"}
    assert data.notes == ("left alone: the crowd's forecasts, and links of comments, of 1 questions",)
    assert data.prices == ()


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"qtype": "essay"}, "qtype", "is no type"),
        ({"answer": "maybe"}, "answer", "is no answer of a t/f question"),
        ({"qtype": "mc", "choices": ["a", "b"], "answer": "C"}, "answer", "is no answer of a mc question"),
        ({"qtype": "num", "choices": {"max": 3}}, "choices.min", "there is no range"),
        ({"qtype": "num", "choices": {"min": 0, "max": 3}, "answer": 2}, "answer", "is no answer of a num"),
        ({"qtype": "num", "choices": ["num"]}, "choices", "is not an object"),
        ({"publish_time": "soon"}, "publish_time", "is not a time"),
        ({"id": ""}, "id", "it is empty"),
    ],
)
def test_each_fault_is_named_by_its_row_and_field(changed: dict[str, Any], field: str, words: str) -> None:
    sound = a_question("G1", "t/f", ["yes", "no"], "no")
    data = autocast.read([as_file([sound, sound | {"id": "G9"} | changed])])
    assert words in data.faults[0].message
    assert data.faults[0].place == f"autocast.json: questions, row 2, {field}"
    assert data.faults[0].hint


def test_a_folder_of_it_is_asked_with_real_bounds_and_without_the_crowd(tmp_path: Path) -> None:
    (tmp_path / "autocast.json").write_bytes(as_file(ALL).data)
    found = read_public_folder(tmp_path)
    assert (found.form, found.faults) == ("Autocast", ())
    asked = {market_id.partition(":")[2]: question for market_id, question in found.questions.items()}

    assert [form_of(question.market.form).kind for question in asked.values()] == [
        *("yes_no", "yes_no", "multiple_choice", "numeric", "numeric", "date", "numeric"),
    ]
    assert asked["G1"].market.event_id == asked["G1-2"].market.event_id == "questions:G1"
    assert (asked["G1"].market.opens_at, asked["G1"].market.closes_at) == (OPENED, CLOSES)
    assert asked["G1"].market.rules == "Known so far."
    assert asked["G1"].listing(CLOSES).quote is None

    logarithmic = form_of(asked["M4"].market.form)
    assert (logarithmic.low, logarithmic.high) == ("1", "1000")
    answers = {key: [(end.payout, end.answer) for end in question.ends] for key, question in asked.items()}
    assert answers["G1"] == [(0, "")]
    assert answers["G1-2"] == [(ONE, "")]
    assert answers["M3"] == [(None, "50")]
    assert answers["M4"] == [(None, "31.6227766")], "where a scale from 1 to 1000 has its middle"
    assert answers["M5"] == [(None, "2021-01-06")]
    assert answers["M6"] == []
    assert all(end.known_at == CLOSES for question in asked.values() for end in question.ends)


def test_a_question_that_cannot_be_asked_says_why() -> None:
    positions = SourceQuestion("log", "How many?", low=0.0, high=1.0, opened=OPENED, closes=CLOSES, ratio=9.0)
    undated = SourceQuestion("undated", "When?", closes=CLOSES)
    untold = SourceQuestion("untold", opened=OPENED, closes=CLOSES)
    found = asked_folder("Somebody's", SourceData(questions=(positions, undated, untold)))
    assert [(fault.record, fault.field) for fault in found.faults] == [
        *(("log", "low"), ("undated", "opened"), ("untold", "title")),
    ]
    assert "positions from 0 to 1" in found.faults[0].message
    assert not found.questions
    assert not found.whole_faults, "the others would be played"


def test_text_that_cannot_be_stored_is_a_fault() -> None:
    sound = SourceQuestion("q", "Which?", options=("a", "b"), opened=OPENED, closes=CLOSES)
    broken = replace(sound, key="half", title="Which\ud800?"), replace(sound, key="nul", options=("a", "b\0"))
    found = asked_folder("Somebody's", SourceData(questions=(sound, *broken)))
    assert list(found.questions) == ["questions:q"]
    assert [(fault.record, fault.field) for fault in found.faults] == [("half", "title"), ("nul", "options")]


def test_odds_count_from_when_they_were_seen() -> None:
    later = datetime(2021, 2, 1, tzinfo=UTC)
    question = SourceQuestion("q", "Which?", options=("a", "b"), opened=OPENED, closes=CLOSES)
    seen = [(0.3, "a", OPENED), (0.7, "b", OPENED), (0.6, "a", later), (0.4, "b", later)]
    prices = tuple(SourcePrice("q", price, option, at) for price, option, at in seen)
    outcomes = (SourceOutcome("q", "a", CLOSES), SourceOutcome("q", "b", CLOSES))
    (asked,) = asked_folder("", SourceData((question,), outcomes, prices)).questions.values()
    assert form_of(asked.listing(OPENED).market.form).odds == (300_000, 700_000)
    assert form_of(asked.listing(later).market.form).odds == (600_000, 400_000)
    assert [(end.version, end.answer) for end in asked.ends] == [(1, "a"), (2, "b")]
    assert asked.ends[0].known_at == CLOSES < asked.ends[1].known_at


def test_a_folder_of_no_form_is_told(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(VenueError) as raised:
        read_public_folder(tmp_path)
    assert "neither questions.csv nor files of a form" in raised.value.message


def test_posts_of_metaculus_are_asked_with_the_bounds_of_a_logarithmic_scale(tmp_path: Path) -> None:
    question = {
        "id": 7,
        "title": "How many?",
        "type": "numeric",
        "description": "Known so far.",
        "resolution_criteria": "The count.",
        "scaling": {"range_min": 1, "range_max": 1000, "zero_point": 0},
        "open_lower_bound": False,
        "open_upper_bound": True,
        "open_time": "2021-01-01T00:00:00Z",
        "scheduled_close_time": "2021-03-01T12:00:00Z",
        "actual_resolve_time": "2021-03-05T00:00:00Z",
        "resolution": "250",
    }
    post = {"id": 70, "title": "How many?", "projects": {}, "status": "resolved", "question": question}
    (tmp_path / "posts.json").write_text(json.dumps([post]), "utf-8")
    (asked,) = read_public_folder(tmp_path).questions.values()
    form = form_of(asked.market.form)
    assert (form.kind, form.low, form.high, form.open_high) == ("numeric", "1", "1000", True)
    assert asked.market.rules == "Known so far.\n\nDecided by: The count."
    assert [(end.answer, end.known_at.day) for end in asked.ends] == [("250", 5)]
