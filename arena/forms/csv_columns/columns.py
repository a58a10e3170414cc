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
        cells.note_fault(column, empty, lambda _: "it is empty", f"every line needs a {column}")
    return number_column(texts)


def number_column(column: TextColumn) -> tuple[Ints, tuple[str, ...]]:
    """Return a column as indices into its distinct texts, sorted.

    >>> number_column(TextColumn(("b", "a"), np.array([0, 1, 0])))
    (array([1, 0, 1]), ('a', 'b'))
    """
    # A joined column may have texts that no row uses.
    uses = np.bincount(column.code, minlength=len(column.texts))
    used_codes = np.flatnonzero(uses).tolist()
    codes_in_text_order = sorted(used_codes, key=column.texts.__getitem__)

    new_index_of_code = np.zeros(len(column.texts), dtype=np.int64)
    new_index_of_code[codes_in_text_order] = np.arange(len(codes_in_text_order))
    sorted_texts = tuple(column.texts[code] for code in codes_in_text_order)
    return new_index_of_code[column.code], sorted_texts


def read_column(
    cells: Cells, column: str, parse: Callable[[str], float], hint: str, allows_blank: bool = False
) -> Floats:
    """Return a column of numbers, each distinct text parsed once, and note the texts that are none as faults.

    With `allows_blank`, an empty cell is NaN and no fault.
    """
    texts = cells.columns[column]
    values = np.full(len(texts.texts), nan)
    places_by_reason: dict[str, list[int]] = {}
    for place, text in enumerate(texts.texts):
        if allows_blank and not text:
            continue
        try:
            values[place] = parse(cells.number_text(text))
        except ValueError as error:
            reason = str(error) if text else ""
            places_by_reason.setdefault(reason, []).append(place)

    for reason, places in places_by_reason.items():
        rows = np.flatnonzero(np.isin(texts.code, places))
        cells.note_fault(column, rows, partial(_bad_cell, cells, column, reason), hint, reason)
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


def read_times(
    cells: Cells, columns: Sequence[str], blank_columns: Collection[str] = ()
) -> dict[str, Floats]:
    """Return those of the time columns that exist, all dates or all numbers; NaN for allowed blanks."""
    existing_columns = [column for column in columns if column in cells.columns]
    times = {}
    for column in existing_columns:
        times[column] = read_column(cells, column, parse_time, TIME_HINT, column in blank_columns)

    as_numbers = has_plain_times(cells, existing_columns)
    for column in existing_columns:
        _check_one_unit(cells, column, as_numbers)
    return times


def _check_one_unit(cells: Cells, column: str, as_numbers: bool) -> None:
    """Note times that are numbers where others are dates, or dates where others are numbers."""

    def is_other(text: str) -> bool:
        return bool(text) and is_plain_time(cells.number_text(text)) != as_numbers

    def what(row: int) -> str:
        return f"{cells.shown(column, row)} mixes numbers and dates"

    cells.note_fault(column, cells.columns[column].rows_with(is_other), what, UNIT_HINT)


def check_same_by_question(
    cells: Cells, question: Ints, column: str, values: Floats | Ints, unit: str = "question"
) -> None:
    """Note rows that contradict an earlier row of the same question, or of what `unit` names."""
    sound_rows = cells.sound(unit, column)

    # Rows are written from the last to the first, so that the first of each question stays.
    first_row_of_question = np.zeros(int(question.max(initial=-1)) + 1, dtype=np.int64)
    last_to_first = sound_rows[::-1]
    first_row_of_question[question[last_to_first]] = last_to_first

    # An empty value is NaN, which differs from itself.
    own_values = values[sound_rows]
    first_values = values[first_row_of_question[question[sound_rows]]]
    both_empty = (own_values != own_values) & (first_values != first_values)
    contradicting_rows: Rows = sound_rows[(own_values != first_values) & ~both_empty]

    def contradiction_text(row: int) -> str:
        first_row = int(first_row_of_question[question[row]])
        first_value_text = f"{cells.shown(column, first_row)} in {cells.beside(first_row, row)}"
        return f"{cells.shown(column, row)}, but the same {unit} has {first_value_text}"

    hint = f"give a {unit} one {column} in all its lines"
    cells.note_fault(column, contradicting_rows, contradiction_text, hint)
