"""CSV text as cells, separated by comma, semicolon, tab or bar."""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from io import StringIO
from itertools import islice

from arena.errors import ArenaError
from arena.forms.csv_columns.file_cells import Cells, Faults, TextColumn, Texts
from arena.forms.csv_columns.header import OurColumns, joined_texts, match_header
from arena.forms.model import SourceLine

DELIMITERS = ",;\t|"
AT_ONCE = 1 << 16
"""The number of lines converted to columns at a time."""


@dataclass(frozen=True)
class CsvText:
    """A CSV text, its delimiter, and the line on which each row begins."""

    name: str
    text: str
    delimiter: str

    def reader(self) -> Iterator[list[str]]:
        """Return a reader of its rows, including the header."""
        return csv.reader(StringIO(self.text, newline=""), delimiter=self.delimiter, strict=True)

    @cached_property
    def lines(self) -> list[int]:
        """Return the first lines of the records that aren't blank; only errors need them.

        One more is the first line that is not CSV, or the end of the text.
        """
        lines = [1]
        reader = csv.reader(StringIO(self.text, newline=""), delimiter=self.delimiter, strict=True)
        with suppress(csv.Error):
            for row in reader:
                if not row:
                    lines.pop()
                lines.append(reader.line_num + 1)
        return lines

    def place_of(self, row: int) -> SourceLine:
        """Return the place of a row."""
        return SourceLine(self.name, self.lines[row + 1])


def csv_cells(name: str, text: str, ours: OurColumns) -> Cells:
    """Return the cells of a text; raise `ArenaError` if it is not CSV, or a column is missing."""
    start = text.lstrip("\r\n")
    delimiter = max(DELIMITERS, key=start.partition("\n")[0].count)
    source = CsvText(name, text, delimiter)
    faults = Faults(name)

    try:
        reader = source.reader()
        header = next(filter(None, reader))
        line = text[: len(text) - len(start)].count("\n") + 1
        found_columns = match_header(line, header, ours, faults)
        columns = _read_columns(reader, len(header), found_columns.places, source.place_of, faults)
    except csv.Error as error:
        hint = "put text with commas or quotes in double quotes, and double any quotes inside it"
        what = f"{name}:{source.lines[-1]}: invalid CSV ({error})"
        raise ArenaError("bad_file", what, hint) from error

    if not all(map(len, columns.values())):
        raise ArenaError("bad_file", f"{name}: it has no forecasts", "add a line for each forecast")
    return Cells(
        name=name,
        place_of=source.place_of,
        columns=columns,
        theirs=found_columns.theirs(header),
        faults=faults,
        ignored=found_columns.ignored,
        decimal_comma=delimiter != ",",
        spare=partial(_read_ignored_columns, source, found_columns.ignored),
    )


def _read_columns(
    reader: Iterator[list[str]],
    width: int,
    places: Mapping[str, Sequence[int]],
    place_of: Callable[[int], SourceLine],
    faults: Faults,
) -> dict[str, TextColumn]:
    """Return the columns of the remaining rows; a row of another width than the header is a fault."""
    columns = defaultdict[str, Texts](Texts)
    rows = 0

    while chunk := list(islice(reader, AT_ONCE)):
        widths = set(map(len, chunk))
        if 0 in widths:
            chunk = list(filter(None, chunk))
        if widths - {0, width}:
            _note_and_fit_torn_rows(chunk, rows, width, place_of, faults)

        table = list(zip(*chunk, strict=True))
        if table:
            for name, column_places in places.items():
                parts = [table[place] for place in column_places]
                columns[name].add(parts[0] if len(parts) == 1 else joined_texts(parts))
        rows += len(chunk)

    return {name: columns[name].column() for name in places}


def _note_and_fit_torn_rows(
    chunk: list[list[str]],
    rows_before: int,
    width: int,
    place_of: Callable[[int], SourceLine],
    faults: Faults,
) -> None:
    """Note the rows with too many or too few cells, and adjust them to the width of the header."""
    hint = "put text with commas in double quotes"
    for number, row in enumerate(chunk):
        if len(row) != width:
            what = f"it has {len(row)} cells, the first line {width}"
            faults.tear(rows_before + number, place_of(rows_before + number), "width", what, hint)
            chunk[number] = [*row, *[""] * width][:width]


def _read_ignored_columns(source: CsvText, wanted: Sequence[str]) -> dict[str, TextColumn]:
    """Return columns of a text that were left unread, if all its rows can be read."""
    reader = source.reader()
    header = list(map(str.strip, next(filter(None, reader))))
    places = {column: (header.index(column),) for column in wanted}
    return _read_columns(reader, len(header), places, source.place_of, Faults(source.name))
