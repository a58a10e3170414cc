"""A CSV text as columns of names, shares and times; a cell that means nothing is named by its line."""

import csv
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from arena.errors import ArenaError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

SHOWN = 40
"""So much of a text is shown in an error."""


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
        others = f" (and {more:,} more {'line' if more == 1 else 'lines'})" if more else ""
        return ArenaError("bad_file", f"{place}: {what}{others}", hint)

    def shown(self, column: str, row: int) -> str:
        """A cell, cut and quoted, to be shown in an error."""
        return repr(self.columns[column][row][:SHOWN])


def parse_cells(name: str, text: str, needed: Collection[str], allowed: Collection[str]) -> Cells:
    """The cells of a CSV text. Every column must be an allowed one, and every row have as many cells."""
    if not text.strip():
        hint = f"its first line names the columns: {','.join(needed)}"
        raise ArenaError("bad_file", f"{name}: the file is empty", hint)
    records = _records(name, text)
    line, first = next(records, (1, []))
    header = [column.strip() for column in first]
    _check_header(f"{name}:{line}", header, needed, allowed)
    lines, rows = list[int](), list[list[str]]()
    for line, row in records:
        if len(row) != len(header):
            what = f"{name}:{line}: it has {len(row)} cells, the first line {len(header)}"
            raise ArenaError("bad_file", what, "put text with commas in double quotes")
        lines.append(line)
        rows.append([cell.strip() for cell in row])
    if not lines:
        raise ArenaError("bad_file", f"{name}: it has no forecasts", "add a line for each forecast")
    columns = map(list, zip(*rows, strict=True))
    return Cells(name, lines, dict(zip(header, columns, strict=True)))


def cells_of(
    name: str,
    columns: Mapping[str, Sequence[object]],
    needed: Collection[str],
    allowed: Collection[str],
) -> Cells:
    """Columns that are in memory, as the cells of a file; None is an empty cell.

    >>> cells_of("mine", {"question": ["a", None]}, ["question"], ["question"]).columns
    {'question': ['a', '']}
    """
    _check_header(name, list(columns), needed, allowed)
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1 or lengths == {0}:
        rows = ", ".join(f"{column} {len(values):,}" for column, values in columns.items())
        what = f"{name}: rows in each column: {rows}"
        raise ArenaError("bad_file", what, "give all columns as many rows, one at least")
    texts = {
        column: ["" if value is None else str(value).strip() for value in values]
        for column, values in columns.items()
    }
    return Cells(name, range(1, lengths.pop() + 1), texts)


def _check_header(
    place: str, header: Sequence[str], needed: Collection[str], allowed: Collection[str]
) -> None:
    for column in header:
        if column not in allowed:
            what = f"{place}: column {column[:SHOWN]!r} is unknown"
            hint = f"rename or remove it; columns are separated by commas: {', '.join(allowed)}"
            raise ArenaError("bad_file", what, hint)
        if header.count(column) > 1:
            raise ArenaError("bad_file", f"{place}: column {column} appears twice", "take one out")
    for column in needed:
        if column not in header:
            what = f"{place}: there is no column {column}"
            raise ArenaError("bad_file", what, f"add it; {', '.join(needed)} are needed")


def _records(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Every record that isn't blank, and the line that it begins in."""
    line, reader = 1, csv.reader(StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        hint = "put text with commas or quotes in double quotes, and double any quotes inside it"
        raise ArenaError("bad_file", f"{name}:{line}: invalid CSV ({error})", hint) from error


def read_names(cells: Cells, column: str) -> tuple[Ints, tuple[str, ...]]:
    """A column of names as places among them, in the order of the alphabet. None may be empty."""
    texts = cells.columns[column]
    if "" in texts:
        empty = [row for row, text in enumerate(texts) if not text]
        raise cells.wrong(column, empty, "it is empty", f"every line needs a {column}")
    return number_texts(texts)


def number_texts(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Texts as places among the different ones, sorted.

    >>> number_texts(["b", "a", "b"])
    (array([1, 0, 1]), ('a', 'b'))
    """
    names = sorted(set(texts))
    place = {text: number for number, text in enumerate(names)}
    return np.fromiter((place[text] for text in texts), dtype=np.int64, count=len(texts)), tuple(names)


def read_column(
    cells: Cells, column: str, parse: Callable[[str], float], hint: str, blank: bool = False
) -> Floats:
    """A column of numbers, each text of it parsed once; an empty cell is NaN where that is allowed."""
    texts = cells.columns[column]
    values, wrong = {"": nan} if blank else {}, dict[str, str]()
    for text in set(texts) - values.keys():
        try:
            values[text] = parse(text)
        except ValueError as error:
            wrong[text] = str(error) if text else ""
    if wrong:
        rows = [row for row, text in enumerate(texts) if text in wrong]
        why = wrong[texts[rows[0]]]
        what = f"{cells.shown(column, rows[0])} {why}" if why else "it is empty"
        raise cells.wrong(column, rows, what, hint)
    return np.fromiter((values[text] for text in texts), dtype=np.float64, count=len(texts))


def parse_number(text: str) -> float:
    """The finite number that a text is.

    >>> parse_number("0.5"), is_number("1e999"), is_number("1_0")
    (0.5, False, False)
    """
    if not is_number(text):
        raise ValueError("is not a number")
    return float(text)


def is_number(text: str) -> bool:
    """Whether a text is a finite number, in plain digits."""
    try:
        return isfinite(float(text)) and "_" not in text and text.isascii()
    except ValueError:
        return False


def parse_share(text: str) -> float:
    """A number from 0 to 1."""
    value = parse_number(text)
    if not 0 <= value <= 1:
        raise ValueError("is not from 0 to 1")
    return value


def parse_positive(text: str) -> float:
    """A number above 0."""
    value = parse_number(text)
    if value <= 0:
        raise ValueError("is not above 0")
    return value


def parse_time(text: str) -> float:
    """A time as a number.

    >>> parse_time("2026-01-04"), parse_time("2.5")
    (1767484800.0, 2.5)
    """
    if is_number(text):
        return float(text)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("is not a time") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def read_times(cells: Cells, columns: Sequence[str], blank: Collection[str] = ()) -> dict[str, Floats]:
    """Those of the columns that are there, all ISO's or all plain numbers; NaN where one may be empty."""
    hint = "write it like 2026-01-04T12:00 (UTC unless it says so), or as a number"
    here = [column for column in columns if column in cells.columns]
    times = {column: read_column(cells, column, parse_time, hint, column in blank) for column in here}
    first = next((text for column in here for text in cells.columns[column] if text), "")
    for column in here:
        plain = {text: is_number(text) for text in set(cells.columns[column]) - {""}}
        if set(plain.values()) - {is_number(first)}:
            row = next(r for r, x in enumerate(cells.columns[column]) if x and plain[x] != is_number(first))
            what = f"{cells.shown(column, row)} mixes numbers and dates"
            raise cells.wrong(
                column, [row], what, "write all times as dates such as 2026-01-04T12:00, or all as numbers"
            )
    return times
