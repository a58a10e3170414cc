"""Answers to a question set of ForecastBench: written in its form, and checked against the set."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from arena.errors import ArenaError, FileFault, count_text
from arena.forms.bench.bench_rows import in_row_order
from arena.forms.bench.model import HALVES, Asked, BenchForecast, BenchQuestion, ForecastFile, QuestionSet
from arena.forms.bench.reading import read_forecast_file

ANSWER_COLUMNS = ("source", "id", "resolution_date", "forecast", "reasoning")
LEAST_ANSWERED = 0.95
"""The share of market rows, and of data rows, below which a submission is dropped."""


@dataclass(frozen=True, slots=True)
class Submitter:
    """Who files forecasts: the team, its model, the model's lab, and the number of the team's file."""

    organization: str
    model: str
    lab: str
    number: int = 1


def submission(
    file: str, text: str, submitter: Submitter, question_set: QuestionSet
) -> tuple[dict[str, Any], ForecastFile, list[FileFault]]:
    """Return a submission in the published form from a CSV of answers, with all of its faults."""
    lines = csv.DictReader(io.StringIO(text, newline=""))
    columns = tuple(lines.fieldnames or ())
    _check_columns(file, columns)
    try:
        rows = list(lines)
    except csv.Error as error:
        what = f"{file}:{lines.line_num + 1}: invalid CSV ({error})"
        raise ArenaError("bad_file", what, "shorten the text in its cells") from error

    faults = []
    answers = []
    combination_of_name = _pairs_by_name(question_set)
    for row, cells in enumerate(rows, 1):
        answers.append(_published_answer(cells, combination_of_name))
        if None in cells:
            what = "it has more cells than the first line"
            hint = "put texts with commas in quotes"
            faults.append(FileFault(file, "row", what, hint, part="forecasts", row=row))

    data = {
        "organization": submitter.organization,
        "model": submitter.model,
        "model_organization": submitter.lab,
        "question_set": question_set.name,
        "forecast_due_date": question_set.due,
        "forecasts": answers,
    }
    forecast_file, file_faults = read_forecast_file(
        file, json.dumps(data), combinations=bool(combination_of_name)
    )
    return (
        data,
        forecast_file,
        in_row_order([*faults, *file_faults, *check_answers(forecast_file, question_set)]),
    )


def _check_columns(file: str, columns: Sequence[str]) -> None:
    """Raise `ArenaError` if a column is missing or unknown."""
    what = ""
    for name in columns:
        if name not in ANSWER_COLUMNS:
            what = f"column {name!r} is unknown"
    for name in reversed(ANSWER_COLUMNS[:-1]):
        if name not in columns:
            what = f"there is no column {name}"
    if what:
        raise ArenaError("bad_file", f"{file}:1: {what}", f"its columns are {', '.join(ANSWER_COLUMNS)}")


def _pairs_by_name(asked: QuestionSet) -> dict[str, tuple[list[str], list[int]]]:
    """Return both ids of each combination and their directions, by the name that answers use."""
    combination_of_name = {}
    for question in asked.questions:
        if question.combined:
            for name, directions in question.ways.items():
                combination_of_name[name] = (question.texts["id"], list(directions))
    return combination_of_name


def _published_answer(
    cells: Mapping[str, str], combination_of_name: Mapping[str, tuple[list[str], list[int]]]
) -> dict[str, Any]:
    """Return a row of the published form; a forecast that is not a number is kept, and becomes a fault."""
    stated = (cells["forecast"] or "").strip()
    forecast: float | str = stated
    with suppress(ValueError):
        forecast = float(stated)
    answer: dict[str, Any] = {
        "id": cells["id"],
        "source": cells["source"],
        "forecast": forecast,
        "resolution_date": cells["resolution_date"] or None,
        "reasoning": cells.get("reasoning") or None,
    }
    if cells["id"] in combination_of_name:
        ids, directions = combination_of_name[cells["id"]]
        answer["id"] = ids
        answer["direction"] = directions
    return answer


def check_answers(filed: ForecastFile, asked: QuestionSet) -> Iterator[FileFault]:
    """Yield the faults of a file as an answer to a set: ids, dates, and coverage."""
    if filed.due != asked.due:
        hint = f'write "{asked.due}", or check it against its own question set'
        yield FileFault(filed.file, "forecast_due_date", f"it is not {asked.due}, as of the set", hint)
    if filed.question_set != asked.name:
        yield FileFault(filed.file, "question_set", f"it is not {asked.name}", f'write "{asked.name}"')

    questions = {}
    for question in asked.questions:
        for name in question.ids:
            questions[question.source, name] = question

    for row in filed.rows:
        question_answered = questions.get((row.source, row.id))
        if question_answered is None:
            what = f"{row.id!r} of {row.source} is not in {asked.name}"
            hint = "remove the row or correct id or source"
            yield FileFault(filed.file, "id", what, hint, part="forecasts", row=row.row)
        else:
            yield from _date_faults(filed.file, row, question_answered)

    if all(row.user is None for row in filed.rows):
        yield from _coverage_faults(filed, asked)


def _date_faults(file: str, row: BenchForecast, question: BenchQuestion) -> Iterator[FileFault]:
    """Yield the fault in an answer's date."""
    what = ""
    hint = f"one of {', '.join(question.dates)}"
    if question.is_market and row.date is not None:
        what = f"{row.date} is given, but {row.source} is a market, which is asked once"
        hint = "write null"
    elif question.dates and row.date is None:
        what = "there is none, and the question has several"
        hint = f"one of {question.dates[0]} …"
    elif question.dates and row.date not in question.dates:
        what = f"{row.date} is not asked"

    if what:
        yield FileFault(file, "resolution_date", what, hint, part="forecasts", row=row.row)


def _coverage_faults(filed: ForecastFile, asked: QuestionSet) -> Iterator[FileFault]:
    """Yield the halves of which too few rows are answered."""
    answered = {row.asked for row in filed.rows if row.is_stated}
    for kind, (have, wanted) in coverage(answered, asked).items():
        if wanted and have < LEAST_ANSWERED * wanted:
            what = f"{have} of {count_text(wanted, f'{kind} row')} are answered, {have / wanted:.1%}"
            yield FileFault(filed.file, "forecasts", what, "at least 95% of each half are needed")


def coverage(answered: Set[Asked], asked: QuestionSet) -> dict[str, tuple[int, int]]:
    """Return the number of answered rows of each half, and of all rows."""
    halves: dict[str, tuple[int, int]] = {"market": (0, 0), "dataset": (0, 0)}
    for question in asked.questions:
        half = HALVES[question.is_market]
        answered_count, row_count = halves[half]
        rows = question.asked
        halves[half] = answered_count + sum(row in answered for row in rows), row_count + len(rows)
    return halves
