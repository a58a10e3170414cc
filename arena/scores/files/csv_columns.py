"""A CSV text as columns of names, shares and times; a cell that means nothing is named by its line."""

import csv
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from arena.errors import ArenaError

SHOWN = 40
"""So much of a text is told in an error."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The columns of a file by name, their cells without blanks around them, and the line of each row."""

    name: str
    lines: Sequence[int]
    columns: dict[str, list[str]]

    def wrong(self, column: str, rows: NDArray[np.intp] | Sequence[int], what: str, hint: str) -> ArenaError:
        """What is wrong with a cell, the first of these rows, and in how many more."""
        place = f"{self.name}:{self.lines[int(rows[0])]}: column {column}"
        more = len(rows) - 1
        said = f" (and {more:,} more {'line' if more == 1 else 'lines'})" if more else ""
        return ArenaError("bad_file", f"{place}: {what}{said}", hint)

    def shown(self, column: str, row: int) -> str:
        """A cell, cut and quoted, to be told in an error."""
        return repr(self.columns[column][row][:SHOWN])


def parse_cells(name: str, text: str, needed: Collection[str], known: Collection[str]) -> Cells:
    """The cells of a CSV text. Everything in it must have a known column, and every row as many cells."""
    if not text.strip():
        raise ArenaError(
            "bad_file", f"{name}: the file is empty", f"its first line names the columns: {','.join(needed)}"
        )
    records = _records(name, text)
    line, first = next(records, (1, []))
    header = [column.strip() for column in first]
    _check_header(f"{name}:{line}", header, needed, known)
    lines, columns = list[int](), [list[str]() for _ in header]
    for line, row in records:
        if len(row) != len(header):
            what = f"{name}:{line}: it has {len(row)} cells, the first line {len(header)}"
            raise ArenaError("bad_file", what, "put a text with a comma in it in double quotes")
        lines.append(line)
        for texts, cell in zip(columns, row, strict=True):
            texts.append(cell.strip())
    if not lines:
        raise ArenaError("bad_file", f"{name}: there is no forecast in it", "add a line for each forecast")
    return Cells(name, lines, dict(zip(header, columns, strict=True)))


def _records(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Every record that isn't blank, and the line that it begins in."""
    line, reader = 1, csv.reader(StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        hint = "put a text with commas or quotes in it in double quotes, and double those within"
        raise ArenaError("bad_file", f"{name}:{line}: this is no CSV ({error})", hint) from error


def _check_header(place: str, header: Sequence[str], needed: Collection[str], known: Collection[str]) -> None:
    every = ", ".join(known)
    for column in header:
        if column not in known:
            what = f"{place}: column {column[:SHOWN]!r} is not known here"
            raise ArenaError(
                "bad_file", what, f"rename it or take it out; columns are separated by commas: {every}"
            )
        if header.count(column) > 1:
            raise ArenaError("bad_file", f"{place}: column {column} is there twice", "take one of them out")
    missing = [column for column in needed if column not in header]
    if missing:
        raise ArenaError(
            "bad_file", f"{place}: there is no column {missing[0]}", f"add it; {', '.join(needed)} are needed"
        )


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def read_names(cells: Cells, column: str) -> tuple[Ints, tuple[str, ...]]:
    """A column of names as places among them, in the order of the alphabet. None may be empty."""
    texts = cells.columns[column]
    empty = [row for row, text in enumerate(texts) if not text]
    if empty:
        raise cells.wrong(column, empty, "it is empty", f"every line needs a {column}")
    return number_texts(texts)


def number_texts(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Texts as places among the different ones, sorted.

    >>> number_texts(["b", "a", "b"])
    (array([1, 0, 1]), ('a', 'b'))
    """
    found = sorted(set(texts))
    place = {text: number for number, text in enumerate(found)}
    return np.fromiter((place[text] for text in texts), dtype=np.int64, count=len(texts)), tuple(found)


def read_shares(cells: Cells, column: str, hint: str, blank: bool = False) -> Floats:
    """Numbers from 0 to 1; an empty cell is NaN where that is allowed."""
    values = read_numbers(cells, column, hint, blank)
    wrong = np.flatnonzero((values < 0) | (values > 1))
    if wrong.size:
        raise cells.wrong(column, wrong, f"{cells.shown(column, wrong[0])} is not from 0 to 1", hint)
    return values


def read_numbers(cells: Cells, column: str, hint: str, blank: bool = False) -> Floats:
    """Finite numbers; an empty cell is NaN where that is allowed."""
    texts = cells.columns[column]
    known = {text: parse_number(text) for text in dict.fromkeys(texts)}
    values = np.fromiter((known[text] for text in texts), dtype=np.float64, count=len(texts))
    wrong = np.flatnonzero(np.isnan(values))
    if blank:
        wrong = np.array([row for row in wrong if texts[row]], dtype=np.intp)
    if wrong.size:
        raise cells.wrong(column, wrong, _no_number(cells, column, int(wrong[0])), hint)
    return values


def parse_number(text: str) -> float:
    """The finite number that a text is, NaN if it is none.

    >>> parse_number("0.5"), parse_number("1e999"), parse_number("1_0")
    (0.5, nan, nan)
    """
    try:
        value = float(text)
    except ValueError:
        return nan
    return value if isfinite(value) and "_" not in text and text.isascii() else nan


def read_times(cells: Cells, columns: Collection[str], blank: Collection[str] = ()) -> dict[str, Floats]:
    """Columns of times, all ISO's or all plain numbers; an empty cell is NaN in those that may be."""
    plain, found = None, dict[str, Floats]()
    for column in columns:
        texts = cells.columns[column]
        known = {text: parse_time(text) for text in dict.fromkeys(texts)}
        values = np.fromiter((known[text][0] for text in texts), dtype=np.float64, count=len(texts))
        _check_times(cells, column, np.flatnonzero(np.isnan(values)), column in blank)
        for text, (value, is_plain) in known.items():
            plain = is_plain if plain is None and text else plain
            if value == value and is_plain is not plain:
                what = f"{text[:40]!r} and other times of the file are of two kinds"
                hint = "write all times as dates such as 2026-01-04T12:00, or all as numbers"
                raise cells.wrong(column, [texts.index(text)], what, hint)
        found[column] = values
    return found


def parse_time(text: str) -> tuple[float, bool]:
    """A time as a number, NaN if it is none, and whether it was written as one.

    >>> parse_time("2026-01-04"), parse_time("2.5"), parse_time("soon")
    ((1767484800.0, False), (2.5, True), (nan, False))
    """
    value = parse_number(text)
    if value == value:
        return value, True
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return nan, False
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp(), False


def _check_times(cells: Cells, column: str, unknown: NDArray[np.intp], blank: bool) -> None:
    wrong = [int(row) for row in unknown if not blank or cells.columns[column][row]]
    if wrong:
        text = cells.columns[column][wrong[0]]
        what = f"{cells.shown(column, wrong[0])} is not a time" if text else "it is empty"
        raise cells.wrong(
            column, wrong, what, "write it like 2026-01-04T12:00 (UTC unless it says so), or as a number"
        )


def _no_number(cells: Cells, column: str, row: int) -> str:
    return f"{cells.shown(column, row)} is not a number" if cells.columns[column][row] else "it is empty"
