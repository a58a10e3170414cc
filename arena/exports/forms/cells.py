"""A value as a cell of a CSV file, and back to the last bit; what is wrong with a file.

A spreadsheet takes a text that begins with certain characters for a formula. Such a text is written with an
apostrophe before it, and so is one that begins with an apostrophe: to read it, take away one. An empty cell
is no value; where a column may have none, an empty text is a lone apostrophe.
Whole numbers and instants come again and again: to look one up takes a tenth of the time to read it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from arena.errors import ArenaError
from arena.exports.table import ExportColumn, Kind, Row
from markets.hashes import timestamp_text

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")
WHOLE = re.compile(r"-?(?:0|[1-9]\d*)", re.ASCII)
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
MOST = 2**63


class BadCell(ValueError):
    """A cell does not hold what its column does."""


def text_cell(text: str) -> str:
    """A text as a cell that no spreadsheet takes for a formula.

    >>> text_cell("=1+1"), text_cell("it's"), text_cell("'tis")
    ("'=1+1", "it's", "''tis")
    """
    return f"'{text}" if text.startswith(FORMULAS) else text


def from_text_cell(cell: str) -> str:
    """The text behind a cell.

    >>> from_text_cell("'=1+1"), from_text_cell("it's"), from_text_cell("''tis")
    ('=1+1', "it's", "'tis")
    """
    return cell.removeprefix("'")


def writer(column: ExportColumn) -> Callable[[Any], Any]:
    """How values of a column become cells; None is an empty one."""
    if column.kind == "time":
        return lambda at: None if at is None else timestamp_text(at)
    if column.kind != "text":
        return lambda value: value
    if column.empty:
        return lambda text: "'" if text == "" else text and text_cell(text)
    return text_cell


@lru_cache(maxsize=1 << 16)
def whole(text: str) -> int:
    """The whole number behind a text.

    >>> whole("-5")
    -5
    """
    if not WHOLE.fullmatch(text) or len(text) > 20 or not -MOST <= int(text) < MOST:
        raise BadCell("is not a 64-bit integer")
    return int(text)


@lru_cache(maxsize=1 << 16)
def instant(text: str) -> datetime:
    """The instant behind a text.

    >>> instant("2026-01-04T00:00:00.000000Z").isoformat()
    '2026-01-04T00:00:00+00:00'
    """
    try:
        if INSTANT.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass  # the thirtieth of February
    raise BadCell("is not a time such as 2026-01-04T00:00:00.000000Z")


READERS: dict[Kind, Callable[[str], Any]] = {
    "text": from_text_cell,
    "whole": whole,
    "number": float,
    "time": instant,
}


def reader(column: ExportColumn) -> Callable[[str], Any]:
    """How cells of a column become values."""
    read, may_be_empty = READERS[column.kind], bool(column.empty)
    if column.kind == "text" and not may_be_empty:
        return read

    def read_cell(cell: str) -> Any:
        if not (cell or may_be_empty):
            raise BadCell("is empty, and must not be")
        return read(cell) if cell else None

    return read_cell


def current_names(names: Collection[str], columns: Sequence[ExportColumn]) -> list[str]:
    """Return the names of a file's columns, the former name of a column replaced by its present one."""
    renamed = {column.former: column.name for column in columns if column.former and column.name not in names}
    return [renamed.get(name, name) for name in names]


def columns_in(names: Collection[str], columns: Sequence[ExportColumn]) -> list[ExportColumn]:
    """The columns that a file with these names should have: an earlier version's lacks what was added."""
    return [column for column in columns if column.name in names or not column.added]


def filled(
    rows: Iterable[Sequence[Any]], there: Sequence[ExportColumn], columns: Sequence[ExportColumn]
) -> Iterator[Row]:
    """Rows with all columns: what is not there has the value that stands for it."""
    if len(there) == len(columns):
        yield from map(tuple, rows)
        return
    names = [column.name for column in there]
    for row in rows:
        values = dict(zip(names, row, strict=True))
        yield tuple(values[x.name] if x.name in values else x.added[0] for x in columns)


HINT = "get a fresh copy of the export; nothing was changed here"


def bad_row(file: str, row: int, column: str, value: object, why: str) -> ArenaError:
    """A value that can't be what it says it is. Rows are counted from 1, without the heading."""
    text = repr(value)
    text = text if len(text) <= 60 else f"{text[:60]}…"
    return ArenaError("bad_export", f"{file}, row {row}, {column}: {text} {why}", HINT)


def bad_file(file: str, why: str) -> ArenaError:
    """A file that can't be read as what it is."""
    return ArenaError("bad_export", f"{file}: {why}", HINT)


def bad_text(file: str, row: int) -> ArenaError:
    """A text that no file can hold."""
    message = f"{file}, row {row}: a text is not valid UTF-8"
    return ArenaError("bad_text", message, "arena admin verify names what can't be read")
