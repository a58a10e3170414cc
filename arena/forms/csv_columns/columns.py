"""Columns of cells as numbers, names and times; cells that can't be interpreted are noted by line."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from math import nan

import numpy as np

from arena.forms.csv_columns.file_cells import Cells, Floats, Ints, Rows, TextColumn
from arena.forms.csv_columns.values import is_plain_time, parse_time

TIME_HINT = "write it like 2026-01-04T12:00 (UTC unless it says so), or as a number"
UNIT_HINT = "write all times as dates such as 2026-01-04T12:00, or all as numbers"


def read_names(cells: Cells, column: str) -> tuple[Ints, tuple[str, ...]]:
    """Return a required column of names as indices, with the names in alphabetical order."""
    texts = cells.columns[column]
    if "" in texts.texts:
        empty = texts.rows_with(lambda text: not text)
        cells.wrong(column, empty, lambda _: "it is empty", f"every line needs a {column}")
    return number_column(texts)


def number_column(column: TextColumn) -> tuple[Ints, tuple[str, ...]]:
    """Return a column as indices into its distinct texts, sorted.

    >>> number_column(TextColumn(("b", "a"), np.array([0, 1, 0])))
    (array([1, 0, 1]), ('a', 'b'))
    """
    used = np.flatnonzero(np.bincount(column.code, minlength=len(column.texts)))
    order = sorted(used.tolist(), key=column.texts.__getitem__)
    rank = np.zeros(len(column.texts), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[column.code], tuple(map(column.texts.__getitem__, order))


def read_column(
    cells: Cells, column: str, parse: Callable[[str], float], hint: str, blank: bool = False
) -> Floats:
    """Return a column of numbers, parsing each distinct text once; with `blank`, empty cells are NaN."""
    texts = cells.columns[column]
    values = np.full(len(texts.texts), nan)
    wrong: dict[str, list[int]] = {}
    for place, text in enumerate(texts.texts):
        if blank and not text:
            continue
        try:
            values[place] = parse(cells.number_text(text))
        except ValueError as error:
            reason = str(error) if text else ""
            wrong.setdefault(reason, []).append(place)

    for reason, places in wrong.items():
        rows = np.flatnonzero(np.isin(texts.code, places))
        cells.wrong(column, rows, partial(_bad_cell, cells, column, reason), hint, reason)
    return values[texts.code]


def _bad_cell(cells: Cells, column: str, reason: str, row: int) -> str:
    """Return the message for a bad cell."""
    if not reason:
        return "it is empty"
    return f"{cells.shown(column, row)} {reason}"


def has_plain_times(cells: Cells, columns: Iterable[str]) -> bool:
    """Tell whether the times of a file are plain numbers, judged by the first."""
    for column in columns:
        for text in cells.columns[column]:
            if text:
                return is_plain_time(cells.number_text(text))
    return False


def read_times(cells: Cells, columns: Sequence[str], blank: Collection[str] = ()) -> dict[str, Floats]:
    """Return those of the time columns that exist, all dates or all numbers; NaN for allowed blanks."""
    here = [column for column in columns if column in cells.columns]
    times = {}
    for column in here:
        times[column] = read_column(cells, column, parse_time, TIME_HINT, column in blank)

    as_numbers = has_plain_times(cells, here)
    for column in here:
        _check_one_unit(cells, column, as_numbers)
    return times


def _check_one_unit(cells: Cells, column: str, as_numbers: bool) -> None:
    """Note times that are numbers where others are dates, or dates where others are numbers."""

    def is_other(text: str) -> bool:
        return bool(text) and is_plain_time(cells.number_text(text)) != as_numbers

    def what(row: int) -> str:
        return f"{cells.shown(column, row)} mixes numbers and dates"

    cells.wrong(column, cells.columns[column].rows_with(is_other), what, UNIT_HINT)


def check_same_by_question(
    cells: Cells, question: Ints, column: str, values: Floats | Ints, of: str = "question"
) -> None:
    """Note rows that contradict an earlier row of the same question, or of what `of` names."""
    sound = cells.sound(of, column)
    first = np.zeros(int(question.max(initial=-1)) + 1, dtype=np.int64)
    first[question[sound[::-1]]] = sound[::-1]  # written last is the first of the question

    own = values[sound]
    before = values[first[question[sound]]]
    both_empty = (own != own) & (before != before)
    other: Rows = sound[(own != before) & ~both_empty]

    def what(row: int) -> str:
        there = int(first[question[row]])
        theirs = f"{cells.shown(column, there)} in {cells.beside(there, row)}"
        return f"{cells.shown(column, row)}, but the same {of} has {theirs}"

    cells.wrong(column, other, what, f"give a {of} one {column} in all its lines")
