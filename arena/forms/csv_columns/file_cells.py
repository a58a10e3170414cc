"""The cells of plain tables under our column names, and the faults in them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from arena.errors import FEW, ArenaError, FileFault, FileFaults, told_once
from arena.forms.model import SourceLine

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rows = NDArray[np.intp]

SHOWN = 40
"""The number of characters of a text quoted in an error."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column: its distinct texts, without surrounding blanks, and the index of each row's text."""

    texts: tuple[str, ...]
    code: Ints

    def __getitem__(self, row: int) -> str:
        text: str = self.texts[self.code[row]]
        return text

    def __len__(self) -> int:
        return self.code.size

    def __iter__(self) -> Iterator[str]:
        return map(self.texts.__getitem__, self.code.tolist())

    def rows_with(self, wanted: Callable[[str], bool]) -> Rows:
        """Return the rows whose text satisfies a condition."""
        is_wanted = np.array(list(map(wanted, self.texts)), dtype=np.bool_)
        return np.flatnonzero(is_wanted[self.code])

    def take(self, rows: Rows) -> "TextColumn":
        """Return the column for some of the rows."""
        return TextColumn(self.texts, self.code[rows])


def text_column(texts: Sequence[str], code: Ints) -> TextColumn:
    """Return a column with surrounding blanks removed from its texts, each of which is kept once."""
    stripped = list(map(str.strip, texts))
    different = dict.fromkeys(stripped)
    if len(different) == len(texts):
        return TextColumn(tuple(stripped), code)

    # Texts that are the same without their blanks become one, so codes change.
    index_of_text = {text: index for index, text in enumerate(different)}
    new_code_of_old = np.array([index_of_text[text] for text in stripped], dtype=np.int64)
    return TextColumn(tuple(different), new_code_of_old[code])


class Texts:
    """The texts of a column as it is read, each distinct one kept once."""

    def __init__(self) -> None:
        self.places: defaultdict[str, int] = defaultdict()
        self.places.default_factory = self.places.__len__
        self.parts: list[Ints] = []

    def add(self, texts: Collection[str]) -> None:
        """Append rows."""
        codes = map(self.places.__getitem__, texts)
        self.parts.append(np.fromiter(codes, dtype=np.int64, count=len(texts)))

    def column(self) -> TextColumn:
        """Return the column of all rows."""
        code = np.zeros(0, dtype=np.int64)
        if self.parts:
            code = np.concatenate(self.parts)
        return text_column(list(self.places), code)


def column_of_texts(texts: Sequence[str]) -> TextColumn:
    """Return the column of a list of texts."""
    column = Texts()
    column.add(texts)
    return column.column()


@dataclass(slots=True)
class Cause:
    """Faults that one correction fixes: their number, and the first of them."""

    count: int = 0
    first: list[FileFault] = field(default_factory=list)

    def told(self) -> list[FileFault]:
        """Return the faults one by one if they are few, else a single one that counts them."""
        return told_once(self.first, self.count)


class Faults:
    """The faults found in the cells of a file, or of several, as they are read.

    `torn` are rows that can't be read at all, and `cells` the rows and columns that have a fault. `whole`
    tells whether something is wrong beyond single rows.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: dict[tuple[str, str, str, str], Cause] = {}
        """The causes, by file, cause, column and hint."""
        self.cells: set[tuple[int, str]] = set()
        self.torn: set[int] = set()
        self.whole = False

    def add(self, line: int, column: str, message: str, hint: str) -> None:
        """Note a fault that concerns more than a row."""
        self.whole = True
        self.note(SourceLine(self.name, line), column, (self.name, message), lambda: message, hint)

    def note(
        self,
        place: SourceLine,
        column: str,
        cause: tuple[str, str],
        message: Callable[[], str],
        hint: str,
    ) -> None:
        """Note a fault under its file and cause; only the first ones of a cause get a message."""
        same_cause = self.found.setdefault((*cause, column, hint), Cause())
        same_cause.count += 1
        if same_cause.count <= FEW:
            fault = place.fault(column, message(), hint)
            same_cause.first.append(fault)

    def tear(self, row: int, place: SourceLine, cause: str, message: str, hint: str) -> None:
        """Note that a row can't be read at all."""
        self.torn.add(row)
        self.note(place, "", (place.file, cause), lambda: message, hint)

    def told(self) -> list[FileFault]:
        """Return the faults to report, by file and line."""
        files: dict[str, int] = {}
        faults: list[FileFault] = []
        for cause in self.found.values():
            faults += cause.told()
        for fault in faults:
            files.setdefault(fault.file, len(files))
        return sorted(faults, key=lambda fault: (files[fault.file], fault.number))

    def check(self) -> None:
        """Raise `FileFaults` if there are any, sorted by file and line."""
        if self.found:
            raise FileFaults(self.told())


class CellError(ArenaError):
    """A cell that can't be interpreted."""

    def __init__(self, column: str, row: int, what: str, hint: str):
        super().__init__("bad_file", what, hint)
        self.column = column
        self.row = row


@dataclass(frozen=True, slots=True)
class Cells:
    """The columns of plain tables under our names, and the names of those left unread.

    `place_of` returns the place of a row, `theirs` maps our names to the file's where they differ, and `rows`
    are the indices of these rows among all rows. `spare` returns the unread columns of all rows.
    """

    name: str
    place_of: Callable[[int], SourceLine]
    columns: Mapping[str, TextColumn]
    theirs: Mapping[str, str]
    faults: Faults
    ignored: tuple[str, ...] = ()
    decimal_comma: bool = False
    rows: Ints | None = None
    spare: Callable[[], Mapping[str, TextColumn]] = dict

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def whole_row(self, row: int) -> int:
        """Return the index of a row among all rows."""
        return row if self.rows is None else int(self.rows[row])

    def whole_rows(self, rows: Rows) -> Rows:
        """Return the indices of rows among all rows."""
        return rows if self.rows is None else self.rows[rows]

    def place(self, row: int) -> SourceLine:
        """Return the place of a row."""
        return self.place_of(self.whole_row(row))

    def beside(self, other: int, row: int) -> str:
        """Return the place of another row, worded for a sentence about a row."""
        there = self.place(other)
        if there.file == self.place(row).file:
            return there.words
        return f"{there.words} of {there.file}"

    def note_fault(
        self,
        column: str,
        rows: Rows | Sequence[int],
        message_of_row: Callable[[int], str],
        hint: str,
        cause: str = "",
        *,
        across_files: bool = False,
    ) -> None:
        """Note what is wrong with cells: one fault a cell at most, and none for a row that can't be read.

        Faults have the same `cause` if one correction fixes them all: those of one file, or with
        `across_files` those of all files.
        """
        faults = self.faults
        their_column = self.theirs.get(column, column)
        for row in rows:
            file_row = self.whole_row(int(row))
            if file_row in faults.torn or (file_row, column) in faults.cells:
                continue
            faults.cells.add((file_row, column))
            place = self.place_of(file_row)
            file = faults.name if across_files else place.file
            faults.note(place, their_column, (file, cause), partial(message_of_row, int(row)), hint)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note a cell that turns out to be bad, and continue after the block."""
        try:
            yield
        except CellError as bad:
            message = bad.message
            self.note_fault(bad.column, [bad.row], lambda _: message, bad.hint)

    def sound(self, *columns: str) -> Rows:
        """Return the rows without a fault in these columns; in any column, if none is named."""
        faults = self.faults
        if not faults.found:
            return np.arange(len(self))

        faulty_rows = set(faults.torn)
        for row, column in faults.cells:
            if not columns or column in columns:
                faulty_rows.add(row)
        file_rows = self.whole_rows(np.arange(len(self)))
        return np.flatnonzero(~np.isin(file_rows, list(faulty_rows)))

    def column(self, name: str) -> TextColumn:
        """Return a column; one of empty texts if the file lacks it."""
        if name in self.columns:
            return self.columns[name]
        return TextColumn(("",), np.zeros(len(self), dtype=np.int64))

    def number_text(self, text: str) -> str:
        """Return a cell's text with a decimal point in place of a decimal comma."""
        return text.replace(",", ".") if self.decimal_comma else text

    def shown(self, column: str, row: int) -> str:
        """Return a cell, cut and quoted, for an error message."""
        return repr(self.columns[column][row][:SHOWN])

    def take(self, rows: Rows) -> "Cells":
        """Return the cells of some of the rows."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, rows=self.whole_rows(rows))
