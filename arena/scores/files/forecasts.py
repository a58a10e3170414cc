"""A file of forecasts as a table that is right in itself: every question has one end and one life."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from arena.forms.csv_columns import (
    Cells,
    Flags,
    Floats,
    Ints,
    check_same_by_question,
    column_of_texts,
    has_plain_times,
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
    "owner",
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
    time of a record that goes on: what counts only later is open in it. Nobody is compared with those
    `outside`, unless others are named. `owners` says whose each forecaster is, if the file does. Rows are
    sorted by question, forecaster and time.
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
    dated: bool
    time: Floats | None = None
    end: Floats | None = None
    open: Floats | None = None
    close: Floats | None = None
    scheduled_close: Floats | None = None
    resolved: Floats | None = None
    spot: Floats | None = None
    forms: tuple[FormQuestion, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    as_of: float = math.inf
    outside: tuple[str, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict)

    def where(self, wanted: Flags) -> "ForecastTable":
        """The rows that are wanted; without a copy where all are."""
        return self if wanted.all() else self.take(np.flatnonzero(wanted))

    def take(self, rows: Ints, category: str | None = None) -> "ForecastTable":
        """Some of the rows, and the forms of one category; the names stay."""
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        taken: dict[str, Any] = {
            name: column[rows] for name, column in columns.items() if isinstance(column, np.ndarray)
        }
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
    owners = _read_owners(cells, who, forecasters)
    forms = form_rows(cells)
    if "probability" not in cells.columns and not forms.all():
        hint = "add it, or say which it is: --columns probability=NAME; "
        hint += "of numbers give cdf, density or quantiles q5, q50, …"
        cells.faults.add(1, "", "there is no column probability", hint)
        cells.faults.check()
    times = read_times(cells, TIME_COLUMNS, blank=TIME_COLUMNS[1:])
    dated = not has_plain_times(cells, times)
    if "end" in times and "time" not in times:
        cells.faults.add(1, "end", "it is there without a column time", "add time")
    others: tuple[FormQuestion, ...] = ()
    if forms.any():
        rows = np.flatnonzero(forms)
        _check_one_form(cells, forms)
        some, lived = cells.take(rows), {key: x[rows] for key, x in times.items()}
        ended = np.array([bool(text) for text in some.columns["outcome"]])
        check_question_times(some, lived, number_column(some.columns["question"])[0], ended)
        others = read_forms(some, lived)
        rest = np.flatnonzero(~forms)
        cells, who = cells.take(rest), who[rest]
        times = {key: x[rest] for key, x in times.items()}
    table = _yes_no_table(cells, who, forecasters, times, dated)
    cells.faults.check()
    return replace(table, forms=others, owners=owners)


def _read_owners(cells: Cells, who: Ints, forecasters: tuple[str, ...]) -> dict[str, str]:
    """Return whose each forecaster is, where the file has a column for that."""
    if "owner" not in cells.columns:
        return {}
    owner, names = number_column(cells.columns["owner"])
    check_same_by_question(cells, who, "owner", owner, of="forecaster")
    return {forecasters[place]: names[own] for place, own in zip(who.tolist(), owner.tolist(), strict=True)}


def _check_one_form(cells: Cells, forms: Flags) -> None:
    """A question is of yes or no, or of options or a number, in all its rows."""
    question = cells.columns["question"].code
    torn = np.flatnonzero(~forms & np.isin(question, question[forms]))

    def what(row: int) -> str:
        return f"{cells.shown('question', row)} has options or a number in other lines"

    cells.wrong("question", torn, what, "give a question one form in all its lines")


def _yes_no_table(
    cells: Cells, who: Ints, forecasters: tuple[str, ...], times: dict[str, Any], dated: bool
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
        **times,
    ).take(order)


def check_question_times(cells: Cells, times: dict[str, Floats], question: Ints, ended: Flags) -> None:
    """Times follow each other, and a question that has ended has all of them."""
    for column in [column for column in QUESTION_TIMES if column in times]:
        missing = np.flatnonzero(np.isnan(times[column]) & ended)
        cells.wrong(
            column, missing, lambda _: "it is empty, and the question has an outcome", "say when it was"
        )
    for early, late in TIME_ORDER:
        if {early, late} <= times.keys():
            _check_order(cells, times, early, late)
    end = next((column for column in ("scheduled_close", "close") if column in times), None)
    if end is not None and ("open" in times or "time" in times):
        _check_open_time(cells, times, question, end)


def _check_order(cells: Cells, times: dict[str, Floats], early: str, late: str) -> None:
    """One time comes no later than another."""
    is_own = early == "time" and late != "end"
    column, how, other = (early, "after", late) if is_own else (late, "before", early)

    def what(row: int) -> str:
        return f"{cells.shown(column, row)} is {how} its {other}, {cells.shown(other, row)}"

    wrong = np.flatnonzero(times[early] > times[late])
    cells.wrong(column, wrong, what, "correct one of them, or remove the line")


def _check_open_time(cells: Cells, times: dict[str, Floats], question: Ints, end: str) -> None:
    """A question is to be open for some time, from its opening or else its first forecast on."""
    begins, column = times.get("open"), "open"
    if begins is None:
        first, column = np.full(int(question.max(initial=-1)) + 1, np.inf), "time"
        np.fmin.at(first, question, times["time"])
        begins = first[question]
    unless = "with its first forecast unless a column open gives the time"
    when = "at that instant" if column == "open" else unless
    wrong = np.flatnonzero(begins >= times[end])
    if wrong.size:
        wrong = np.intersect1d(wrong, cells.sound("question", "open", "time"))
    cells.wrong(
        end,
        wrong,
        lambda row: f"{cells.shown(end, row)} is before the question opens, {when}",
        f"correct {end} or {column}",
    )


def check_duplicates(cells: Cells, question: Ints, forecaster: Ints, time: Floats | None) -> Ints:
    """The rows by question, forecaster and time; nobody forecasts a question twice at the same time."""
    at = np.zeros(question.size) if time is None else time
    order = np.lexsort((at, forecaster, question))
    same = np.ones(max(order.size - 1, 0), dtype=np.bool_)
    for column in (question, forecaster, at):
        same &= column[order][1:] == column[order][:-1]
    first = {int(order[place + 1]): int(order[place]) for place in np.flatnonzero(same)}

    def what(row: int) -> str:
        who = cells.columns["forecaster"][row][:40]
        when = "" if time is None else "at the same time "
        return f"{who!r} has forecast the same question {when}in line {cells.line(first[row])}"

    if not first:
        return order
    twice = np.intersect1d(list(first), cells.sound("question"))
    hint = "remove one of them" + ("; updates need a column time" if time is None else "")
    cells.wrong("forecaster", twice, what, hint)
    return order
