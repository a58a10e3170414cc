"""Checks of rows against each other: the order of times, and one forecast of a question at a time."""

from collections.abc import Mapping

import numpy as np

from arena.errors import count_text
from arena.forms.csv_columns import Cells, Flags, Floats, Ints, Rows
from arena.scores.files.coarse_keys import COARSE, coarse_hint

QUESTION_TIMES = ("open", "close", "scheduled_close", "resolved")
TIME_ORDER = (
    ("open", "scheduled_close"),
    ("open", "close"),
    ("open", "time"),
    ("time", "close"),
    ("time", "resolved"),
    ("time", "end"),
)
"""Pairs of times of which the first is never later than the second."""
NO_TIME = "it is empty, and the question has an outcome"


def check_question_times(cells: Cells, times: dict[str, Floats], question: Ints, ended: Flags) -> None:
    """Note times that are out of order, and ended questions that lack one."""
    for column in QUESTION_TIMES:
        if column in times:
            missing = np.flatnonzero(np.isnan(times[column]) & ended)
            cells.note_fault(column, missing, lambda _: NO_TIME, "say when it was", "missing")

    for early, late in TIME_ORDER:
        if {early, late} <= times.keys():
            _check_order(cells, times, early, late)

    if "open" not in times and "time" not in times:
        return
    if "scheduled_close" in times:
        _check_opens_before(cells, times, question, "scheduled_close")
    elif "close" in times:
        _check_opens_before(cells, times, question, "close")


def _check_order(cells: Cells, times: Mapping[str, Floats], earlier: str, later: str) -> None:
    """Note rows in which one time is later than another."""
    # The fault is noted at the forecast's own time if that is one of the two, else at the later time.
    column = later
    how = "before"
    other = earlier
    if earlier == "time" and later != "end":
        column = earlier
        how = "after"
        other = later

    def what(row: int) -> str:
        return f"{cells.shown(column, row)} is {how} its {other}, {cells.shown(other, row)}"

    wrong = np.flatnonzero(times[earlier] > times[later])
    cells.note_fault(column, wrong, what, "correct one of them, or remove the line", f"{how} {other}")


def _check_opens_before(cells: Cells, times: Mapping[str, Floats], question: Ints, end_column: str) -> None:
    """Note questions that close before they open; without an opening, before their first forecast."""
    open_column = "open"
    when = "at that instant"
    opens = times.get("open")
    if opens is None:
        open_column = "time"
        when = "with its first forecast unless a column open gives the time"
        first_forecast = np.full(int(question.max(initial=-1)) + 1, np.inf)
        np.fmin.at(first_forecast, question, times["time"])
        opens = first_forecast[question]

    def what(row: int) -> str:
        return f"{cells.shown(end_column, row)} is before the question opens, {when}"

    wrong = np.flatnonzero(opens >= times[end_column])
    if wrong.size:
        wrong = np.intersect1d(wrong, cells.sound("question", "open", "time"))
    cells.note_fault(end_column, wrong, what, f"correct {end_column} or {open_column}", "before open")


def check_duplicates(cells: Cells, question: Ints, forecaster: Ints, time: Floats | None) -> Ints:
    """Return the rows by question, forecaster and time; note repeated forecasts at the same time.

    If many rows without a time repeat, their key stands for more than one question.
    """
    time_or_zero = np.zeros(question.size) if time is None else time
    order = np.lexsort((time_or_zero, forecaster, question))
    is_repeat = np.ones(max(order.size - 1, 0), dtype=np.bool_)
    for column in (question, forecaster, time_or_zero):
        is_repeat &= column[order][1:] == column[order][:-1]

    repeats = np.flatnonzero(is_repeat)
    if not repeats.size:
        return order
    if time is None and repeats.size > COARSE:
        _note_coarse_key(cells, order, repeats)
        return order

    # The row that each repeated row repeats.
    first_row_of = dict(zip(order[repeats + 1].tolist(), order[repeats].tolist(), strict=True))

    def what(row: int) -> str:
        who = cells.columns["forecaster"][row][:40]
        when = "" if time is None else "at the same time "
        return f"{who!r} has forecast the same question {when}in {cells.beside(first_row_of[row], row)}"

    hint = "remove one of them"
    if time is None:
        hint += "; updates need a column time"
    repeated_rows = np.intersect1d(list(first_row_of), cells.sound("question"))
    cells.note_fault("forecaster", repeated_rows, what, hint)
    for row in repeated_rows.tolist():  # which of the two was meant is unknown
        cells.faults.cells.add((cells.whole_row(first_row_of[row]), "forecaster"))
    return order


def _note_coarse_key(cells: Cells, order: Rows, repeats: Rows) -> None:
    """Note, once for all such rows, that a key stands for several questions."""
    repeated_rows = np.unique(np.concatenate([order[repeats], order[repeats + 1]]))
    questions = cells.columns["question"]
    forecasts = count_text(repeats.size, "forecast")

    def what(row: int) -> str:
        several = f"{questions[row][:40]!r} seems to name several questions"
        return f"{several}: {forecasts} of the file are of one that their forecaster has forecast already"

    cells.note_fault(
        "question", repeated_rows, what, coarse_hint(cells, repeated_rows), "coarse", across_files=True
    )
