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
