"""A file of forecasts as a table that is right in itself: every question has one end and one life."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arena.scores.files.csv_columns import (
    Cells,
    Flags,
    Floats,
    Ints,
    is_number,
    number_texts,
    parse_cells,
    parse_share,
    read_column,
    read_names,
    read_times,
)

REQUIRED_COLUMNS = ("question", "forecaster", "probability", "outcome")
TIME_COLUMNS = ("time", "open", "close", "scheduled_close", "resolved")
COLUMNS = (*REQUIRED_COLUMNS, *TIME_COLUMNS, "event", "market_probability", "category")

TIME_ORDER = (
    ("open", "scheduled_close"),
    ("open", "close"),
    ("open", "time"),
    ("time", "close"),
    ("time", "resolved"),
)
"""What comes no later than what."""

PROBABILITY_HINT = "write a probability of YES from 0 to 1, such as 0.35"
OUTCOME_HINT = "write 1 for yes, 0 for no or a fraction; leave it empty while the question is open"


@dataclass(frozen=True, slots=True)
class ForecastTable:
    """Forecasts as columns; questions, forecasters, events and categories as places among their names.

    `outcome` is NaN while a question is open, `market` where no price is known. Times are None where the file
    has no such column, and `dated` says whether they are dates or plain numbers. `event_column` says whether
    events come from the file: else a question is its own.
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
    open: Floats | None
    close: Floats | None
    scheduled_close: Floats | None
    resolved: Floats | None
    dated: bool

    def take(self, rows: Ints) -> "ForecastTable":
        """Some of the rows; the names stay."""
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
        return replace(self, **taken)


def read_forecasts(name: str, text: str) -> ForecastTable:
    """The table of a CSV text, by the name of its file. Raises `ArenaError` with line, column and a hint."""
    return check_forecasts(parse_cells(name, text, REQUIRED_COLUMNS, COLUMNS))


def check_forecasts(cells: Cells) -> ForecastTable:
    """The table of the cells of a file."""
    question, questions = read_names(cells, "question")
    forecaster, forecasters = read_names(cells, "forecaster")
    has = cells.columns.keys()
    outcome = read_column(cells, "outcome", parse_share, OUTCOME_HINT, blank=True)
    probability = read_column(cells, "probability", parse_share, PROBABILITY_HINT)
    market, event, events = None, question, questions
    if "market_probability" in has:
        market = read_column(cells, "market_probability", parse_share, PROBABILITY_HINT, blank=True)
    if "event" in has:  # a question without one is an event of its own
        named = zip(cells.columns["event"], question, strict=True)
        event, events = number_texts([text or f"question {questions[q]}" for text, q in named])
    category, categories = number_texts(cells.columns["category"]) if "category" in has else (None, ())
    times = read_times(cells, TIME_COLUMNS, blank=TIME_COLUMNS[1:])
    own = {"outcome": outcome, "event": event, "category": category}
    own |= {key: times.get(key) for key in TIME_COLUMNS[1:]}
    for column, values in own.items():
        if values is not None:
            check_same_by_question(cells, question, column, values)
    check_question_times(cells, times, question, ~np.isnan(outcome))
    check_duplicates(cells, question, forecaster, times.get("time"))
    return ForecastTable(
        name=cells.name,
        questions=questions,
        question=question,
        forecasters=forecasters,
        forecaster=forecaster,
        probability=probability,
        outcome=outcome,
        events=events,
        event=event,
        event_column="event" in has,
        categories=categories,
        category=category,
        market=market,
        dated=not any(is_number(text) for column in times for text in cells.columns[column] if text),
        **{column: times.get(column) for column in TIME_COLUMNS},
    )


def check_same_by_question(cells: Cells, question: Ints, column: str, values: Floats | Ints) -> None:
    """A question says the same in all its rows."""
    _, first = np.unique(question, return_index=True)
    before = values[first[question]]
    both_empty = (values != values) & (before != before)
    torn = np.flatnonzero((values != before) & ~both_empty)
    if torn.size:
        row = int(torn[0])
        other = int(first[question[row]])
        what = f"{cells.shown(column, row)}, but the same question has {cells.shown(column, other)} in line "
        hint = f"give a question one {column} in all its lines"
        raise cells.wrong(column, torn, f"{what}{cells.lines[other]}", hint)


def check_question_times(cells: Cells, times: dict[str, Floats], question: Ints, ended: Flags) -> None:
    """Times follow each other, and a question that has ended has all of them."""
    for column in [column for column in TIME_COLUMNS[1:] if column in times]:
        missing = np.flatnonzero(np.isnan(times[column]) & ended)
        if missing.size:
            raise cells.wrong(
                column, missing, "it is empty, and the question has an outcome", "say when it was"
            )
    for early, late in TIME_ORDER:
        wrong = np.flatnonzero(times[early] > times[late]) if {early, late} <= times.keys() else question[:0]
        if wrong.size:
            row = int(wrong[0])
            column, how, other = (early, "after", late) if early == "time" else (late, "before", early)
            what = f"{cells.shown(column, row)} is {how} its {other}, {cells.shown(other, row)}"
            raise cells.wrong(column, wrong, what, "correct one of them, or remove the line")
    end = next((column for column in ("scheduled_close", "close") if column in times), None)
    if end is not None and ("open" in times or "time" in times):
        _check_open_time(cells, times, question, end)


def _check_open_time(cells: Cells, times: dict[str, Floats], question: Ints, end: str) -> None:
    """A question is to be open for some time, from its opening or else its first forecast on."""
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


def check_duplicates(cells: Cells, question: Ints, forecaster: Ints, time: Floats | None) -> None:
    """Nobody forecasts a question twice at the same time."""
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
        raise cells.wrong("forecaster", [row for row, _ in pairs], f"{what}{cells.lines[first]}", hint)
