"""JSON objects and CSV rows, read field by field; each fault is noted with its place and field."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import StringIO
from math import isfinite
from pathlib import PurePath
from typing import Any

from arena.errors import FileFault
from arena.forms.csv_columns import SHOWN, is_number, json_value
from arena.forms.model import SourceFile, SourceLine

FLAGS = {
    "true": True,
    "yes": True,
    "1": True,
    "false": False,
    "no": False,
    "0": False,
    "none": False,
    "": False,
}
SPACE = b"\xef\xbb\xbf \t\r\n"
"""Bytes that may surround the text of a file: the byte order mark, blanks and line ends."""
LINED = (".jsonl", ".ndjson")
PEEKED = 3
"""The number of lines tried for a file's first object."""
LONGEST_HEADER = 1 << 16
"""The number of bytes examined of a table's first line."""
MOST_BYTES = 1 << 27
"""A larger file is recognised by one of its first lines, or not at all."""


@dataclass(frozen=True, slots=True)
class SourceObject:
    """An object of a file: its fields by name, its place, and the list that collects its faults.

    `path` is the path to it within its row, with a dot at the end.
    """

    fields: Mapping[str, Any]
    place: SourceLine
    faults: list[FileFault]
    path: str = ""

    def note_fault(self, field: str, message: str, hint: str) -> None:
        """Note a fault of a field."""
        self.faults.append(self.place.fault(f"{self.path}{field}", message, hint))

    def text(self, field: str) -> str:
        """Return a field's text, stripped of blanks; an empty text if it is missing."""
        value = self.fields.get(field)

        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.note_fault(field, f"{quoted_value(value)} is not a text", "write a text")
            return ""

        # A lone surrogate can't be encoded as UTF-8.
        return str(value).encode(errors="replace").decode().strip()

    def needed(self, field: str, hint: str) -> str:
        """Return the text of a required field; note a fault if it is empty."""
        if self.fields.get(field) in (None, ""):
            self.note_fault(field, "it is empty", hint)
            return ""

        return self.text(field)

    def number(self, field: str, hint: str = "write a number") -> float | None:
        """Return a finite number, or None if the field is empty; note a fault for anything else."""
        value = self.fields.get(field)

        if value is None or value == "":
            return None

        number = as_number(value)

        if number is None:
            self.note_fault(field, f"{quoted_value(value)} is not a number", hint)

        return number

    def probability(self, field: str) -> float | None:
        """Return a probability, or None if the field is empty; note a fault for anything else."""
        hint = "write a probability from 0 to 1"
        value = self.number(field, hint)

        if value is None or 0 <= value <= 1:
            return value

        self.note_fault(field, f"{quoted_value(self.fields[field])} is not from 0 to 1", hint)
        return None

    def probabilities(self) -> dict[str, float]:
        """Return the probability in each field that is not empty; note a fault for anything else."""
        shares = {}

        for name in self.fields:
            share = self.probability(name)

            if share is not None:
                shares[name.strip()] = share

        return shares

    def time(self, field: str) -> datetime | None:
        """Return an instant from ISO text or seconds since 1970; without a time zone it is in UTC."""
        value = self.fields.get(field)

        if value is None or value == "":
            return None

        instant = as_time(value)

        if instant is None:
            self.note_fault(
                field, f"{quoted_value(value)} is not a time", "write it like 2026-01-04T12:00:00Z"
            )

        return instant

    def flag(self, field: str) -> bool:
        """Return a field as a boolean; note a fault if it says neither yes nor no."""
        value = self.fields.get(field)
        text = str(value).strip().lower()

        if text in FLAGS:
            return FLAGS[text]

        self.note_fault(field, f"{quoted_value(value)} is neither yes nor no", "write true or false")
        return False

    def inner(self, field: str) -> "SourceObject":
        """Return the object in a field; an empty one if it is missing, with a fault for anything else."""
        value = self.fields.get(field)
        path = f"{self.path}{field}."

        if isinstance(value, dict):
            return replace(self, fields=value, path=path)
        if value is not None:
            self.note_fault(field, f"{quoted_value(value)} is not an object", "write an object in braces")

        return replace(self, fields={}, path=path)

    def inner_or_empty(self, field: str) -> "SourceObject":
        """Return the object in a field that may hold anything; an empty one if it holds something else."""
        value = self.fields.get(field)
        fields = value if isinstance(value, dict) else {}
        return replace(self, fields=fields, path=f"{self.path}{field}.")

    def values(self, field: str) -> list[Any]:
        """Return the list in a field; an empty one if it is missing, with a fault for anything else."""
        value = self.fields.get(field)

        if value is None or isinstance(value, list):
            return value or []

        self.note_fault(field, f"{quoted_value(value)} is not a list", "write a list in brackets")
        return []

    def objects(self, field: str) -> list["SourceObject"]:
        """Return the objects of a list in a field; note a fault for anything else in it."""
        objects = []

        for number, value in enumerate(self.values(field), 1):
            if isinstance(value, dict):
                objects.append(replace(self, fields=value, path=f"{self.path}{field}[{number}]."))
            else:
                self.note_fault(f"{field}[{number}]", f"{quoted_value(value)} is not an object", "remove it")

        return objects


def quoted_value(value: object) -> str:
    """Return the beginning of a value, to be quoted in a fault."""
    return repr(value)[:SHOWN]


def as_number(value: object) -> float | None:
    """Return a finite number, given as such or as text; None for anything else.

    >>> as_number("0.5"), as_number(True), as_number("1_0"), as_number(10**400)
    (0.5, None, None, None)
    """
    if isinstance(value, str) and is_number(value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None

    try:
        number = float(value)
    except OverflowError:  # an integer may be of any length
        return None

    return number if isfinite(number) else None


def as_time(value: object) -> datetime | None:
    """Return the instant of an ISO text or of seconds since 1970; None for anything else.

    >>> as_time("2026-01-04T12:00:00Z") == as_time(1767528000)
    True
    """
    number = as_number(value)

    try:
        if number is not None:
            return datetime.fromtimestamp(number, UTC)
        if not isinstance(value, str):
            return None
        instant = datetime.fromisoformat(value.strip())
    except (ValueError, OverflowError, OSError):
        return None

    if instant.tzinfo is None:
        return instant.replace(tzinfo=UTC)

    return instant


def suffix_of(file: SourceFile) -> str:
    """Return the suffix of a file's name, without that of compression.

    >>> suffix_of(SourceFile("a/B.CSV.gz", b""))
    '.csv'
    """
    return PurePath(file.name.lower().removesuffix(".gz")).suffix


def read_objects(file: SourceFile, part: str, faults: list[FileFault]) -> Iterator[SourceObject]:
    """Yield the objects of a file: one a line, or those of one list, which faults call `part`."""
    first_line, _, other_lines = file.data.strip(SPACE).partition(b"\n")

    if suffix_of(file) in LINED or (other_lines and is_json_object(first_line)):
        yield from read_lines(file, faults)
        return

    value = read_whole(file, faults)

    if isinstance(value, dict) and isinstance(value.get("results"), list):
        value = value["results"]  # a page of an API
    if value is not None:
        yield from objects_in_list(value, file, part, faults)


def is_json_object(text: bytes) -> bool:
    """Tell whether a text is a complete JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def read_lines(file: SourceFile, faults: list[FileFault]) -> Iterator[SourceObject]:
    """Yield the object on each line; note lines that hold none."""
    for number, line in enumerate(StringIO(text_of(file, faults), newline=None), 1):
        if not line.strip():
            continue

        value = parse_json(file.name, line.strip(), number, faults)
        place = SourceLine(file.name, number)

        if isinstance(value, dict):
            yield SourceObject(value, place, faults)
        elif value is not None:
            what = f"{quoted_value(value)} is not an object"
            faults.append(place.fault("", what, "write an object on each line"))


def read_whole(file: SourceFile, faults: list[FileFault]) -> Any:
    """Return the value of a JSON file; None, with a fault, if it can't be read."""
    text = text_of(file, faults)

    if not text:
        return None

    return parse_json(file.name, text, 1, faults)


def objects_in_list(
    values: object, file: SourceFile, part: str, faults: list[FileFault]
) -> Iterator[SourceObject]:
    """Yield the objects of a file's list; note a fault for anything else in it."""
    if not isinstance(values, list):
        values = [values]

    for number, value in enumerate(values, 1):
        source_object = SourceObject({}, SourceLine(file.name, number, part), faults)

        if isinstance(value, dict):
            yield replace(source_object, fields=value)
        else:
            source_object.note_fault(
                "object", f"{quoted_value(value)} is not an object", "write an object in braces"
            )


def header_names(file: SourceFile) -> set[str]:
    """Return the column names in the first line of a CSV file.

    >>> sorted(header_names(SourceFile("f.csv", b'"source", id')))
    ['id', 'source']
    """
    line = file.data[:LONGEST_HEADER].partition(b"\n")[0].decode("utf-8-sig", "replace")
    return {name.strip().strip('"') for name in line.split(",")}


def read_rows(
    file: SourceFile, faults: list[FileFault], fill_for_missing: str | None = None
) -> Iterator[SourceObject]:
    """Yield the rows of a CSV file with a header; note rows with too many or too few cells.

    If `fill_for_missing` is given, it fills the last cells of a short row instead.
    """
    reader = csv.DictReader(
        StringIO(text_of(file, faults), newline=""), restval=fill_for_missing, strict=True
    )
    last_line = 1

    try:
        reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]

        for row in reader:
            source_row = SourceObject(row, SourceLine(file.name, last_line + 1), faults)
            last_line = reader.line_num

            if None in row or None in row.values():
                source_row.note_fault(
                    "", "it has other cells than the first line", "put text with commas in quotes"
                )
            else:
                yield source_row
    except csv.Error as error:
        fault_text = f"invalid CSV ({error})"
        faults.append(
            FileFault(file.name, "", fault_text, "write quotes in a text twice", line=last_line + 1)
        )


def text_of(file: SourceFile, faults: list[FileFault]) -> str:
    """Return the text of a file; an empty text, with a fault, if it is not UTF-8."""
    try:
        return file.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        faults.append(FileFault(file.name, "", "this is not UTF-8", "save it as text in UTF-8", line))
        return ""


def parse_json(name: str, text: str, line: int, faults: list[FileFault]) -> Any:
    """Return the value of a JSON text that begins at a line; None, with a fault, if it is invalid."""
    value = json_value(text)

    if not isinstance(value, Exception):
        return value

    what = str(value)

    if isinstance(value, json.JSONDecodeError):
        line += value.lineno - 1
        what = value.msg

    faults.append(FileFault(name, "", f"invalid JSON ({what})", "correct it, or fetch the file again", line))
    return None


def first_object(file: SourceFile) -> Mapping[str, Any]:
    """Return the first object of a JSON file or of its list; an empty one if there is none.

    >>> first_object(SourceFile("a", b'[{"x": 1}]')), first_object(SourceFile("b", b"x,y"))
    ({'x': 1}, {})
    """
    start = file.data.lstrip(SPACE)

    if start[:1] not in (b"{", b"["):
        return {}

    texts = start.split(b"\n", PEEKED)[:PEEKED]

    if len(start) <= MOST_BYTES:
        texts.append(start)

    for text in texts:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list):
            value = next(iter(value), None)
        if isinstance(value, dict):
            return value

    return {}
