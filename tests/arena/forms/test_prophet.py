"""Files of Prophet Arena become questions, outcomes and forecasts, beside what its tools print."""

from datetime import UTC, datetime

import pytest

from arena.forms.model import SourceFile, SourceLine
from arena.forms.public import prophet
from tests.arena.forms.sources import (
    json_file,
    lines_file,
    prophet_answer,
    prophet_events,
    prophet_market,
    prophet_run,
    prophet_summary,
    prophet_task,
    prophet_tasks,
)


def test_tasks_are_questions_with_what_they_came_to() -> None:
    data = prophet.read([prophet_tasks()])

    questions = {question.key: question for question in data.questions}
    assert {key: question.options for key, question in questions.items()} == {
        "MATCH": ("Ann", "Bo"),
        "CUP": ("Red", "Blue", "Green"),
        "LIST: A": (),  # two outcomes are true, so each is a question
        "LIST: B": (),
        "LIST: C": (),
        "RAIN": (),
        "VOTE": ("Left", "Right"),
    }
    assert [questions[key].event for key in ("MATCH", "LIST: A")] == ["MATCH-E", "LIST"]
    assert questions["CUP"].category == "Sports"
    assert questions["CUP"].closes == datetime(2026, 3, 8, tzinfo=UTC)
    assert questions["LIST: B"].title == "Who wins LIST? B"

    assert {outcome.question: outcome.value for outcome in data.outcomes} == {
        "MATCH": "Bo",
        "CUP": "Red",
        "LIST: A": 1,
        "LIST: B": 0,
        "LIST: C": 1,
        "RAIN": 1,
    }
    assert data.outcomes[0].resolved == datetime(2026, 3, 9, 1, tzinfo=UTC)
    assert data.outcomes[0].place == SourceLine("day/tasks.jsonl", 1)
    assert len(data.notes) == 1
    assert data.faults == ()


def test_runs_over_tasks_are_forecasts() -> None:
    summary = prophet_summary(
        prophet_run("MATCH", {"Ann": 0.4, "Bo": 0.6}, 0.16),
        prophet_run("CUP", {"Red": 0.9, "Blue": 0.6, "Green": 0.2}, 0.2),
        prophet_run("RAIN", {"Yes": 0.7, "No": 0.3}),
        prophet_run("VOTE", None),
        prophet_run("GONE", None),
    )

    data = prophet.read([prophet_tasks(), summary])

    assert {forecast.forecaster for forecast in data.forecasts} == {"owl-1"}
    assert [(x.question, x.options, x.probability) for x in data.forecasts] == [
        ("MATCH", {"Ann": 0.4, "Bo": 0.6}, None),
        ("CUP: Red", {}, 0.9),
        ("CUP: Blue", {}, 0.6),
        ("CUP: Green", {}, 0.2),
        ("RAIN", {}, 0.7),
        ("VOTE", {}, None),
    ]
    assert data.forecasts[0].place == SourceLine("day/summary.json", 1, "runs")
    (figure,) = data.published
    assert (figure.forecaster, figure.name) == ("owl-1", "Brier")
    assert figure.value == pytest.approx(0.18)
    assert "left out: tasks without an answer that no file describes: 1" in data.notes


def test_answers_in_windows_meet_the_crowd_of_their_window() -> None:
    answers = json_file(
        "set/forecasts.json",
        [
            prophet_answer("match", 0, {"Ann": 0.8, "Bo": 0.4, "Cy": 0.5}),
            prophet_answer("match", 1, {"Ann": 0.1, "Bo": 0.4, "Cy": 0.5}),
            prophet_answer("match", 1, {"Ann": 0.9, "Bo": 0.2, "Cy": 0.5}),
            prophet_answer("vote", 0, {"Left": 0.4, "Right": 0.6}),
        ],
    )

    data = prophet.read([prophet_events(), answers])

    prices = {(x.question, x.made): x.price for x in data.forecasts if x.price is not None}
    first = datetime(2026, 3, 1, tzinfo=UTC)
    second = datetime(2026, 3, 2, tzinfo=UTC)
    assert prices == {
        ("match: Ann", first): 0.6,
        ("match: Bo", first): 0.5,
        ("match: Ann", second): 0.7,
        ("match: Bo", second): 0.4,
    }
    vote = data.forecasts[-1]
    assert (vote.options, vote.odds) == ({"Left": 0.4, "Right": 0.6}, {"Left": 0.25, "Right": 0.75})
    assert vote.reason == "form"
    assert {x.question: x.value for x in data.outcomes} == {
        "match: Ann": 1,
        "match: Bo": 0,
        "match: Cy": None,
        "vote": "Right",
    }

    # Of the second window the last answer counts; outcomes, then windows, then events are averaged.
    match = ((0.2**2 + 0.4**2) / 2 + (0.1**2 + 0.2**2) / 2) / 2
    crowd = ((0.4**2 + 0.5**2) / 2 + (0.3**2 + 0.4**2) / 2) / 2
    assert {x.name: x.value for x in data.published} == pytest.approx(
        {
            "Brier": (match + 0.4**2) / 2,
            "skill": ((crowd - match) + (0.25**2 - 0.4**2)) / 2,
        }
    )


def test_a_submission_meets_the_actual_outcomes() -> None:
    data = prophet.read(prophet_market())

    assert [(x.key, x.event, x.category) for x in data.questions] == [
        ("KX-A", "KX", "Politics"),
        ("KX-B", "KX", "Politics"),
        ("KX-C", "", ""),
    ]
    assert [(x.question, x.value) for x in data.outcomes] == [("KX-A", 1), ("KX-B", 0)]
    assert [(x.forecaster, x.probability, x.reason) for x in data.forecasts] == [
        ("owls", 0.9, "polls"),
        ("owls", 0.3, ""),
        ("owls", 0.5, ""),
    ]
    assert [x.value for x in data.published] == [pytest.approx((0.1**2 + 0.3**2) / 2)]


def test_a_figure_that_a_report_prints_is_not_worked_out_again() -> None:
    report = {"agent": "owl", "dataset": "set@1", "digest": "ab", "slices": {}, "brier": 0.2, "skill": None}
    answer = json_file("a.json", [prophet_answer("vote", 0, {"Left": 0.4, "Right": 0.6})])

    data = prophet.read([prophet_events(), answer, json_file("report.json", report)])

    assert [(x.forecaster, x.name) for x in data.published] == [("owl", "Brier"), ("owl", "skill")]
    assert data.published[0].value == 0.2
    assert data.published[1].value == pytest.approx(0.25**2 - 0.4**2)


def test_each_fault_is_told_by_its_place() -> None:
    tasks = lines_file(
        "tasks.jsonl",
        prophet_task("A", ["x", "y"], ["z"]),
        prophet_task("A", ["x", "y"], None),
        prophet_task("B", ["x", "x", 3], None, resolved_outcome="x", predict_by="soon"),
        prophet_task("", [], None),
        "A",
    )
    events = lines_file(
        "events.jsonl",
        {
            "slug": "m",
            "outcomes": [{"name": "x", "resolution": "maybe"}, 1],
            "windows": [{"crowd": {"x": 2}}],
        },
    )
    summary = prophet_summary(
        prophet_run("A", {"x": "half", "y": 0.5, "q": 0.5}), prophet_run("A", [1]), "run", {"task_id": None}
    )
    answers = json_file("answers.json", [prophet_answer("m", 0, {"x": -1}), 5])
    submission = json_file("sub.json", {"predictions": [{"market_ticker": "K", "p_yes": True}]})

    actuals = json_file("actuals.json", {"K": 1e308})

    data = prophet.read([actuals, tasks, events, summary, answers, submission])

    assert [fault.place for fault in data.faults] == [
        "tasks.jsonl:1: column resolved_outcome.value",
        "tasks.jsonl:2: column task_id",
        "tasks.jsonl:3: column outcomes",
        "tasks.jsonl:3: column outcomes",
        "tasks.jsonl:3: column resolved_outcome",
        "tasks.jsonl:3: column predict_by",
        "tasks.jsonl:4: column task_id",
        "tasks.jsonl:4: column outcomes",
        "tasks.jsonl:5",
        "events.jsonl:1: column outcomes[2]",
        "events.jsonl:1: column outcomes[1].resolution",
        "events.jsonl:1: column windows[1].crowd.x",
        "day/summary.json: runs, row 1, submission.x",
        "day/summary.json: runs, row 2, submission",
        "day/summary.json: runs, row 3, object",
        "day/summary.json: runs, row 4, task_id",
        "answers.json: list, row 1, probabilities.x",
        "answers.json: list, row 2, object",
        "sub.json: predictions, row 1, p_yes",
        "actuals.json:1: column K",
        "day/summary.json: runs, row 1, probabilities",
    ]
    assert all(fault.hint for fault in data.faults)


@pytest.mark.parametrize("content", [b'{"task_id": "A"', b"\xff", b'[{"task_id": 1}', b"{}"])
def test_other_texts_are_not_recognised(content: bytes) -> None:
    assert prophet.recognise([SourceFile("tasks.jsonl", content)]) is None
