"""A CSV text as columns of texts, with the line that each row stands in."""

import csv
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

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

    def wrong(self, column: str, rows: NDArray[np.intp] | Sequence[int], what: str, mend: str) -> ArenaError:
        """What is wrong with a cell, the first of these rows, and in how many more."""
        place = f"{self.name}:{self.lines[int(rows[0])]}: column {column}"
        more = len(rows) - 1
        said = f" (and {more:,} more {'line' if more == 1 else 'lines'})" if more else ""
        return ArenaError("bad_file", f"{place}: {what}{said}", mend)

    def shown(self, column: str, row: int) -> str:
        """A cell, cut and quoted, to be told in an error."""
        return repr(self.columns[column][row][:SHOWN])


def cells(name: str, text: str, needed: Collection[str], known: Collection[str]) -> Cells:
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
        mend = "put a text with commas or quotes in it in double quotes, and double those within"
        raise ArenaError("bad_file", f"{name}:{line}: this is no CSV ({error})", mend) from error


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
