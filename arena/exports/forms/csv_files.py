"""Reads and writes CSV in UTF-8: a heading, then one row a line, with no text that looks like a formula."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from arena.exports.forms.cells import (
    BadCell,
    bad_file,
    bad_row,
    bad_text,
    cell_reader,
    cell_writer,
    columns_in,
    with_missing_columns,
)
from arena.exports.table import ExportColumn, Row, column_names

LONGEST = 2**31 - 1
"""A cell may hold a whole prompt: the library's own limit is an eighth of a megabyte."""

BLOCK = 100
"""The number of lines read at once."""


def write(path: Path, columns: Sequence[ExportColumn], rows: Iterable[Row]) -> int:
    """Write rows into a new file, and return how many there were."""
    cell_writers = [cell_writer(column) for column in columns]
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        csv_writer = csv.writer(file)
        csv_writer.writerow(column_names(columns))
        for count, row in enumerate(rows, 1):
            try:
                csv_writer.writerow(
                    [to_cell(value) for to_cell, value in zip(cell_writers, row, strict=True)]
                )
            except UnicodeEncodeError as error:
                raise bad_text(path.name, count) from error

    return count


def read(path: Path, columns: Sequence[ExportColumn]) -> Iterator[Row]:
    """Yield the rows of a file, one at a time."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = _lines(path.name, file)
        present = columns_in(next(lines, []), columns)
        if present is None:
            raise bad_file(path.name, f"its heading must be {','.join(column_names(columns))}")
        yield from with_missing_columns(_rows(path.name, lines, present), present, columns)


def _rows(file: str, lines: Iterable[Sequence[str]], columns: Sequence[ExportColumn]) -> Iterator[list[Any]]:
    """Yield the values of each line."""
    readers = [cell_reader(column) for column in columns]

    for number, cells in enumerate(lines, 1):
        if len(cells) != len(readers):
            raise bad_row(file, number, "all", cells, f"are not {len(readers)} cells")

        values: list[Any] = []
        try:
            for read_cell, cell in zip(readers, cells, strict=True):
                values.append(read_cell(cell))
        except BadCell as error:
            index = len(values)
            raise bad_row(file, number, columns[index].name, cells[index], str(error)) from error
        yield values


def _lines(name: str, file: Iterable[str]) -> Iterator[list[str]]:
    """Yield the cells of each line, the heading first."""
    lines = csv.reader(file, strict=True)

    while True:
        before = csv.field_size_limit(LONGEST)  # for these lines only: two files may be read alternately
        try:
            block = list(islice(lines, BLOCK))
        except (csv.Error, UnicodeDecodeError) as error:
            raise bad_file(name, f"line {lines.line_num + 1} is not CSV in UTF-8: {error}") from error
        finally:
            csv.field_size_limit(before)

        if not block:
            return
        yield from block
