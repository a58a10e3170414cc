"""Small sources of each public form, made by hand."""

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from arena.forms.model import SourceFile


def json_file(name: str, value: object) -> SourceFile:
    """Return a file of JSON over several lines."""
    return SourceFile(name, json.dumps(value, indent=1).encode())


def lines_file(name: str, *rows: object) -> SourceFile:
    """Return a file with a value of JSON on each line."""
    return SourceFile(name, "".join(json.dumps(row) + "\n" for row in rows).encode())


def zip_file(name: str, members: Mapping[str, Any]) -> SourceFile:
    """Return a ZIP whose members are texts, or are written as JSON."""
    written = BytesIO()

    with ZipFile(written, "w", ZIP_DEFLATED) as packed:
        for member, value in members.items():
            packed.writestr(member, value if isinstance(value, str) else json.dumps(value))

    return SourceFile(name, written.getvalue())


def arena_row(entrant: str, slug: str, **fields: object) -> dict[str, object]:
    """Return a line of a Forecast Arena; `fields` replace what it says otherwise."""
    row = {
        "ts": "2026-03-01T12:00:00Z",
        "slug": slug,
        "event_id": "7",
        "question": f"Will {slug} happen?",
        "end_date": "2026-03-09T00:00:00Z",
        "market_prob": 0.6,
        "entrant": entrant,
        "model": "maker/model",
        "prob": 0.5,
        "rationale": "",
        "status": "ok",
    }
    return row | fields


def arena_board() -> list[SourceFile]:
    """Return a board of two markets that ended, one that closed without an outcome, and one open."""
    skipped = {"prob": None, "status": "skip", "error": "no answer"}
    rows = [
        arena_row("owl", "rain", prob=0.8, rationale="clouds"),
        arena_row("owl", "snow", market_prob=0.3, prob=0.1, event_id=None),
        arena_row("owl", "hail", prob=0.4, event_id="8"),
        arena_row("hare", "rain", prob=0.9),
        arena_row("hare", "snow", market_prob=0.3, event_id="9", **skipped),
        arena_row("crowd", "rain", model=None, prob=0.6),
        arena_row("crowd", "snow", model=None, prob=0.3, market_prob=0.3),
        arena_row("coin", "rain", model=None),
    ]
    outcomes = {
        "rain": {"outcome": 1, "resolution_source": "uma", "resolved_at": "2026-03-09T01:00:00Z"},
        "snow": {"outcome": 0, "resolution_source": "uma", "resolved_at": "2026-03-09T02:00:00Z"},
        "hail": {"outcome": None, "resolution_source": "closed_unresolvable", "resolved_at": None},
    }
    return [
        lines_file("board/forecasts/2026-03-01.jsonl", *rows),
        json_file("board/resolutions.json", outcomes),
        SourceFile("board/README.md", b"# A board"),
    ]


def prophet_task(task_id: str, outcomes: list[object], winners: list[str] | None, **fields: object) -> object:
    """Return a task of a released data set, resolved where winners are named."""
    resolved = winners and {"value": winners, "resolved_at": "2026-03-09T01:00:00Z"}
    row = {
        "task_id": task_id,
        "title": f"Who wins {task_id}?",
        "outcomes": outcomes,
        "predict_by": "2026-03-08T00:00:00Z",
        "metadata": {"category": "Sports", "source": {"event_ticker": f"{task_id}-E"}},
        "resolved_outcome": resolved,
    }
    return row | fields


def prophet_tasks() -> SourceFile:
    """Return a data set of five tasks: of two, of three and of one true outcome, of yes or no, and open."""
    return lines_file(
        "day/tasks.jsonl",
        prophet_task("MATCH", ["Ann", "Bo"], ["Bo"]),
        prophet_task("CUP", ["Red", "Blue", "Green"], ["Red"]),
        prophet_task("LIST", ["A", "B", "C"], ["A", "C"], metadata={"source": "elsewhere"}),
        prophet_task("RAIN", ["Yes", "No"], ["Yes"]),
        prophet_task("VOTE", ["Left", "Right"], None),
    )


def prophet_run(task_id: str, submission: object, score: float | None = None) -> dict[str, object]:
    """Return a run of an evaluation."""
    evaluation = None if score is None else {"brier_score": score}
    return {"task_id": task_id, "status": "submitted", "submission": submission, "evaluation": evaluation}


def prophet_summary(*runs: object) -> SourceFile:
    """Return what an evaluation over tasks writes."""
    config = {"model": {"model_name": "owl-1", "kwargs": {}}}
    return json_file("day/summary.json", {"eval_config": config, "eval": {}, "runs": list(runs)})


def prophet_events() -> SourceFile:
    """Return a data set of two events with windows, one of them with a void outcome."""
    crowd = [{"Ann": 0.6, "Bo": 0.5}, {"Ann": 0.7, "Bo": 0.4}]
    match = {
        "slug": "match",
        "title": "Who is in the final?",
        "category": "Sports",
        "close_at": "2026-03-08T00:00:00Z",
        "outcomes": [
            {"name": "Ann", "resolution": "yes"},
            {"name": "Bo", "resolution": "no"},
            {"name": "Cy", "resolution": "void"},
        ],
        "windows": [{"round": number, "crowd": shares} for number, shares in enumerate(crowd)],
    }
    vote = {
        "slug": "vote",
        "close_at": "2026-03-08T00:00:00Z",
        "outcomes": [{"name": "Left", "resolution": "no"}, {"name": "Right", "resolution": "yes"}],
        "windows": [{"round": 0, "crowd": {"Left": 0.25, "Right": 0.75}}],
    }
    return lines_file("set/events.jsonl", match, vote)


def prophet_answer(event: str, window: int, probabilities: object, **fields: object) -> dict[str, object]:
    """Return an answer of an agent in a window."""
    row = {
        "id": f"{event}-{window}",
        "agent": "owl",
        "event": event,
        "window": window,
        "probabilities": probabilities,
        "rationale": "form",
        "received_at": f"2026-03-0{window + 1}T00:00:00Z",
    }
    return row | fields


def prophet_market() -> list[SourceFile]:
    """Return a submission over two markets of one event, with their outcomes."""
    markets = [
        {"market_ticker": f"KX-{name}", "event_ticker": "KX", "title": name, "category": "Politics"}
        for name in ("A", "B")
    ]
    predictions = [
        {"market_ticker": "KX-A", "p_yes": 0.9, "rationale": "polls"},
        {"market_ticker": "KX-B", "p_yes": 0.3},
        {"market_ticker": "KX-C", "p_yes": 0.5},
    ]
    submission = {"team_name": "owls", "timestamp": "2026-03-01T00:00:00Z", "predictions": predictions}
    return [
        json_file("events.json", markets),
        json_file("submission.json", submission),
        json_file("actuals.json", {"KX-A": 1.0, "KX-B": 0.0, "KX-Z": 1.0}),
    ]


def api_question(number: int, kind: str, resolution: object = None, **fields: object) -> dict[str, object]:
    """Return a question as Metaculus's API gives it."""
    question = {
        "id": number,
        "title": f"Question {number}?",
        "type": kind,
        "open_time": "2026-01-01T00:00:00Z",
        "cp_reveal_time": "2026-01-03T00:00:00Z",
        "scheduled_close_time": "2026-01-31T00:00:00Z",
        "actual_close_time": "2026-01-21T00:00:00Z",
        "actual_resolve_time": "2026-01-22T00:00:00Z",
        "resolution": resolution,
        "options": None,
        "scaling": {"range_min": None, "range_max": None, "zero_point": None},
        "open_lower_bound": None,
        "open_upper_bound": None,
        "aggregations": {"recency_weighted": {"history": [], "latest": None}},
        "my_forecasts": {"history": [], "latest": None},
    }
    return question | fields


def api_post(number: int, question: object, **fields: object) -> dict[str, object]:
    """Return a post of Metaculus's API with a question."""
    projects = {"category": [{"id": 1, "name": "Weather"}]}
    return {"id": number, "title": f"Post {number}", "projects": projects, "question": question} | fields


def aggregation(*predictions: tuple[str, list[float]]) -> dict[str, object]:
    """Return what the community said since when."""
    history = [{"start_time": start, "centers": centers} for start, centers in predictions]
    return {"recency_weighted": {"history": history, "latest": None}}


def metaculus_posts() -> list[dict[str, object]]:
    """Return posts with a question of each kind."""
    said = aggregation(("2026-01-02T00:00:00Z", [0.3]), ("2026-01-10T00:00:00Z", [0.6]))
    own = [
        {"start_time": 1767571200, "end_time": 1768435200, "forecast_values": [0.2, 0.8]},  # 5 to 15 January
        {"start_time": 1768435200, "end_time": None, "forecast_values": [0.1, 0.9]},
    ]
    group = [api_question(71, "binary", "annulled"), api_question(72, "binary", "no")]
    log_range = {"range_min": 1, "range_max": 100, "zero_point": 0}
    days = {"range_min": 1767225600, "range_max": 1769904000, "zero_point": None}  # 31 days from 1 January
    return [
        api_post(1, api_question(11, "binary", "yes", aggregations=said, my_forecasts={"history": own})),
        api_post(2, api_question(21, "multiple_choice", "Snow", options=["Rain", "Snow"])),
        api_post(3, api_question(31, "numeric", "10", scaling=log_range, open_upper_bound=True)),
        api_post(
            4,
            api_question(
                41,
                "discrete",
                "above_upper_bound",
                scaling={"range_min": -0.5, "range_max": 3.5, "zero_point": None},
                open_upper_bound=True,
            ),
        ),
        api_post(5, api_question(51, "date", "2026-01-11T00:00:00Z", scaling=days)),
        api_post(7, None, group_of_questions={"questions": group}),
        api_post(8, None, conditional={}),
        api_post(9, api_question(91, "notebook")),
    ]


def tools_question(number: int, **fields: object) -> dict[str, object]:
    """Return a question as forecasting-tools keep it."""
    question = {
        "question_text": f"Question {number}?",
        "id_of_post": number // 10,
        "id_of_question": number,
        "date_accessed": "2026-01-05T00:00:00",
        "api_json": {},
    }
    return question | fields


def tools_report(question: object, prediction: object, **fields: object) -> dict[str, object]:
    """Return a report of forecasting-tools."""
    return {"question": question, "explanation": "# Why", "prediction": prediction} | fields


def percentiles(**values: object) -> dict[str, object]:
    """Return a number's distribution, such as p10=3."""
    listed = [{"percentile": int(name[1:]) / 100, "value": value} for name, value in values.items()]
    return {"declared_percentiles": listed}


def metaculus_tables() -> list[SourceFile]:
    """Return the three tables that the site lets people download."""
    questions = """\
Question ID,Question Title,Post ID,Question Type,MC Options,Lower Bound,Open Lower Bound,Upper Bound,\
Open Upper Bound,Continuous Range,Open Time,CP Reveal Time,Scheduled Close Time,Actual Close Time,Resolution,\
Resolution Known Time,Question Weight
11,Rain?,1,binary,,,,,,,2026-01-01 00:00:00+00:00,,2026-01-31 00:00:00+00:00,2026-01-21 00:00:00+00:00,yes,\
2026-01-22 00:00:00+00:00,1.0
21,Which?,2,multiple_choice,"['Rain', 'Snow', 'None']",,,,,,,,,,Snow,,0.5
31,How many?,3,numeric,,1,False,100,True,"[1.0, 10.0, 100.0]",,,,,55.5,,1.0
41,Even?,4,numeric,,0,False,10,False,"[0.0, 5.0, 10.0]",,,,,below_lower_bound,,1.0
51,When?,5,date,,2026-01-01,False,2026-02-01,True,"['2026-01-01', '2026-01-17', '2026-02-01']",,,,,\
2026-01-11,,1.0
61,Both?,6,conditional,,,,,,,,,,,,,1.0
"""
    forecasts = """\
Question ID,Forecaster ID,Forecaster Username,Start Time,End Time,Forecaster Count,Probability Yes,\
Probability Yes Per Category,Continuous CDF
11,5,ann,2026-01-02 00:00:00+00:00,2026-01-12 00:00:00+00:00,,0.8,,
11,5,ann,2026-01-12 00:00:00+00:00,,,0.7,,
11,,recency_weighted,2026-01-05 00:00:00+00:00,,3,0.6,,
11,,unweighted,2026-01-05 00:00:00+00:00,,3,0.55,,
21,6,bob,2026-01-03 00:00:00+00:00,,,,"[0.25, 0.75, None]",
31,6,bob,2026-01-03 00:00:00+00:00,,,,,"[0.0, 0.25, 0.5]"
77,6,bob,2026-01-03 00:00:00+00:00,,,0.5,,
78,6,bob,2026-01-03 00:00:00+00:00,,,,"[0.5, 0.5]",
"""
    scores = """\
Question ID,User ID,User Username,Score Type,Score,Coverage
11,5,ann,peer,12.5,1.0
12,5,ann,peer,-2.5,0.5
11,5,ann,baseline,60,1.0
11,,recency_weighted,peer,,
"""
    return [
        SourceFile("data/forecast_data.csv", forecasts.encode()),
        SourceFile("data/question_data.csv", questions.encode()),
        SourceFile("data/score_data.csv", scores.encode()),
    ]


def inspect_sample(number: int | str, target: object, score: object, **fields: object) -> dict[str, object]:
    """Return a sample of an Inspect log, with the score of one scorer."""
    scores = None if score is None else {"brier": score}
    sample = {"id": number, "epoch": 1, "input": f"Question {number}?", "target": target, "scores": scores}
    return sample | {"metadata": {}} | fields


def inspect_log(
    model: str, *samples: object, task: str = "weather", forecaster: str | None = None
) -> dict[str, object]:
    """Return an Inspect log with the mean of its Brier scores."""
    about = {"forecaster": forecaster} if forecaster else None
    metrics = {"mean": {"name": "mean", "value": 0.1}, "odd": {"name": "odd", "value": "n/a"}}
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": task, "model": model, "created": "2026-03-01T00:00:00+00:00", "metadata": about},
        "results": {"scores": [{"name": "brier", "scorer": "brier", "metrics": metrics}]},
        "samples": list(samples),
    }


def packed_log(name: str, log: dict[str, object]) -> SourceFile:
    """Return an Inspect log as Inspect packs it."""
    samples = log.pop("samples")
    assert isinstance(samples, list)
    members = {f"samples/{x['id']}_epoch_{x['epoch']}.json": x for x in samples}
    return zip_file(name, {"_journal/start.json": {}, "header.json": log} | members)
