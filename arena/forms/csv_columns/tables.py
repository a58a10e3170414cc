"""Plain tables as cells: from a text, from Parquet, and several joined as one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np

from arena.errors import ArenaError
from arena.forms.csv_columns.csv_text import csv_cells
from arena.forms.csv_columns.file_cells import Cells, Faults, TextColumn, text_column
from arena.forms.csv_columns.header import OurColumns
from arena.forms.csv_columns.json_rows import json_cells
from arena.forms.csv_columns.parquet import PARQUET, parquet_cells
from arena.forms.csv_columns.texts import decode
from arena.forms.model import SourceFile, SourceLine


def text_cells(name: str, text: str, ours: OurColumns) -> Cells:
    """Return the cells of a CSV or JSON text."""
    start = text.lstrip()
    if not start:
        # Numeric forecasts use other columns, so `probability` is not among the needed ones.
        names = [column for column in ours.allowed if column in (*ours.needed, "probability")]
        hint = f"its first line names the columns: {','.join(names)}"
        raise ArenaError("bad_file", f"{name}: the file is empty", hint)

    if start[0] in "{[":
        return json_cells(name, text, ours)
    return csv_cells(name, text, ours)


def file_cells(file: SourceFile, ours: OurColumns) -> Cells:
    """Return the cells of a plain table: CSV, JSON or Parquet."""
    if file.data[:4] == PARQUET:
        return parquet_cells(file, ours)
    return text_cells(file.name, decode(file.name, file.data), ours)


def join_cells(tables: Sequence[Cells]) -> Cells:
    """Return the rows of several tables as one; a column that a table lacks is empty there."""
    first = tables[0]
    if len(tables) == 1:
        return first

    starts = np.cumsum([0, *map(len, tables)])
    theirs: dict[str, str] = {}
    for cells in reversed(tables):
        theirs |= cells.theirs

    return Cells(
        name=f"{first.name} and {len(tables) - 1} more",
        place_of=partial(_place_in, tables, starts.tolist()),
        columns=_join_columns(tables),
        theirs=theirs,
        faults=_join_faults(first.name, tables, starts.tolist()),
        ignored=tuple(dict.fromkeys(chain.from_iterable(cells.ignored for cells in tables))),
        decimal_comma=any(cells.decimal_comma for cells in tables),
        spare=partial(_join_spare, tables),
    )


def _join_columns(tables: Sequence[Cells]) -> dict[str, TextColumn]:
    """Return the columns of several tables joined."""
    columns = {}
    for name in dict.fromkeys(chain.from_iterable(cells.columns for cells in tables)):
        columns[name] = _join_column([cells.column(name) for cells in tables])
    return columns


def _join_column(parts: Sequence[TextColumn]) -> TextColumn:
    """Return the parts of a column joined."""
    texts: list[str] = []
    codes = []
    for part in parts:
        codes.append(part.code + len(texts))
        texts += part.texts
    return text_column(texts, np.concatenate(codes))


def _join_faults(name: str, tables: Sequence[Cells], starts: Sequence[int]) -> Faults:
    """Return the faults of several tables, by the rows of the joined one."""
    faults = Faults(name)
    for cells, start in zip(tables, starts, strict=False):
        faults.found |= cells.faults.found
        faults.whole |= cells.faults.whole
        faults.torn |= {row + start for row in cells.faults.torn}
        faults.cells |= {(row + start, column) for row, column in cells.faults.cells}
    return faults


def _place_in(tables: Sequence[Cells], starts: Sequence[int], row: int) -> SourceLine:
    """Return the place of a row of joined tables."""
    number = int(np.searchsorted(starts, row, side="right")) - 1
    return tables[number].place_of(row - starts[number])


def _join_spare(tables: Sequence[Cells]) -> dict[str, TextColumn]:
    """Return the unread columns of several tables joined."""
    return _join_columns([replace(cells, columns=cells.spare()) for cells in tables])
