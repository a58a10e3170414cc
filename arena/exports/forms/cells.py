"""Writes values as cells of a CSV file and reads them back exactly; reports what is wrong with a file.

A spreadsheet takes a text that begins with certain characters for a formula. Such a text is written with an
apostrophe before it, and so is one that begins with an apostrophe: reading removes one. An empty cell is no
value; in a column that may be empty, an empty text is a single apostrophe.

Integers and instants repeat: a cache lookup takes a tenth of the time of parsing one.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from arena.errors import ArenaError
from arena.exports.table import ExportColumn, Kind, Row, column_names
from markets.hashes import timestamp_text

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")
WHOLE = re.compile(r"-?(?:0|[1-9]\d*)", re.ASCII)
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
MOST = 2**63
LONGEST_VALUE = 60


class BadCell(ValueError):
    """A cell holds something that its column can't."""


def text_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula.

    >>> text_cell("=1+1"), text_cell("it's"), text_cell("'tis")
    ("'=1+1", "it's", "''tis")
    """
    if text.startswith(FORMULAS):
        return f"'{text}"
    return text


def from_text_cell(cell: str) -> str:
    """Return the text of a cell.

    >>> from_text_cell("'=1+1"), from_text_cell("it's"), from_text_cell("''tis")
    ('=1+1', "it's", "'tis")
    """
    return cell.removeprefix("'")


def cell_writer(column: ExportColumn) -> Callable[[Any], Any]:
    """Return a function that converts values of a column to cells; None becomes an empty cell."""
    if column.kind == "time":
        return lambda at: None if at is None else timestamp_text(at)
    if column.kind != "text":
        return lambda value: value
    if column.empty:
        # An empty text needs an apostrophe, because an empty cell stands for None.
        return lambda text: "'" if text == "" else text and text_cell(text)
    return text_cell


@lru_cache(maxsize=1 << 16)
def parse_whole(text: str) -> int:
    """Return the integer that a text holds.

    >>> parse_whole("-5")
    -5
    """
    if not WHOLE.fullmatch(text) or len(text) > 20 or not -MOST <= int(text) < MOST:
        raise BadCell("is not a 64-bit integer")
    return int(text)


@lru_cache(maxsize=1 << 16)
def parse_instant(text: str) -> datetime:
    """Return the instant that a text holds.

    >>> parse_instant("2026-01-04T00:00:00.000000Z").isoformat()
    '2026-01-04T00:00:00+00:00'
    """
    try:
        if INSTANT.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass  # a date such as 30 February
    raise BadCell("is not a time such as 2026-01-04T00:00:00.000000Z")


READERS: dict[Kind, Callable[[str], Any]] = {
    "text": from_text_cell,
    "whole": parse_whole,
    "number": float,
    "time": parse_instant,
}


def cell_reader(column: ExportColumn) -> Callable[[str], Any]:
    """Return a function that parses cells of a column."""
    read = READERS[column.kind]
    if column.kind == "text" and not column.empty:
        return read

    def read_cell(cell: str) -> Any:
        if cell:
            return read(cell)
        if not column.empty:
            raise BadCell("is empty, and must not be")
        return None

    return read_cell


def columns_in(names: Collection[str], columns: Sequence[ExportColumn]) -> list[ExportColumn] | None:
    """Return the columns of a file by their names; None if no version has these columns.

    A file of an earlier version lacks columns that were added later, and may use former names.
    """
    present = []
    expected_names = []
    for column in columns:
        name = column.name
        if name not in names and column.former:
            name = column.former

        was_always_there = not column.added
        if name in names or was_always_there:
            present.append(column)
            expected_names.append(name)

    if list(names) != expected_names:
        return None
    return present


def with_missing_columns(
    rows: Iterable[Sequence[Any]], present: Sequence[ExportColumn], columns: Sequence[ExportColumn]
) -> Iterator[Row]:
    """Yield rows with all columns: missing ones have their value for earlier versions."""
    if len(present) == len(columns):
        yield from map(tuple, rows)
        return

    names = column_names(present)
    defaults = {column.name: column.added[0] for column in columns if column.name not in names}
    for row in rows:
        values = defaults | dict(zip(names, row, strict=True))
        yield tuple(values[column.name] for column in columns)


HINT = "get a fresh copy of the export; nothing was changed here"


def bad_row(file: str, row: int, column: str, value: object, why: str) -> ArenaError:
    """Return the error for a value that its column can't hold; rows count from 1, without the heading."""
    text = repr(value)
    if len(text) > LONGEST_VALUE:
        text = f"{text[:LONGEST_VALUE]}…"
    return ArenaError("bad_export", f"{file}, row {row}, {column}: {text} {why}", HINT)


def bad_file(file: str, why: str) -> ArenaError:
    """Return the error for a file that can't be read."""
    return ArenaError("bad_export", f"{file}: {why}", HINT)


def bad_text(file: str, row: int) -> ArenaError:
    """Return the error for a text that no file can hold."""
    message = f"{file}, row {row}: a text is not valid UTF-8"
    return ArenaError("bad_text", message, "arena admin verify names what can't be read")
