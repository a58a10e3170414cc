"""CSV: a heading, then a row a line, in UTF-8; texts that a spreadsheet takes for formulas are quoted."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from arena.exports.forms.cells import BadCell, bad_file, bad_row, bad_text, columns_in, filled, reader, writer
from arena.exports.table import ExportColumn, Row

LONGEST = 2**31 - 1
"""A cell may hold a whole prompt: the library's own limit is an eighth of a megabyte."""


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
        heading = next(lines, [])
        there = columns_in(heading, columns)
        if heading != [column.name for column in there]:
            raise bad_file(path.name, f"its heading must be {','.join(column.name for column in columns)}")
        readers = [(column.name, reader(column)) for column in there]
        rows = (_values(path.name, number, readers, cells) for number, cells in enumerate(lines, 1))
        yield from filled(rows, there, columns)


def _values(
    file: str, row: int, readers: Sequence[tuple[str, Callable[[str], Any]]], cells: Sequence[str]
) -> Row:
    if len(cells) != len(readers):
        raise bad_row(file, row, "all", cells, f"are not {len(readers)} cells")
    values = []
    for (name, read_cell), cell in zip(readers, cells, strict=True):
        try:
            values.append(read_cell(cell))
        except BadCell as error:
            raise bad_row(file, row, name, cell, str(error)) from error
    return tuple(values)


def _lines(name: str, file: Iterable[str]) -> Iterator[list[str]]:
    lines = csv.reader(file, strict=True)
    while True:
        before = csv.field_size_limit(LONGEST)  # for this line alone: two files may be read by turns
        try:
            line = next(lines, None)
        except (csv.Error, UnicodeDecodeError) as error:
            raise bad_file(name, f"line {lines.line_num + 1} is not CSV in UTF-8: {error}") from error
        finally:
            csv.field_size_limit(before)
        if line is None:
            return
        yield line
