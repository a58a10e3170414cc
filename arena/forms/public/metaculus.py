"""Files of Metaculus: tables to download from its site, questions of its API, and reports of its tools.

A number on a logarithmic scale is read as its position in the range, from 0 to 1, as the site scores it.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from arena.forms.metaculus_site.posts import add_post
from arena.forms.metaculus_site.site_questions import MetaculusFiles
from arena.forms.metaculus_site.site_tables import add_forecast_row, add_question_row, add_scores
from arena.forms.metaculus_site.tool_reports import add_benchmark, add_report, add_tools_question, file_bot
from arena.forms.model import SourceData, SourceFile
from arena.forms.objects import SourceObject, first_object, header_names, read_objects, read_rows, suffix_of

TITLE = "Metaculus"
QUESTIONS = "a table with Question ID and Question Type"
FORECASTS = "a table with Question ID, Start Time and Probability Yes"
SCORES = "a table with Question ID and Score Type"
TABLES = {
    QUESTIONS: {"Question ID", "Question Type"},
    FORECASTS: {"Question ID", "Start Time", "Probability Yes"},
    SCORES: {"Question ID", "Score Type", "Score"},
}
BENCHMARKS = "benchmarks with forecast_bot_config and forecast_reports"
REPORTS = "reports with question, explanation and prediction"
TOOLS = "questions with question_text and api_json"
POSTS = "posts with question, projects and status"
LISTED = {BENCHMARKS: "benchmarks", REPORTS: "reports", TOOLS: "questions", POSTS: "posts"}
"""The name of the list in each kind of JSON file."""


def recognise(files: Sequence[SourceFile]) -> str | None:
    """Return what identifies the form in these files; None if nothing does."""
    kinds = {kind_of(file) for file in files}

    for kind in (*TABLES, *LISTED):
        if kind in kinds:
            return kind

    return None


def kind_of(file: SourceFile) -> str | None:
    """Return the kind of a Metaculus file; None if it is not one."""
    if suffix_of(file) == ".csv":
        names = header_names(file)

        for kind, needed in TABLES.items():
            if names >= needed:
                return kind

        return None

    first = first_object(file)
    results = first.get("results")

    if isinstance(results, list) and results and isinstance(results[0], dict):
        first = results[0]

    return kind_of_object(first)


def kind_of_object(first: Any) -> str | None:
    """Return the kind of objects in a JSON file, judged by the first."""
    question = first.get("question")
    is_report = isinstance(question, dict) and "question_text" in question

    if first.keys() >= {"forecast_bot_config", "forecast_reports"}:
        return BENCHMARKS
    if is_report and first.keys() & {"prediction", "prediction_in_decimal"}:
        return REPORTS
    if first.keys() >= {"question_text", "api_json"}:
        return TOOLS

    if is_post(first):
        return POSTS

    return None


def is_post(first: Any) -> bool:
    """Tell whether an object is a post of the API, with a question or a group of them."""
    question = first.get("question")
    has_question = isinstance(question, dict) and question.keys() >= {"type", "scaling", "resolution"}
    return first.keys() >= {"id", "title"} and (has_question or "group_of_questions" in first)


def read(files: Sequence[SourceFile]) -> SourceData:
    """Return the content of these files: questions, outcomes, forecasts, community predictions and scores."""
    found = MetaculusFiles()
    kinds = {file.name: kind_of(file) for file in files}

    # Forecasts are read by their question's range and options, so its table comes first.
    for wanted in (QUESTIONS, *LISTED, FORECASTS, SCORES):
        for file in files:
            if kinds[file.name] == wanted:
                read_file(file, wanted, found)

    return found.data()


def read_file(file: SourceFile, kind: str, found: MetaculusFiles) -> None:
    """Add the content of a file of a known kind."""
    if kind in TABLES:
        read_table(file, kind, found)
    else:
        for item in read_objects(file, LISTED[kind], found.faults):
            add_object(item, kind, found)


def read_table(file: SourceFile, kind: str, found: MetaculusFiles) -> None:
    """Add the rows of a table."""
    rows = read_rows(file, found.faults)

    if kind == SCORES:
        add_scores(rows, PurePosixPath(file.name).name, found)
    elif kind == QUESTIONS:
        for row in rows:
            add_question_row(row, found)
    else:
        for row in rows:
            add_forecast_row(row, found)


def add_object(item: SourceObject, kind: str, found: MetaculusFiles) -> None:
    """Add an object of a known kind."""
    if kind == BENCHMARKS:
        add_benchmark(item, found)
    elif kind == REPORTS:
        add_report(item, file_bot(item.place.file), found)
    elif kind == TOOLS and "question_text" in item.fields:
        add_tools_question(item, found)
    else:
        add_post(item, found)
