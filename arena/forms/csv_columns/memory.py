"""Columns in memory as cells."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import isnan

from arena.errors import ArenaError
from arena.forms.csv_columns.file_cells import Cells, Faults, TextColumn, column_of_texts
from arena.forms.csv_columns.header import OurColumns, joined_texts, match_header
from arena.forms.model import SourceLine


def memory_cells(
    faults: Faults,
    places: Sequence[SourceLine],
    columns: Mapping[str, Sequence[str]],
    ours: OurColumns,
) -> Cells:
    """Return columns in memory as cells, with the place of each row."""
    header = list(columns)
    found_columns = match_header(1, header, ours, faults)

    texts: dict[str, TextColumn] = {}
    for own, numbers in found_columns.places.items():
        parts = [columns[header[number]] for number in numbers]
        texts[own] = column_of_texts(parts[0] if len(parts) == 1 else joined_texts(parts))

    def read_ignored() -> dict[str, TextColumn]:
        column_of_name = {key.strip(): key for key in header}
        return {name: column_of_texts(columns[column_of_name[name]]) for name in found_columns.ignored}

    return Cells(
        name=faults.name,
        place_of=places.__getitem__,
        columns=texts,
        theirs=found_columns.theirs(header),
        faults=faults,
        ignored=found_columns.ignored,
        spare=read_ignored,
    )


def numbered_places(name: str, rows: int, part: str = "") -> list[SourceLine]:
    """Return the places of rows without lines: their numbers, in the list that `part` names."""
    return [SourceLine(name, row, part) for row in range(1, rows + 1)]


def cell_text(value: object) -> str:
    """Return a value in memory as the text of a cell; an empty text for None or NaN.

    >>> cell_text(0.5), cell_text(None), cell_text(float("nan")), cell_text([0, 1])
    ('0.5', '', '', '[0, 1]')
    """
    if value is None:
        return ""
    if isinstance(value, float) and isnan(value):
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, default=str)
    return str(value)


def cells_of(
    name: str,
    columns: Mapping[str, Sequence[object]],
    needed: Collection[str],
    allowed: Collection[str],
) -> Cells:
    """Return columns in memory as the cells of a file; None is an empty cell.

    >>> list(cells_of("mine", {"question": ["a", None]}, ["question"], ["question"]).columns["question"])
    ['a', '']
    """
    texts = {}
    for key, values in columns.items():
        texts[key] = list(map(cell_text, values))

    rows = max(map(len, columns.values()), default=0)
    places = numbered_places(name, rows)
    cells = memory_cells(Faults(name), places, texts, OurColumns(needed, allowed, {}))
    lengths = set(map(len, columns.values()))
    if len(lengths) > 1 or lengths == {0}:
        counts = ", ".join(f"{column} {len(values):,}" for column, values in columns.items())
        what = f"{name}: rows in each column: {counts}"
        raise ArenaError("bad_file", what, "give all columns as many rows, one at least")
    return replace(cells, theirs={})
