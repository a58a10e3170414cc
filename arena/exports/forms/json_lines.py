"""Reads and writes JSON Lines in UTF-8: each row is an object of its columns, with null for no value."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from arena.exports.forms.cells import (
    MOST,
    BadCell,
    bad_file,
    bad_row,
    bad_text,
    columns_in,
    parse_instant,
    with_missing_columns,
)
from arena.exports.table import ExportColumn, Kind, Row, column_names
from markets.hashes import object_without_repeated_keys, timestamp_text


def write(path: Path, columns: Sequence[ExportColumn], rows: Iterable[Row]) -> int:
    """Write rows into a new file, and return how many there were."""
    names = column_names(columns)
    count = 0
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for count, row in enumerate(rows, 1):
            values = [timestamp_text(value) if isinstance(value, datetime) else value for value in row]
            try:
                file.write(encode(dict(zip(names, values, strict=True))) + "\n")
            except UnicodeEncodeError as error:
                raise bad_text(path.name, count) from error

    return count


def read(path: Path, columns: Sequence[ExportColumn]) -> Iterator[Row]:
    """Yield the rows of a file, one at a time."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line, object_pairs_hook=object_without_repeated_keys)
            except (ValueError, RecursionError) as error:
                raise bad_file(path.name, f"row {number} is not JSON: {error}") from error
            if not isinstance(row, dict):
                raise bad_row(path.name, number, "all", row, "is not an object")

            present = columns_in(row, columns)
            if present is None:
                expected = ", ".join(column_names(columns))
                raise bad_row(path.name, number, "all", list(row), f"must be {expected}")

            cells = zip(present, row.values(), strict=True)
            values = [_value(path.name, number, column, cell) for column, cell in cells]
            yield from with_missing_columns([values], present, columns)


def _value(file: str, row: int, column: ExportColumn, value: Any) -> Any:
    """Return the value of a column. Raise `ArenaError` if the column can't hold it."""
    if value is None and column.empty:
        return None
    try:
        return READERS[column.kind](value)
    except BadCell as error:
        raise bad_row(file, row, column.name, value, str(error)) from error


def _text(value: Any) -> str:
    if type(value) is not str:
        raise BadCell("is no text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadCell("is not valid UTF-8") from error
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not -MOST <= value < MOST:
        raise BadCell("is not a 64-bit integer")
    return value


def _number(value: Any) -> float:
    if type(value) is not float:
        raise BadCell("is no number")
    return value


READERS: dict[Kind, Callable[[Any], Any]] = {
    "text": _text,
    "whole": _whole,
    "number": _number,
    "time": lambda value: parse_instant(_text(value)),
}
