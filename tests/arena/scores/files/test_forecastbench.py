"""ForecastBench's files: read as published, kept as they are, and every fault named."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from arena.errors import ArenaError, FileFault
from arena.forms.bench.answers import check_answers, coverage
from arena.forms.bench.reading import read_forecast_file, read_question_set, read_resolution_set

DUE = "2026-03-01"
DAYS = ["2026-03-08", "2026-03-31"]


def question(source: str, name: str, **changes: Any) -> dict[str, Any]:
    texts = (
        "question", "resolution_criteria", "background", "market_info_open_datetime",
        "market_info_close_datetime", "market_info_resolution_criteria", "url", "freeze_datetime",
        "freeze_datetime_value", "freeze_datetime_value_explanation", "source_intro",
    )  # fmt: skip
    dates = "N/A" if source == "manifold" else DAYS
    return {"id": name, "source": source, **dict.fromkeys(texts, "N/A"), "resolution_dates": dates, **changes}


QUESTIONS = {
    "forecast_due_date": DUE,
    "question_set": f"{DUE}-llm.json",
    "questions": [
        *(question("manifold", f"m{i}", freeze_datetime_value="0.25") for i in range(20)),
        *(question("fred", f"d{i}") for i in range(10)),
        question("fred", ["d1", "d2"], combination_of=[]),  # type: ignore[arg-type]
    ],
}


def forecast(source: str, name: str, day: str | None, p: Any = 0.5, **more: Any) -> dict[str, Any]:
    return {"id": name, "source": source, "forecast": p, "resolution_date": day, "reasoning": None, **more}


def submission(**changes: Any) -> dict[str, Any]:
    return {
        "organization": "Us", "model": "m", "model_organization": "Lab", "question_set": f"{DUE}-llm.json",
        "forecast_due_date": DUE,
        "forecasts": [
            *(forecast("manifold", f"m{i}", None) for i in range(20)),
            *(forecast("fred", f"d{i}", day) for i in range(10) for day in DAYS),
        ],
        **changes,
    }  # fmt: skip


def faults(data: Any) -> list[FileFault]:
    asked, wrong = read_question_set("q.json", json.dumps(QUESTIONS))
    assert not wrong
    filed, found = read_forecast_file("f.json", json.dumps(data))
    return [*found, *check_answers(filed, asked)]


def published(shared_data: Path, name: str) -> str:
    return gzip.decompress((shared_data / "forecastbench" / name).read_bytes()).decode()


@pytest.mark.parametrize("name", ["2026-03-01", "2026-05-24"])
def test_published_sets_are_read_whole(shared_data: Path, name: str) -> None:
    text = published(shared_data, f"question_sets/{name}-llm.json.gz")
    asked, wrong = read_question_set("q.json", text)
    assert not wrong
    assert [question.texts for question in asked.questions] == json.loads(text)["questions"]
    assert coverage(set(), asked)["market"] == (0, 250)
    resolutions, wrong = read_resolution_set(
        "r.json", published(shared_data, f"resolution_sets/{name}_resolution_set.json.gz")
    )
    assert not wrong
    known = {(row[0], row[1]) for question in asked.questions for row in question.asked}
    assert {(row.source, row.id) for row in resolutions.rows} <= known


def test_five_of_a_hundred_may_be_missing_and_no_more() -> None:
    whole = submission()["forecasts"]
    assert faults(submission(forecasts=whole[1:])) == []
    (fault,) = faults(submission(forecasts=whole[2:]))
    assert (fault.row, fault.field) == (None, "forecasts")
    assert fault.message == "18 of 20 market rows are answered, 90.0%"


TWENTY = [
    (0, {"id": "nobody"}, "id", "'nobody' of manifold is not in"),
    (1, {"id": 7}, "id", "7 is not a name"),
    (2, {"source": "fred"}, "id", "'m2' of fred is not in"),
    (3, {"source": None}, "source", "null is not a name"),
    (4, {"forecast": 1.2}, "forecast", "1.2 is not a number from 0 to 1"),
    (5, {"forecast": "0.4"}, "forecast", '"0.4" is not a number'),
    (6, {"forecast": True}, "forecast", "true is not a number"),
    (7, {"forecast": -0.001}, "forecast", "-0.001 is not"),
    (8, {"forecast": None}, "forecast", "null is not"),
    (9, {"resolution_date": DAYS[0]}, "resolution_date", "manifold is a market"),
    (10, {"id": "m11"}, "id", "'m11' of manifold is answered in row 11 already"),
    (11, {"probability": 0.5}, "probability", "no such field"),
    (12, {"reasoning": 5}, "reasoning", "not a text"),
    (20, {"resolution_date": "2026-03-09"}, "resolution_date", "2026-03-09 is not asked"),
    (21, {"resolution_date": "31 March"}, "resolution_date", '"31 March" is not a day'),
    (22, {"resolution_date": None}, "resolution_date", "there is none, and the question has several"),
    (23, {"resolution_date": "2026-02-30"}, "resolution_date", '"2026-02-30" is not a day'),
]


def test_twenty_faults_are_all_named_by_row_and_field() -> None:
    """Seventeen in rows, one row that is none, and a header that answers another set."""
    data = submission(organization="", forecast_due_date="2026-03-02")
    for place, change, *_ in TWENTY:
        data["forecasts"][place].update(change)
    data["forecasts"].append("row")
    found = faults(data)
    named = {(fault.row, fault.field): fault.message for fault in found}
    for place, _, field, message in TWENTY:
        row = 12 if place == 10 else place + 1  # of two for one question, the later is one too many
        assert message in named[row, field]
    assert (41, "row") in named
    assert (None, "organization") in named
    assert (None, "forecast_due_date") in named
    assert sum(fault.field == "forecasts" for fault in found) == 2  # both halves fall short
    assert all(fault.hint for fault in found)


def test_old_headers_individuals_and_combinations() -> None:
    rows = [
        forecast("manifold", "m1", None, user_id="ann", direction=None),
        forecast("manifold", "m1", None, user_id="bob", direction=None),
        forecast("fred", ["d1", "d2"], DAYS[0], direction=[1, -1]),  # type: ignore[arg-type]
    ]
    data = submission(forecasts=rows)
    data["question-set"] = data.pop("question_set")
    text = json.dumps(data)
    filed, wrong = read_forecast_file("f.json", text)
    assert not wrong
    assert (filed.question_set, filed.combinations) == (f"{DUE}-llm.json", 1)
    assert [row.user for row in filed.rows] == ["ann", "bob"]
    filed, _ = read_forecast_file("f.json", text, combinations=True)
    assert [row.id for row in filed.rows] == ["m1", "m1", "d1 & not d2"]


def test_a_processed_file_carries_its_resolutions() -> None:
    done = {"resolved_to": 1.0, "resolved": True, "imputed": False, "market_value_on_due_date": 0.3}
    rows = [
        forecast("manifold", "m1", "2026-03-08", 0.9, **done | {"resolved": False, "resolved_to": 0.6}),
        forecast("manifold", "m1", "2026-04-01T00:00:00", 0.9, **done),
        forecast("fred", "d1", DAYS[0], float("nan"), resolved=True, resolved_to=float("nan")),
    ]
    filed, wrong = read_forecast_file("f.json", json.dumps(submission(forecasts=rows)))
    assert not wrong
    assert filed.unanswered == 1
    (row,) = filed.rows
    assert (row.date, row.value, row.resolved, row.crowd) == (None, 1.0, True, 0.3)
    rows[1]["forecast"] = 0.8
    _, (fault,) = read_forecast_file("f.json", json.dumps(submission(forecasts=rows)))
    assert (fault.row, fault.message) == (2, "'m1' of manifold is answered in row 1 already")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "f.json:1:2: this is not JSON"),
        ("[]", "f.json: it has no list 'forecasts'"),
        ("[" * 100_000, "f.json is nested too deeply"),
    ],
)
def test_what_is_no_file_of_forecasts(text: str, message: str) -> None:
    with pytest.raises(ArenaError, match=message.replace("[", r"\[")):
        read_forecast_file("f.json", text)


@pytest.mark.parametrize(
    ("forecast_text", "message"),
    [("1" * 5000, "the limit"), ('0.5, "id": 2', "the key 'id'"), ('0.5, "reasoning": "\\ud800"', "Unicode")],
)
def test_what_json_has_and_a_board_cannot_take(forecast_text: str, message: str) -> None:
    text = f'{{"forecasts": [{{"id": "m1", "source": "manifold", "forecast": {forecast_text}}}]}}'
    with pytest.raises(ArenaError, match=message):
        read_forecast_file("f.json", text)
