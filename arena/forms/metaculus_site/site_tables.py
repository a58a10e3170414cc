"""Tables to download from Metaculus: of questions, of forecasts and of scores."""

import ast
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from statistics import fmean
from typing import Any

from arena.forms.metaculus_site.site_questions import (
    BINARY,
    CHOICE,
    COMMUNITY,
    DATE,
    KINDS,
    CommunityPrediction,
    MetaculusFiles,
    QuestionFacts,
    SiteForecast,
    read_scale,
    stated_forecast,
    stated_values,
)
from arena.forms.model import PublishedFigure
from arena.forms.objects import SourceObject, quoted_value
from arena.forms.rules.number_scales import NumberScale, number_or_date

QUESTION = "Question ID"
BOUNDS = ("Lower Bound", "Upper Bound")
NAMES = ("Forecaster Username", "Forecaster (Anonymized)", "Forecaster ID")
USERS = ("User Username", "User (Anonymized)", "User ID")
OPTIONS = ("MC Options (All)", "MC Options (Current)", "MC Options")
"""The columns of a question's options; forecasts list them in the order of the first non-empty one."""
MOST_LISTED = 100_000
"""The most characters of a list in a cell."""
MOST_GROWTH = 1e12
"""The most that steps may grow from an end to the middle of a range."""


def add_question_row(row: SourceObject, found: MetaculusFiles) -> None:
    """Add a question of question_data.csv."""
    key = row.needed(QUESTION, "give the question's number")
    kind = row.text("Question Type")

    if kind not in KINDS:
        found.left_out["left out: questions of other kinds"] += 1
        return
    if not key:
        return
    if kind == DATE:
        found.left_out["questions whose range of dates this table gives to the day"] += 1
    if row.number("Question Weight") not in (None, 1.0):
        found.left_out["questions with a weight other than 1, which is not used"] += 1

    facts = QuestionFacts(
        key,
        kind,
        title=row.text("Question Title"),
        post=row.text("Post ID"),
        options=read_options(row, kind),
        scale=row_scale(row, kind),
        open_low=row.flag("Open Lower Bound"),
        open_high=row.flag("Open Upper Bound"),
        opened=row.time("Open Time"),
        closes=row.time("Actual Close Time") or row.time("Scheduled Close Time"),
        scheduled_close=row.time("Scheduled Close Time"),
        spot=row.time("CP Reveal Time"),
        resolution=row.text("Resolution"),
        resolved=row.time("Resolution Known Time"),
    )
    found.add_question(facts, row, "Resolution")


def read_options(row: SourceObject, kind: str) -> tuple[str, ...]:
    """Return the options of a multiple choice question; none for other kinds."""
    if kind != CHOICE:
        return ()

    # All options include removed ones; the current ones are listed alone if none was ever removed.
    filled_columns = [name for name in OPTIONS if row.text(name)] or ["MC Options"]
    column = filled_columns[0]
    options = tuple(str(option).strip() for option in read_list(row, column))

    if not options:
        row.note_fault(column, "it names no options", "list their names in brackets")

    return options


def read_list(row: SourceObject, name: str) -> list[Any]:
    """Return the list in a cell, in JSON or Python notation; note a fault if it is neither."""
    text = row.text(name)
    values: Any = None

    if not text:
        return []

    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = python_list(text)

    if isinstance(values, list):
        return values

    row.note_fault(name, f"{quoted_value(text)} is not a list", "write a list in brackets")
    return []


def python_list(text: str) -> Any:
    """Return the value of a Python literal; None if it is invalid."""
    if len(text) > MOST_LISTED:
        return None

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def row_scale(row: SourceObject, kind: str) -> NumberScale | None:
    """Return the range of a number; the middle of the listed values shows whether it is logarithmic."""
    even_scale = read_scale(row, BOUNDS, kind, ratio=1.0)
    listed_values = read_list(row, "Continuous Range")

    if even_scale is None or len(listed_values) % 2 == 0:
        return even_scale

    middle_value = number_or_date(listed_values[len(listed_values) // 2], even_scale.is_date)

    # A range of dates is written to the day, so its middle is not exact.
    if middle_value is None or even_scale.is_date or not even_scale.low < middle_value < even_scale.high:
        return even_scale

    # The middle divides a logarithmic range in two, of which the upper half is so many times as wide.
    upper_to_lower_half = (even_scale.high - even_scale.low) / (middle_value - even_scale.low) - 1

    if not 1 / MOST_GROWTH < upper_to_lower_half < MOST_GROWTH:
        return even_scale

    return replace(even_scale, ratio=upper_to_lower_half**2)


def add_forecast_row(row: SourceObject, found: MetaculusFiles) -> None:
    """Add a row of forecast_data.csv: a forecast of a user, or of the community."""
    key = row.needed(QUESTION, "give the question's number")
    forecaster = first_text(row, NAMES)
    start = row.time("Start Time")
    facts = found.questions.get(key, QuestionFacts(key, BINARY))

    if not key:
        return
    if key not in found.questions and not row.text("Probability Yes"):
        found.left_out["left out: forecasts of questions that question_data.csv doesn't describe"] += 1
        return
    if not forecaster:
        row.note_fault(NAMES[0], "it is empty", "name the forecaster")
        return

    stated = row_values(facts, row)
    is_aggregated = bool(row.text("Forecaster Count"))

    if is_aggregated:
        found.outside.add(forecaster)
    if is_aggregated and forecaster == COMMUNITY and start is not None:
        found.community[key].append(CommunityPrediction(start, stated))

    forecast = stated_forecast(facts, forecaster, row, stated)
    found.forecasts.append(replace(forecast, made=start, ends=row.time("End Time")))


def first_text(row: SourceObject, names: Iterable[str]) -> str:
    """Return the first of some cells that is not empty."""
    for name in names:
        text = row.text(name)

        if text:
            return text

    return ""


def row_values(facts: QuestionFacts, row: SourceObject) -> SiteForecast:
    """Return the forecast in a row."""
    if facts.kind == BINARY:
        return SiteForecast(probability=row.probability("Probability Yes"))

    name = "Continuous CDF"

    if facts.kind == CHOICE:
        name = "Probability Yes Per Category"

    return stated_values(facts, read_list(row, name), row, name)


def add_scores(rows: Iterable[SourceObject], name: str, found: MetaculusFiles) -> None:
    """Add the mean of each user's scores of each type in score_data.csv."""
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)

    for row in rows:
        user = first_text(row, USERS)
        kind = row.text("Score Type")
        score = row.number("Score")

        if not user or not kind:
            row.note_fault("Score Type", "it lacks a user or a type", "fill in both")
        elif score is not None:
            scores[user, kind].append(score)

    for (user, kind), values in scores.items():
        how = f"mean of Score over its {len(values)} questions in {name}"
        found.published.append(PublishedFigure(user, kind, fmean(values), how))
