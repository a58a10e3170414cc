"""CSV: a heading, then a row a line, in UTF-8; texts that a spreadsheet takes for formulas are quoted."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.exports.forms.cells import BadCell, bad_file, bad_row, bad_text, reader, writer
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
    names, readers = [column.name for column in columns], [reader(column) for column in columns]
    with path.open(encoding="utf-8", newline="") as file, _long_cells():
        lines = _lines(path.name, file)
        if next(lines, None) != names:
            raise bad_file(path.name, f"its heading must be {','.join(names)}")
        for number, cells in enumerate(lines, 1):
            if len(cells) != len(names):
                raise bad_row(path.name, number, "all", cells, f"are not {len(names)} cells")
            yield tuple(_values(path.name, number, names, readers, cells))


def _values(
    file: str, row: int, names: Sequence[str], readers: Sequence[Callable[[str], Any]], cells: Sequence[str]
) -> Iterator[Any]:
    for name, read_cell, cell in zip(names, readers, cells, strict=True):
        try:
            yield read_cell(cell)
        except BadCell as error:
            raise bad_row(file, row, name, cell, str(error)) from error


def _lines(name: str, file: Iterable[str]) -> Iterator[list[str]]:
    lines = csv.reader(file, strict=True)
    try:
        yield from lines
    except (csv.Error, UnicodeDecodeError) as error:
        raise bad_file(name, f"line {lines.line_num + 1} is not CSV in UTF-8: {error}") from error


@contextmanager
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)
