"""CSV: a heading, then a row a line, in UTF-8; texts that a spreadsheet takes for formulas are quoted."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from arena.exports.forms.cells import (
    BadCell,
    bad_file,
    bad_row,
    bad_text,
    columns_in,
    current_names,
    filled,
    reader,
    writer,
)
from arena.exports.table import ExportColumn, Row

LONGEST = 2**31 - 1
"""A cell may hold a whole prompt: the library's own limit is an eighth of a megabyte."""

BLOCK = 100
"""So many lines are read at once."""


def write(path: Path, columns: Sequence[ExportColumn], rows: Iterable[Row]) -> int:
    """Rows into a new file; how many."""
    cells, count = [writer(column) for column in columns], 0
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow([column.name for column in columns])
        for count, row in enumerate(rows, 1):
            try:
                out.writerow([cell(value) for cell, value in zip(cells, row, strict=True)])
            except UnicodeEncodeError as error:
                raise bad_text(path.name, count) from error
    return count


def read(path: Path, columns: Sequence[ExportColumn]) -> Iterator[Row]:
    """The rows of a file, one at a time."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = _lines(path.name, file)
        heading = current_names(next(lines, []), columns)
        there = columns_in(heading, columns)
        if heading != [column.name for column in there]:
            raise bad_file(path.name, f"its heading must be {','.join(column.name for column in columns)}")
        readers = [(column.name, reader(column)) for column in there]
        name = path.name
        rows = (_values(name, number, readers, cells) for number, cells in enumerate(lines, 1))
        yield from filled(rows, there, columns)


def _values(
    file: str, row: int, readers: Sequence[tuple[str, Callable[[str], Any]]], cells: Sequence[str]
) -> Row:
    try:
        return tuple([read_cell(cell) for (_, read_cell), cell in zip(readers, cells, strict=True)])
    except BadCell as error:
        each = zip(readers, cells, strict=True)
        name, cell = next((name, cell) for (name, read_cell), cell in each if not _is_good(read_cell, cell))
        raise bad_row(file, row, name, cell, str(error)) from error
    except ValueError as error:  # more cells, or fewer
        if len(cells) == len(readers):
            raise
        raise bad_row(file, row, "all", cells, f"are not {len(readers)} cells") from error


def _is_good(read_cell: Callable[[str], Any], cell: str) -> bool:
    try:
        read_cell(cell)
    except BadCell:
        return False
    return True


def _lines(name: str, file: Iterable[str]) -> Iterator[list[str]]:
    lines = csv.reader(file, strict=True)
    while True:
        before = csv.field_size_limit(LONGEST)  # for these lines alone: two files may be read by turns
        try:
            block = list(islice(lines, BLOCK))
        except (csv.Error, UnicodeDecodeError) as error:
            raise bad_file(name, f"line {lines.line_num + 1} is not CSV in UTF-8: {error}") from error
        finally:
            csv.field_size_limit(before)
        if not block:
            return
        yield from block
