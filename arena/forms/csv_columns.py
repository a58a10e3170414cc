"""A text of forecasts as columns of names, shares and times; a cell without meaning is named by its line."""

import csv
import gzip
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache
from io import BytesIO, StringIO
from itertools import islice
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import ArenaError, FileFault, FileFaults
from markets.hashes import keys_once

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

SHOWN = 40
"""So much of a text is shown in an error."""
DELIMITERS = ",;\t|"
AT_ONCE = 1 << 16
"""Lines that are turned into columns at a time."""
MOST_BYTES = 1 << 30
"""So much may come out of a packed file."""
ALIKE = 0.8
"""From this likeness on an unknown column is taken for a misspelt one, and not for one more."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column: its different texts, without blanks around them, and which of them each row has."""

    texts: tuple[str, ...]
    code: Ints

    def __getitem__(self, row: int) -> str:
        text: str = self.texts[self.code[row]]
        return text

    def __len__(self) -> int:
        return self.code.size

    def __iter__(self) -> Iterator[str]:
        return map(self.texts.__getitem__, self.code.tolist())

    def rows_with(self, wanted: Callable[[str], bool]) -> NDArray[np.intp]:
        """The rows whose text is wanted."""
        return np.flatnonzero(np.array([wanted(text) for text in self.texts], dtype=np.bool_)[self.code])


def text_column(texts: Sequence[str], code: Ints) -> TextColumn:
    """A column without blanks around its texts."""
    stripped = [text.strip() for text in texts]
    places = {text: place for place, text in enumerate(dict.fromkeys(stripped))}
    if len(places) == len(texts):
        return TextColumn(tuple(stripped), code)
    moved = np.array([places[text] for text in stripped], dtype=np.int64)
    return TextColumn(tuple(places), moved[code])


class Texts:
    """The texts of a column while it is read: each different one kept once."""

    def __init__(self) -> None:
        self.places: defaultdict[str, int] = defaultdict()
        self.places.default_factory = self.places.__len__
        self.parts: list[Ints] = []

    def add(self, texts: Collection[str]) -> None:
        """Some more rows."""
        codes = map(self.places.__getitem__, texts)
        self.parts.append(np.fromiter(codes, dtype=np.int64, count=len(texts)))

    def column(self) -> TextColumn:
        """All rows."""
        code = np.concatenate(self.parts) if self.parts else np.zeros(0, dtype=np.int64)
        return text_column(list(self.places), code)


MOST_ALIKE = 20
"""So many lines with the same fault are named, the others counted."""


class Faults:
    """What was found wrong with the cells of a file, while they are still read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[FileFault] = []
        self.more = 0
        self.cells: set[tuple[int, str]] = set()
        self.torn: set[int] = set()

    def add(self, line: int, column: str, message: str, hint: str) -> None:
        """One more."""
        self.found.append(FileFault(self.name, column, message, hint, line=line))

    def tear(self, row: int, line: int, message: str, hint: str) -> None:
        """Notes that a whole row can't be read; of many the first are named."""
        self.torn.add(row)
        if len(self.torn) <= MOST_ALIKE:
            self.add(line, "", message, hint)
        else:
            self.more += 1

    def check(self) -> None:
        """Raises all of them, by line."""
        if self.found:
            raise FileFaults(sorted(self.found, key=lambda one: one.line or 0), self.more)


class CellError(ArenaError):
    """A cell without meaning."""

    def __init__(self, column: str, row: int, what: str, hint: str):
        super().__init__("bad_file", what, hint)
        self.column, self.row = column, row


@dataclass(frozen=True, slots=True)
class Cells:
    """The columns of a file by our names for them, and which of its own were not read.

    `line_of` says in which line a row begins, `theirs` what the file calls a column, where that differs, and
    `rows` which rows of the file these are.
    """

    name: str
    line_of: Callable[[int], int]
    columns: Mapping[str, TextColumn]
    theirs: Mapping[str, str]
    faults: Faults
    ignored: tuple[str, ...] = ()
    decimal_comma: bool = False
    rows: Ints | None = None

    def whole_row(self, row: int) -> int:
        """Which row of the file a row is."""
        return row if self.rows is None else int(self.rows[row])

    def line(self, row: int) -> int:
        """The line in which a row begins."""
        return self.line_of(self.whole_row(row))

    def wrong(
        self, column: str, rows: NDArray[np.intp] | Sequence[int], what: Callable[[int], str], hint: str
    ) -> None:
        """Notes what is wrong with cells; of a cell one thing is told, and of a line that is torn no more."""
        faults, named = self.faults, 0
        for row in rows:
            place = self.whole_row(int(row))
            if place in faults.torn or (place, column) in faults.cells:
                continue
            faults.cells.add((place, column))
            if named < MOST_ALIKE:
                faults.add(self.line_of(place), self.theirs.get(column, column), what(int(row)), hint)
            else:
                faults.more += 1
            named += 1

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Notes a cell that turns out to be bad, and goes on behind the block."""
        try:
            yield
        except CellError as bad:
            message = bad.message
            self.wrong(bad.column, [bad.row], lambda _: message, bad.hint)

    def sound(self, *columns: str) -> NDArray[np.intp]:
        """The rows without a fault in these columns."""
        if not self.faults.found:
            return np.arange(len(self))
        torn, bad = self.faults.torn, self.faults.cells
        places = ((row, self.whole_row(row)) for row in range(len(self)))
        return np.array(
            [row for row, at in places if at not in torn and not any((at, each) in bad for each in columns)],
            dtype=np.intp,
        )

    def number_text(self, text: str) -> str:
        """A cell's text with the decimal point that a number needs."""
        return text.replace(",", ".") if self.decimal_comma else text

    def shown(self, column: str, row: int) -> str:
        """A cell, cut and quoted, to be shown in an error."""
        return repr(self.columns[column][row][:SHOWN])

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def take(self, rows: NDArray[np.intp]) -> "Cells":
        """Some of the rows."""
        columns = {name: TextColumn(x.texts, x.code[rows]) for name, x in self.columns.items()}
        return replace(self, columns=columns, rows=rows if self.rows is None else self.rows[rows])


def decode(name: str, data: bytes, *, exact: bool = False) -> str:
    """The text of a file in UTF-8 or UTF-16, with or without a mark at its beginning, packed with gzip or
    not; `exact` is UTF-8 to the letter, of which the mark is one.

    >>> decode("f", b"a,b"), decode("f", "a,b".encode("utf-16")), decode("f", "a,b".encode("utf-16-le"))
    ('a,b', 'a,b', 'a,b')
    """
    if data[:2] == b"\x1f\x8b":
        data = _unpacked(name, data)
    encoding = "utf-8" if exact else "utf-8-sig"
    if not exact and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif not exact and len(data) > 3 and data[1:4:2] == b"\0\0":
        encoding = "utf-16-le"
    elif not exact and len(data) > 3 and data[:4:2] == b"\0\0":
        encoding = "utf-16-be"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"{name}:{line}: this is not UTF-{'8' if encoding.startswith('utf-8') else '16'}"
        raise ArenaError("bad_file", what, "save it as text in UTF-8: CSV or JSON") from error


def _unpacked(name: str, data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as packed:
            found = packed.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ArenaError("bad_file", f"{name} can't be unpacked: {error}", "fetch it again") from error
    if len(found) > MOST_BYTES:
        raise ArenaError("bad_file", f"{name} unpacks to more than {MOST_BYTES:,} bytes", "name another file")
    return found


def parse_cells(
    name: str,
    text: str,
    needed: Collection[str],
    allowed: Collection[str],
    named: Mapping[str, str] | None = None,
) -> Cells:
    """The cells of a CSV text, or of one with an object of JSON a line.

    `allowed` are the columns that mean something; others are not read, unless one looks like a misspelt one.
    `named` says what the file calls a column of ours; nothing for one that is not to be read.
    """
    columns = OurColumns(needed, allowed, named or {})
    if not text.strip():
        hint = f"its first line names the columns: {','.join(needed)}"
        raise ArenaError("bad_file", f"{name}: the file is empty", hint)
    return (_json_cells if text.lstrip()[0] in "{[" else _csv_cells)(name, text, columns)


@dataclass(frozen=True, slots=True)
class OurColumns:
    """The columns that are needed, those that mean something, and what the file calls some of them."""

    needed: Collection[str]
    allowed: Collection[str]
    named: Mapping[str, str]


def _csv_cells(name: str, text: str, ours: OurColumns) -> Cells:
    start, faults = text.lstrip("\r\n"), Faults(name)
    delimiter = max(DELIMITERS, key=start.partition("\n")[0].count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)

    @cache
    def lines() -> list[int]:
        return _record_lines(text, delimiter)

    def line_of(row: int) -> int:
        return lines()[row + 1]

    try:
        header = next(row for row in reader if row)
        place = text[: len(text) - len(start)].count("\n") + 1
        found, ignored = _match_header(place, header, ours, faults)
        columns = _columns(reader, len(header), found, line_of, faults)
    except csv.Error as error:
        hint = "put text with commas or quotes in double quotes, and double any quotes inside it"
        raise ArenaError("bad_file", f"{name}:{lines()[-1]}: invalid CSV ({error})", hint) from error
    if not all(map(len, columns.values())):
        raise ArenaError("bad_file", f"{name}: it has no forecasts", "add a line for each forecast")
    theirs = {column: header[at].strip() for column, at in found.items()}
    return Cells(name, line_of, columns, theirs, faults, ignored, decimal_comma=delimiter != ",")


def _columns(
    reader: Iterator[list[str]],
    width: int,
    found: Mapping[str, int],
    line_of: Callable[[int], int],
    faults: Faults,
) -> dict[str, TextColumn]:
    """The columns of the lines that are left; a row has as many cells as the first line, or a fault."""
    columns, rows = {ours: Texts() for ours in found}, 0
    while chunk := list(islice(reader, AT_ONCE)):
        widths = set(map(len, chunk))
        chunk = [row for row in chunk if row] if 0 in widths else chunk
        for place, row in enumerate(chunk if widths - {0, width} else ()):
            if len(row) != width:
                what = f"it has {len(row)} cells, the first line {width}"
                faults.tear(
                    rows + place, line_of(rows + place), what, "put text with commas in double quotes"
                )
                chunk[place] = [*row, *[""] * width][:width]
        every = list(zip(*chunk, strict=True))
        for ours, at in found.items():
            columns[ours].add(every[at] if every else ())
        rows += len(chunk)
    return {ours: texts.column() for ours, texts in columns.items()}


def _record_lines(text: str, delimiter: str) -> list[int]:
    """The lines in which records begin that aren't blank, and one more: where the first begins that is no
    CSV, or the text ends. Only errors name them."""
    lines, reader = [1], csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    with suppress(csv.Error):
        for row in reader:
            if not row:
                lines.pop()
            lines.append(reader.line_num + 1)
    return lines


def _json_cells(name: str, text: str, ours: OurColumns) -> Cells:
    """The cells of JSON: an object a line, or a list of objects; what lies deeper is `outer.inner`."""
    faults = Faults(name)
    lines, objects = _json_objects(name, text, faults)
    flat = [dict(_flat(each)) for each in objects]
    header = dict.fromkeys(key for each in flat for key in each)
    columns = {key: [each.get(key, "") for each in flat] for key in header}
    return _memory_cells(faults, lines.__getitem__, columns, ours)


def _json_objects(name: str, text: str, faults: Faults) -> tuple[list[int], list[dict[str, Any]]]:
    """The objects, and the line of each; what is none is noted, and stands as an empty one."""
    if text.lstrip()[0] == "[":
        found = _json_value(text)
        if isinstance(found, Exception):
            raise ArenaError("bad_file", f"{name}: invalid JSON ({found})", "correct the file") from found
        lines, values = _list_lines(text), found
    else:
        written = enumerate(StringIO(text, newline=None), 1)
        numbered = {number: _json_value(line) for number, line in written if line.strip()}
        lines, values = list(numbered), list(numbered.values())
    hint = 'write each forecast as {"question": …, "probability": …} on a line'
    for place, each in enumerate(values):
        if isinstance(each, Exception):
            faults.tear(place, lines[place], f"invalid JSON ({each})", hint)
        elif not isinstance(each, dict):
            faults.tear(place, lines[place], f"{str(each)[:SHOWN]!r} is not an object", hint)
    objects = [each if isinstance(each, dict) else {} for each in values]
    if not any(objects):
        faults.check()
        raise ArenaError("bad_file", f"{name}: it has no forecasts", "add an object for each forecast")
    return lines, objects


ELEMENT = re.compile(r"[\s,]*(?=[^\s,\]])")
"""What stands before an element of a list."""


def _list_lines(text: str) -> list[int]:
    """The line in which each element of a valid JSON list begins."""
    lines, line, start, end = [], 1, 0, text.index("[") + 1
    while before := ELEMENT.match(text, end):
        line, start = line + text.count("\n", start, before.end()), before.end()
        lines.append(line)
        end = json.JSONDecoder().raw_decode(text, start)[1]
    return lines


def _json_value(text: str) -> Any:
    """What a text says, or what is wrong with it."""
    try:
        return json.loads(text, object_pairs_hook=keys_once)
    except (ValueError, RecursionError) as error:
        return error


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """The texts of an object, those of objects in it by names with dots."""
    for key, each in value.items():
        if isinstance(each, dict):
            yield from _flat(each, f"{before}{key}.")
        elif isinstance(each, list):
            yield f"{before}{key}", json.dumps(each)
        else:
            yield f"{before}{key}", "" if each is None else str(each)


def cells_of(
    name: str,
    columns: Mapping[str, Sequence[object]],
    needed: Collection[str],
    allowed: Collection[str],
) -> Cells:
    """Columns that are in memory, as the cells of a file; None is an empty cell.

    >>> list(cells_of("mine", {"question": ["a", None]}, ["question"], ["question"]).columns["question"])
    ['a', '']
    """
    texts = {key: ["" if x is None else str(x) for x in values] for key, values in columns.items()}
    cells = _memory_cells(Faults(name), lambda row: row + 1, texts, OurColumns(needed, allowed, {}))
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1 or lengths == {0}:
        rows = ", ".join(f"{column} {len(values):,}" for column, values in columns.items())
        what = f"{name}: rows in each column: {rows}"
        raise ArenaError("bad_file", what, "give all columns as many rows, one at least")
    return replace(cells, theirs={})


def _memory_cells(
    faults: Faults, line_of: Callable[[int], int], columns: Mapping[str, Sequence[str]], ours: OurColumns
) -> Cells:
    header = list(columns)
    found, ignored = _match_header(1, header, ours, faults)
    theirs = {column: header[at] for column, at in found.items()}
    texts = {column: column_of_texts(columns[key]) for column, key in theirs.items()}
    return Cells(faults.name, line_of, texts, theirs, faults, ignored)


def plain_name(column: str) -> str:
    """A column's name as we write it.

    >>> plain_name(" Market Probability "), plain_name("scheduled-close")
    ('market_probability', 'scheduled_close')
    """
    return re.sub(r"[\s-]+", "_", column.strip().lower())


def _match_header(
    line: int, header: Sequence[str], ours: OurColumns, faults: Faults
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Where each column of ours stands, and the names of those that are not read."""
    exact = [column.strip() for column in header]
    found = _named_columns(f"{faults.name}:{line}", exact, ours)
    ignored = []
    for at, column in enumerate(exact):
        name = plain_name(column)
        if at in found.values():
            continue
        if name not in ours.allowed or name in ours.named:
            ignored.append(column)
        elif name in found:
            faults.add(line, name, "it appears twice", "take one out")
        else:
            found[name] = at
    _note_missing(line, found, ignored, ours, faults)
    if not found.keys() >= set(ours.needed):
        faults.check()
    return found, tuple(ignored)


def _named_columns(place: str, exact: Sequence[str], ours: OurColumns) -> dict[str, int]:
    """Where the columns of ours stand that a user says the file has by other names."""
    found: dict[str, int] = {}
    for name, theirs in ours.named.items():
        if name not in ours.allowed:
            what = f"--columns {name}={theirs}: {name!r} is no column of ours"
            ours_are = ", ".join(each for each in ours.allowed if not re.fullmatch(r"q\d+", each))
            raise ArenaError("bad_columns", what, f"ours are {ours_are}", status=64)
        if theirs and theirs not in exact:
            near = get_close_matches(theirs, exact, 1)
            also = f"; did you mean {near[0]}?" if near else ""
            what = f"{place}: there is no column {theirs!r}{also}"
            raise ArenaError("bad_columns", what, f"it has {', '.join(exact)}", status=64)
        if theirs:
            found[name] = exact.index(theirs)
    return found


STATES = re.compile(r"probability|chance|cdf|density|value|q\d+")
"""Columns that say what was forecast: one of them has to be there."""


def _note_missing(
    line: int, found: Mapping[str, int], ignored: Sequence[str], ours: OurColumns, faults: Faults
) -> None:
    """Nothing is left out because of a slip in its name."""
    absent = [column for column in ours.allowed if column not in found and column not in ours.named]
    meant = set()
    for column in ignored:
        for near in get_close_matches(plain_name(column), absent, 1, ALIKE):
            meant.add(near)
            hint = f"rename it, say --columns {near}={column}, or --columns {near}= to leave it out"
            faults.add(line, column[:SHOWN], f"it is unknown; did you mean {near}?", hint)
    has = f"; the file has {', '.join(each[:SHOWN] for each in ignored)}" if ignored else ""
    wanted = [*ours.needed]
    if not found.keys() >= set(wanted) and not any(STATES.fullmatch(column) for column in found):
        wanted.append("probability")  # all that is missing is said at once
    for column in wanted:
        if column not in found and column not in meant:
            hint = f"add it, or say which it is: --columns {column}=NAME{has}"
            faults.add(line, "", f"there is no column {column}", hint)


def read_names(cells: Cells, column: str) -> tuple[Ints, tuple[str, ...]]:
    """A column of names as places among them, in the order of the alphabet. None may be empty."""
    texts = cells.columns[column]
    if "" in texts.texts:
        empty = texts.rows_with(lambda text: not text)
        cells.wrong(column, empty, lambda _: "it is empty", f"every line needs a {column}")
    return number_column(texts)


def number_column(column: TextColumn) -> tuple[Ints, tuple[str, ...]]:
    """A column as places among its different texts, sorted.

    >>> number_column(TextColumn(("b", "a"), np.array([0, 1, 0])))
    (array([1, 0, 1]), ('a', 'b'))
    """
    used = np.flatnonzero(np.bincount(column.code, minlength=len(column.texts)))
    order = sorted(used.tolist(), key=column.texts.__getitem__)
    rank = np.zeros(len(column.texts), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[column.code], tuple(column.texts[place] for place in order)


def column_of_texts(texts: Sequence[str]) -> TextColumn:
    """A column of texts."""
    column = Texts()
    column.add(texts)
    return column.column()


def read_column(
    cells: Cells, column: str, parse: Callable[[str], float], hint: str, blank: bool = False
) -> Floats:
    """A column of numbers, each text of it parsed once; an empty cell is NaN where that is allowed."""
    texts = cells.columns[column]
    values, wrong = np.full(len(texts.texts), nan), dict[int, str]()
    for place, text in enumerate(texts.texts):
        if blank and not text:
            continue
        try:
            values[place] = parse(cells.number_text(text))
        except ValueError as error:
            wrong[place] = str(error) if text else ""
    if wrong:

        def what(row: int) -> str:
            why = wrong[int(texts.code[row])]
            return f"{cells.shown(column, row)} {why}" if why else "it is empty"

        cells.wrong(column, np.flatnonzero(np.isin(texts.code, list(wrong))), what, hint)
    return values[texts.code]


def parse_number(text: str) -> float:
    """The finite number that a text is.

    >>> parse_number("0.5"), is_number("1e999"), is_number("1_0")
    (0.5, False, False)
    """
    if not is_number(text):
        raise ValueError("is not a number")
    return float(text)


def is_number(text: str) -> bool:
    """Whether a text is a finite number, in plain digits."""
    try:
        return isfinite(float(text)) and "_" not in text and text.isascii()
    except ValueError:
        return False


def parse_share(text: str) -> float:
    """A number from 0 to 1, or its percent.

    >>> parse_share("0.7"), parse_share("70 %")
    (0.7, 0.7)
    """
    value = parse_number(text[:-1].rstrip()) / 100 if text.endswith("%") else parse_number(text)
    if not 0 <= value <= 1:
        raise ValueError("is not from 0 to 1")
    return value


YES, NO = ("yes", "true", "y"), ("no", "false", "n")


def parse_outcome(text: str) -> float:
    """How a question ended.

    >>> parse_outcome("Yes"), parse_outcome("false"), parse_outcome("0.5")
    (1.0, 0.0, 0.5)
    """
    word = text.lower()
    return 1.0 if word in YES else 0.0 if word in NO else parse_share(text)


def parse_positive(text: str) -> float:
    """A number above 0."""
    value = parse_number(text)
    if not 0 < value < 1e300:  # the mean of two larger ones is infinite
        raise ValueError("is not above 0" if value <= 0 else "is too large")
    return value


def parse_time(text: str) -> float:
    """A time as a number.

    >>> parse_time("2026-01-04"), parse_time("20260104"), parse_time("2.5")
    (1767484800.0, 1767484800.0, 2.5)
    """
    if is_plain_time(text):
        if abs(float(text)) >= 1e11:
            raise ValueError("is in milliseconds, or later than the year 5000")
        return float(text)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("is not a time") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def is_plain_time(text: str) -> bool:
    """Whether a time is a plain number. Eight digits of a calendar day, such as 20260104, are a date."""
    return is_number(text) and not re.fullmatch(r"(19|20)\d{6}", text)


def has_plain_times(cells: Cells, columns: Iterable[str]) -> bool:
    """Whether the times of a file are plain numbers, by the first of them."""
    first = next((text for column in columns for text in cells.columns[column] if text), "")
    return is_plain_time(cells.number_text(first))


def read_times(cells: Cells, columns: Sequence[str], blank: Collection[str] = ()) -> dict[str, Floats]:
    """Those of the columns that are there, all ISO's or all plain numbers; NaN where one may be empty."""
    hint = "write it like 2026-01-04T12:00 (UTC unless it says so), or as a number"
    here = [column for column in columns if column in cells.columns]
    times = {column: read_column(cells, column, parse_time, hint, column in blank) for column in here}
    as_numbers = has_plain_times(cells, here)
    for column in here:
        _check_one_unit(cells, column, as_numbers)
    return times


def _check_one_unit(cells: Cells, column: str, as_numbers: bool) -> None:
    """Times are all dates or all numbers."""

    def is_other(text: str) -> bool:
        return bool(text) and is_plain_time(cells.number_text(text)) != as_numbers

    hint = "write all times as dates such as 2026-01-04T12:00, or all as numbers"
    other = cells.columns[column].rows_with(is_other)
    cells.wrong(column, other, lambda row: f"{cells.shown(column, row)} mixes numbers and dates", hint)


def check_same_by_question(
    cells: Cells, question: Ints, column: str, values: Floats | Ints, of: str = "question"
) -> None:
    """Note where a question, or what else the values are of, does not say the same in all its rows."""
    sound = cells.sound(of, column)
    first = np.zeros(int(question.max(initial=-1)) + 1, dtype=np.int64)
    first[question[sound[::-1]]] = sound[::-1]  # the last that is written is the first of the question
    own, before = values[sound], values[first[question[sound]]]
    both_empty = (own != own) & (before != before)

    def what(row: int) -> str:
        other = int(first[question[row]])
        theirs = f"{cells.shown(column, other)} in line {cells.line(other)}"
        return f"{cells.shown(column, row)}, but the same {of} has {theirs}"

    cells.wrong(
        column, sound[(own != before) & ~both_empty], what, f"give a {of} one {column} in all its lines"
    )
