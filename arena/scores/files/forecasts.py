"""A file of forecasts as a table that is right in itself: every question has one end and one life."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arena.errors import ArenaError
from arena.scores.files.csv_columns import (
    Cells,
    Flags,
    Floats,
    Ints,
    check_same_by_question,
    column_of_texts,
    is_number,
    number_column,
    parse_cells,
    parse_outcome,
    parse_share,
    read_column,
    read_names,
    read_times,
)
from arena.scores.files.question_forms import FORM_COLUMNS, FormQuestion, form_rows, own_event, read_forms

REQUIRED_COLUMNS = ("question", "forecaster", "outcome")
QUESTION_TIMES = ("open", "close", "scheduled_close", "resolved")
TIME_COLUMNS = ("time", "end", *QUESTION_TIMES, "spot")
COLUMNS = (
    *REQUIRED_COLUMNS,
    "probability",
    *TIME_COLUMNS,
    "event",
    "market_probability",
    "category",
    *FORM_COLUMNS,
)

TIME_ORDER = (
    ("open", "scheduled_close"),
    ("open", "close"),
    ("open", "time"),
    ("time", "close"),
    ("time", "resolved"),
    ("time", "end"),
)
"""What comes no later than what."""

PROBABILITY_HINT = "write a probability of YES from 0 to 1, such as 0.35 or 35%"
OUTCOME_HINT = "write 1 or yes, 0 or no, or a fraction; leave it empty while the question is open"


@dataclass(frozen=True, slots=True)
class ForecastTable:
    """Forecasts as columns; questions, forecasters, events and categories as places among their names.

    `outcome` is NaN while a question is open, `market` where no price is known. Times are None where the file
    has no such column, and `dated` says whether they are dates or plain numbers. `event_column` says whether
    events come from the file: else a question is its own. `forms` are the questions that are not of yes or
    no, `ignored` the columns that were not read, and `notes` what else was left out. `as_of` is the newest
    time of a record that goes on: what counts only later is open in it. Rows are sorted by question,
    forecaster and time.
    """

    name: str
    questions: tuple[str, ...]
    question: Ints
    forecasters: tuple[str, ...]
    forecaster: Ints
    probability: Floats
    outcome: Floats
    events: tuple[str, ...]
    event: Ints
    event_column: bool
    categories: tuple[str, ...]
    category: Ints | None
    market: Floats | None
    time: Floats | None
    end: Floats | None
    open: Floats | None
    close: Floats | None
    scheduled_close: Floats | None
    resolved: Floats | None
    spot: Floats | None
    dated: bool
    forms: tuple[FormQuestion, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    as_of: float = math.inf

    def take(self, rows: Ints, category: str | None = None) -> "ForecastTable":
        """Some of the rows, and the forms of one category; the names stay."""
        columns = (
            "question",
            "forecaster",
            "probability",
            "outcome",
            "event",
            "category",
            "market",
            *TIME_COLUMNS,
        )
        taken: dict[str, Any] = {}
        for name in columns:
            values = getattr(self, name)
            taken[name] = None if values is None else values[rows]
        forms = self.forms if category is None else [x for x in self.forms if x.category == category]
        return replace(self, **taken, forms=tuple(forms))


def read_forecasts(name: str, text: str, named: Mapping[str, str] | None = None) -> ForecastTable:
    """The table of a text, by the name of its file; `named` says what the file calls our columns.

    Raises `ArenaError` with line, column and a hint.
    """
    return check_forecasts(parse_cells(name, text, REQUIRED_COLUMNS, COLUMNS, named))


def check_forecasts(cells: Cells) -> ForecastTable:
    """The table of the cells of a file."""
    who, forecasters = read_names(cells, "forecaster")
    read_names(cells, "question")
    forms = form_rows(cells)
    if "probability" not in cells.columns and not forms.all():
        raise ArenaError(
            "bad_file",
            f"{cells.name}:1: there is no column probability",
            "add it, or say which it is: --columns probability=NAME; "
            "of numbers give cdf, density or quantiles q5, q50, …",
        )
    times = read_times(cells, TIME_COLUMNS, blank=TIME_COLUMNS[1:])
    dated = not any(is_number(text) for column in times for text in cells.columns[column].texts if text)
    if "end" in times and "time" not in times:
        raise ArenaError("bad_file", f"{cells.name}:1: there is a column end and none named time", "add time")
    others: tuple[FormQuestion, ...] = ()
    if forms.any():
        rows = np.flatnonzero(forms)
        _check_one_form(cells, forms)
        check_question_times(
            cells.take(rows), {key: x[rows] for key, x in times.items()}, *_ended(cells.take(rows))
        )
        others = read_forms(cells.take(rows), {key: x[rows] for key, x in times.items()})
        rest = np.flatnonzero(~forms)
        cells, who = cells.take(rest), who[rest]
        times = {key: x[rest] for key, x in times.items()}
    table = _yes_no_table(cells, who, forecasters, times, dated)
    return replace(table, forms=others)


def _check_one_form(cells: Cells, forms: Flags) -> None:
    """A question is of yes or no, or of options or a number, in all its rows."""
    question = cells.columns["question"].code
    torn = np.flatnonzero(~forms & np.isin(question, question[forms]))
    if torn.size:
        what = f"{cells.shown('question', int(torn[0]))} has options or a number in other lines"
        raise cells.wrong("question", torn, what, "give a question one form in all its lines")


def _ended(cells: Cells) -> tuple[Ints, Flags]:
    """Each row's question, and whether it says how that ended."""
    return number_column(cells.columns["question"])[0], np.array([bool(x) for x in cells.columns["outcome"]])


def _yes_no_table(
    cells: Cells, who: Ints, forecasters: tuple[str, ...], times: dict[str, Floats], dated: bool
) -> ForecastTable:
    """The table of the rows of yes/no questions."""
    has = cells.columns.keys()
    question, questions = number_column(cells.columns["question"])
    outcome = read_column(cells, "outcome", parse_outcome, OUTCOME_HINT, blank=True)
    probability = read_column(cells, "probability", parse_share, PROBABILITY_HINT) if len(cells) else outcome
    market, event, events = None, question, questions
    if "market_probability" in has:
        market = read_column(cells, "market_probability", parse_share, PROBABILITY_HINT, blank=True)
    if "event" in has:  # a question without one is an event of its own
        named = zip(cells.columns["event"], question.tolist(), strict=True)
        event, events = number_column(column_of_texts([text or own_event(questions[q]) for text, q in named]))
    category, categories = number_column(cells.columns["category"]) if "category" in has else (None, ())
    own = {"outcome": outcome, "event": event, "category": category}
    own |= {key: times.get(key) for key in (*QUESTION_TIMES, "spot")}
    for column, values in own.items():
        if values is not None:
            check_same_by_question(cells, question, column, values)
    check_question_times(cells, times, question, ~np.isnan(outcome))
    order = check_duplicates(cells, question, who, times.get("time"))
    return ForecastTable(
        name=cells.name,
        questions=questions,
        question=question,
        forecasters=forecasters,
        forecaster=who,
        probability=probability,
        outcome=outcome,
        events=events,
        event=event,
        event_column="event" in has,
        categories=categories,
        category=category,
        market=market,
        dated=dated,
        ignored=cells.ignored,
        time=times.get("time"),
        end=times.get("end"),
        open=times.get("open"),
        close=times.get("close"),
        scheduled_close=times.get("scheduled_close"),
        resolved=times.get("resolved"),
        spot=times.get("spot"),
    ).take(order)


def check_question_times(cells: Cells, times: dict[str, Floats], question: Ints, ended: Flags) -> None:
    """Times follow each other, and a question that has ended has all of them."""
    for column in [column for column in QUESTION_TIMES if column in times]:
        missing = np.flatnonzero(np.isnan(times[column]) & ended)
        if missing.size:
            raise cells.wrong(
                column, missing, "it is empty, and the question has an outcome", "say when it was"
            )
    for early, late in TIME_ORDER:
        wrong = np.flatnonzero(times[early] > times[late]) if {early, late} <= times.keys() else question[:0]
        if wrong.size:
            row = int(wrong[0])
            is_own = early == "time" and late != "end"
            column, how, other = (early, "after", late) if is_own else (late, "before", early)
            what = f"{cells.shown(column, row)} is {how} its {other}, {cells.shown(other, row)}"
            raise cells.wrong(column, wrong, what, "correct one of them, or remove the line")
    end = next((column for column in ("scheduled_close", "close") if column in times), None)
    if end is not None and ("open" in times or "time" in times):
        _check_open_time(cells, times, question, end)


def _check_open_time(cells: Cells, times: dict[str, Floats], question: Ints, end: str) -> None:
    """A question is to be open for some time, from its opening or else its first forecast on."""
    if not question.size:
        return
    begins, column = times.get("open"), "open"
    if begins is None:
        first, column = np.full(int(question.max()) + 1, np.inf), "time"
        np.minimum.at(first, question, times["time"])
        begins = first[question]
    wrong = np.flatnonzero(begins >= times[end])
    if wrong.size:
        unless = "with its first forecast unless a column open says when"
        when = "at that instant" if column == "open" else unless
        what = f"{cells.shown(end, int(wrong[0]))} is before the question opens, {when}"
        raise cells.wrong(end, wrong, what, f"correct {end} or {column}")


def check_duplicates(cells: Cells, question: Ints, forecaster: Ints, time: Floats | None) -> Ints:
    """The rows by question, forecaster and time; nobody forecasts a question twice at the same time."""
    at = np.zeros(question.size) if time is None else time
    order = np.lexsort((at, forecaster, question))
    same = np.ones(max(order.size - 1, 0), dtype=np.bool_)
    for column in (question, forecaster, at):
        same &= column[order][1:] == column[order][:-1]
    twice = np.flatnonzero(same)
    if twice.size:
        pairs = sorted((int(order[place + 1]), int(order[place])) for place in twice)
        row, first = pairs[0]
        who = cells.columns["forecaster"][row][:40]
        what = f"{who!r} has forecast the same question {'' if time is None else 'at the same time '}in line "
        hint = "remove one of them" + ("; updates need a column time" if time is None else "")
        raise cells.wrong("forecaster", [row for row, _ in pairs], f"{what}{cells.line_of(first)}", hint)
    return order
