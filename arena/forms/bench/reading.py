"""Reads ForecastBench's published files, in today's form and earlier ones since 2024.

Headers may have `question-set`, individual forecasters a `user_id`; processed files carry their resolutions,
and questions may combine two others ("combinations"). Reading collects every fault with its row, field and
remedy, and corrects nothing silently. It takes text; commands read the files.
"""

from collections.abc import Callable, Mapping
from math import nan
from typing import Any

from arena.errors import FileFault, FileFaults
from arena.forms.bench.bench_rows import SHARE_HINT, RowReader, in_row_order, is_nothing, short_text
from arena.forms.bench.model import (
    MARKET_SOURCES,
    NOTHING,
    Asked,
    BenchForecast,
    BenchQuestion,
    BenchResolution,
    ForecastFile,
    QuestionSet,
    ResolutionSet,
    is_day,
    probability_or_none,
)

QUESTION_FIELDS = (
    "id", "source", "question", "resolution_criteria", "background", "market_info_open_datetime",
    "market_info_close_datetime", "market_info_resolution_criteria", "url", "freeze_datetime",
    "freeze_datetime_value", "freeze_datetime_value_explanation", "source_intro",
)  # fmt: skip
PAIR_FIELDS = ("id", "source", "question", "combination_of")
"""The fields that a combination needs."""
FORECAST_FIELDS = frozenset({
    "id", "source", "forecast", "resolution_date", "reasoning", "direction", "user_id", "searches",
    "consulted_urls", "resolved_to", "resolved", "imputed", "market_value_on_due_date",
    "market_value_on_due_date_minus_one",
})  # fmt: skip

Reading = Callable[[str, str, bool], tuple[Any, list[FileFault]]]


def strictly(read: Reading, file: str, text: str, combinations: bool = False) -> Any:
    """Return the content of a file; raise `FileFaults` if it has any fault."""
    found, faults = read(file, text, combinations)
    if faults:
        raise FileFaults(in_row_order(faults))
    return found


def read_question_set(
    file: str, text: str, combinations: bool = False
) -> tuple[QuestionSet, list[FileFault]]:
    """Return a question set and its faults. Combinations are left out unless they are wanted."""
    reader = RowReader(file, "questions")
    data = reader.document(text)
    questions: dict[tuple[str, str], BenchQuestion] = {}
    left_out = 0

    for row, item in reader.rows(data):
        if isinstance(item.get("id"), list) and not combinations:
            left_out += 1
            continue
        question = _read_bench_question(reader, row, item)
        if question is None:
            continue
        key = question.source, question.id
        if key in questions:
            what = f"{question.id!r} of {question.source} appears twice"
            reader.note_fault(row, "id", what, "keep one of them")
        questions[key] = question

    name = reader.header(data, "question_set")
    return QuestionSet(name, reader.due(data), tuple(questions.values()), left_out), reader.faults


def _read_bench_question(reader: RowReader, row: int, item: Mapping[str, Any]) -> BenchQuestion | None:
    """Return a question of a set; None if it can't be read."""
    key = reader.key(row, item)
    is_pair = isinstance(item.get("id"), list)
    needed_fields = PAIR_FIELDS if is_pair else QUESTION_FIELDS
    missing_fields = [name for name in needed_fields if name not in item]
    for name in missing_fields:
        reader.note_fault(row, name, "it is missing", f'say "{NOTHING}" where there is none')

    days = item.get("resolution_dates", NOTHING)
    dates: tuple[Any, ...] = ()
    if isinstance(days, list):
        dates = tuple(days)
    elif days != NOTHING:
        dates = (str(days),)
    for day in dates:
        if not isinstance(day, str) or not is_day(day):
            reader.note_fault(row, "resolution_dates", f"{day!r} is not a day", "write it like 2026-03-08")

    if key is None or missing_fields or (is_pair and not _are_parts_whole(reader, row, item)):
        return None
    return BenchQuestion(*key, dates, is_pair, item)


def _are_parts_whole(reader: RowReader, row: int, item: Mapping[str, Any]) -> bool:
    """Tell whether a combination has the two questions that it names, noting faults in them."""
    parts = item["combination_of"]
    ids = item["id"]
    is_list = isinstance(parts, list) and all(isinstance(part, dict) for part in parts)
    if not is_list or [part.get("id") for part in parts] != ids:
        what = f"it does not hold the questions {short_text(ids)}"
        reader.note_fault(
            row, "combination_of", what, "write both questions in a list, in the order of the ids"
        )
        return False

    is_whole = True
    for number, part in enumerate(parts, 1):
        for name in QUESTION_FIELDS:
            if name not in part:
                hint = f'say "{NOTHING}" where there is none'
                reader.note_fault(row, "combination_of", f"question {number}: {name} is missing", hint)
                is_whole = False
        if part.get("source") != item["source"]:
            what = f"question {number} is of {short_text(part.get('source'))}"
            reader.note_fault(row, "combination_of", what, f"combine questions of {item['source']}")
            is_whole = False
    return is_whole


def read_resolution_set(
    file: str, text: str, combinations: bool = False
) -> tuple[ResolutionSet, list[FileFault]]:
    """Return a resolution set and its faults."""
    reader = RowReader(file, "resolutions")
    data = reader.document(text)
    rows: dict[Asked, BenchResolution] = {}
    left_out = 0
    without_value = 0

    for row, item in reader.rows(data):
        if isinstance(item.get("id"), list) and not combinations:
            left_out += 1
            continue

        key = reader.key(row, item)
        day = reader.day(row, item.get("resolution_date"))
        resolved = item.get("resolved")
        if not isinstance(resolved, bool):
            reader.note_fault(row, "resolved", f"{resolved!r} is neither true nor false", "say which")
        value = item.get("resolved_to")
        if is_nothing(value):
            without_value += 1
            continue

        share = reader.share(row, "resolved_to", value)
        if key is None or day is None or share is None:
            continue
        resolved_question = *key, day
        if resolved_question in rows:
            reader.note_fault(row, "id", f"{key[1]!r} of {key[0]} is resolved at {day} twice", "keep one")
        rows[resolved_question] = BenchResolution(*resolved_question, share, bool(resolved))

    name = reader.header(data, "question_set", "question-set")
    due = reader.due(data)
    return ResolutionSet(name, due, tuple(rows.values()), left_out, without_value), reader.faults


def read_forecast_file(
    file: str, text: str, combinations: bool = False
) -> tuple[ForecastFile, list[FileFault]]:
    """Return a file of forecasts and its own faults.

    `check_answers` tells whether it answers a question set.
    """
    reader = RowReader(file, "forecasts")
    data = reader.document(text)
    forecast_of_key: dict[tuple[str | None, Asked], BenchForecast] = {}
    left_out = 0
    unanswered = 0

    for row, item in reader.rows(data):
        if isinstance(item.get("id"), list) and not combinations:
            left_out += 1
        elif is_nothing(item.get("forecast", "")) and "resolved" in item:
            unanswered += 1
        else:
            _keep_newest(reader, forecast_of_key, _read_forecast(reader, row, item))

    header = reader.header
    forecast_file = ForecastFile(
        file,
        organization=header(data, "organization"),
        model=header(data, "model"),
        lab=str(data.get("model_organization") or data.get("organization") or ""),
        question_set=header(data, "question_set", "question-set"),
        due=reader.due(data),
        rows=tuple(forecast_of_key.values()),
        combinations=left_out,
        unanswered=unanswered,
    )
    return forecast_file, reader.faults


def _keep_newest(
    reader: RowReader,
    forecast_of_key: dict[tuple[str | None, Asked], BenchForecast],
    forecast: BenchForecast | None,
) -> None:
    """Keep a forecast; if a processed file recorded a market more than once, keep the newest."""
    if forecast is None:
        return

    key = forecast.user, forecast.asked
    earlier_forecast = forecast_of_key.setdefault(key, forecast)
    if forecast.noted != earlier_forecast.noted and forecast.forecast == earlier_forecast.forecast:
        forecast_of_key[key] = max(earlier_forecast, forecast, key=lambda row: row.noted or "")
    elif earlier_forecast is not forecast:
        what = f"{forecast.id!r} of {forecast.source} is answered in row {earlier_forecast.row} already"
        reader.note_fault(forecast.row, "id", what, "keep one of them")


def _read_forecast(reader: RowReader, row: int, item: Mapping[str, Any]) -> BenchForecast | None:
    """Return a row of forecasts; None if it can't be read."""
    is_processed = isinstance(item.get("resolved"), bool)
    _check_fields(reader, row, item)
    key = reader.key(row, item)
    probability = None
    if "forecast" in item:
        probability = reader.share(row, "forecast", item["forecast"])

    asked_day = None
    resolution_date = item.get("resolution_date")
    if not is_nothing(resolution_date) and resolution_date != NOTHING:
        asked_day = reader.day(row, resolution_date)
        if asked_day is None:
            return None
    if key is None:
        return None

    noted_on = None
    if is_processed and key[0] in MARKET_SOURCES:
        noted_on = asked_day
        asked_day = None
    value = item.get("resolved_to")
    has_value = is_processed and not is_nothing(value)
    user = item.get("user_id")
    return BenchForecast(
        row,
        *key,
        asked_day,
        nan if probability is None else probability,
        user=None if user is None else str(user),
        value=reader.share(row, "resolved_to", value) if has_value else None,
        resolved=item["resolved"] if is_processed else None,
        imputed=item.get("imputed") is True,
        crowd=probability_or_none(item.get("market_value_on_due_date")),
        noted=noted_on,
        reason=str(item.get("reasoning") or ""),
    )


def _check_fields(reader: RowReader, row: int, item: Mapping[str, Any]) -> None:
    """Note unknown fields, and reasoning that is not text."""
    if "resolved" not in item:
        for name in item.keys() - FORECAST_FIELDS:
            reader.note_fault(row, str(name), "there is no such field", "remove it or correct its name")
    if "forecast" not in item:
        reader.note_fault(row, "forecast", "it is missing", SHARE_HINT)

    reasoning = item.get("reasoning")
    if not (reasoning is None or isinstance(reasoning, str)):
        reader.note_fault(row, "reasoning", "it is not a text", "write a text or null")
