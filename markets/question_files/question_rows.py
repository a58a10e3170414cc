"""Rows of CSV files and lines of JSON, read field by field; each fault is noted by file, line and field."""

import csv
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

from markets.distributions import decimal_fraction
from markets.question_files.asked import FaultKind, QuestionFault
from markets.venue import UNWRITABLE

SEPARATOR = ";"
"""What stands between options, or their odds, in one cell."""
FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}
MOST_BYTES = 1 << 27
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A row by its fields, where it stands, and where its faults are noted."""

    fields: Mapping[str, Any]
    file: str
    line: int
    faults: list[QuestionFault]

    def note_fault(self, field: str, message: str, hint: str) -> None:
        """Note what is wrong with a field."""
        record = str(self.fields.get("id") or "").strip()
        kind: FaultKind = "resolution" if "outcome" in self.fields else "market"
        self.faults.append(QuestionFault(self.file, self.line, field, message, hint, record, kind))

    def text(self, field: str) -> str:
        """Return a field as stripped text, or an empty text if it is missing."""
        value = self.fields.get(field)
        if value is None:
            return ""
        return self._written(field, value)

    def _written(self, field: str, value: object) -> str:
        """Return a value as text; note the fault and return "" if it is no text or can't be stored."""
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, str | int | float):
            self.note_fault(field, f"{str(value)[:40]} is not a text", "write a text")
            return ""

        text = str(value).strip()
        if UNWRITABLE.search(text):
            self.note_fault(field, f"{text[:40]!a} has characters that can't be stored", "remove them")
            return ""
        return text

    def needed(self, field: str, hint: str) -> str:
        """Return the text of a field that must not be empty; note a fault if it is."""
        text = self.text(field)
        if not text and field not in self.faulty:
            self.note_fault(field, "it is empty", hint)
        return text

    @property
    def faulty(self) -> set[str]:
        """Return the fields of this row that have a fault."""
        return {fault.field for fault in self.faults if (fault.file, fault.line) == (self.file, self.line)}

    def parts(self, field: str) -> tuple[str, ...]:
        """Return the texts of a list, or of a cell between semicolons."""
        value = self.fields.get(field)
        if isinstance(value, list):
            return tuple(self._written(field, part) for part in value)

        text = self.text(field)
        if not text:
            return ()
        return tuple(map(str.strip, text.split(SEPARATOR)))

    def flag(self, field: str) -> bool:
        """Return whether a field says yes; note a fault where it says neither yes nor no."""
        text = self.text(field)
        known = FLAGS.get(text.casefold())
        if known is None:
            self.note_fault(field, f"{text[:40]!r} is neither yes nor no", "write yes or no")
            return False
        return known

    def shares(self, field: str) -> tuple[Fraction, ...]:
        """Return the probabilities in a field; note a fault for each part that isn't one."""
        shares = []
        for part in self.parts(field):
            try:
                share = decimal_fraction(part)
            except ValueError:
                share = Fraction(-1)
            if not 0 <= share <= 1:
                self.note_fault(field, f"{part[:40]!r} is not a probability", "write a number from 0 to 1")
                return ()
            shares.append(share)

        return tuple(shares)

    def instant(self, field: str, hint: str, day_ends: bool = False) -> datetime | None:
        """Return a time, in UTC unless it names a zone; note the fault and return None if it is no time.

        A date alone is the beginning of the day, or its end where `day_ends`: when something was known by.
        """
        text = self.needed(field, hint)
        if not text:
            return None

        try:
            day = date.fromisoformat(text)
        except ValueError:
            return self._time(field, text)
        if not 1900 <= day.year < 9000:
            self.note_fault(field, f"{text} is not in our times", "correct the year")
            return None
        return datetime.combine(day, time(), UTC) + DAY * day_ends

    def _time(self, field: str, text: str) -> datetime | None:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            self.note_fault(
                field, f"{text[:40]!r} is not a time", "write it like 2026-01-31T12:00Z or 2026-01-31"
            )
            return None

        if not 1900 <= at.year < 9000:
            self.note_fault(field, f"{text} is not in our times", "correct the year")
            return None
        if at.tzinfo is None:
            return at.replace(tzinfo=UTC)
        return at.astimezone(UTC)


def read_rows(
    path: Path, known: Collection[str], needed: Collection[str], faults: list[QuestionFault]
) -> Iterator[QuestionRow]:
    """Yield the rows of a `.csv` or `.jsonl` file; note unreadable rows and unknown columns."""
    text = read_text(path, faults)
    if text is None:
        return
    if path.suffix.lower() == ".csv":
        yield from _read_csv(path.name, text, known, needed, faults)
    else:
        yield from _read_lines(path.name, text, known, faults)


def read_text(path: Path, faults: list[QuestionFault]) -> str | None:
    """Return the text of a file; note the fault and return None if it can't be read."""
    try:
        if path.stat().st_size > MOST_BYTES:
            message = f"it has more than {MOST_BYTES:,} bytes"
            faults.append(QuestionFault(path.name, 0, "", message, "split it into several"))
            return None
        data = path.read_bytes()
    except OSError as error:
        message = f"it can't be read: {error.strerror or error}"
        faults.append(QuestionFault(path.name, 0, "", message, "make it readable"))
        return None

    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        faults.append(QuestionFault(path.name, line, "", "this is not UTF-8", "save it as text in UTF-8"))
        return None


def _read_csv(
    name: str, text: str, known: Collection[str], needed: Collection[str], faults: list[QuestionFault]
) -> Iterator[QuestionRow]:
    """Yield the rows below a line of names."""
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    line = 1
    try:
        names = list(map(str.strip, next(reader, [])))
        faults += _header_faults(name, names, known, needed)
        if set(needed).difference(names):
            return

        line = reader.line_num + 1
        for cells in reader:
            row = QuestionRow(dict(zip(names, cells, strict=False)), name, line, faults)
            line = reader.line_num + 1
            if not any(map(str.strip, cells)):
                continue
            if len(cells) != len(names):
                message = f"it has {len(cells)} cells, and the first line {len(names)}"
                row.note_fault("", message, "put a text with commas in quotes")
                continue
            yield row
    except csv.Error as error:
        message = f"this is not CSV ({error})"
        faults.append(QuestionFault(name, line, "", message, "write quotes in a text twice"))


def _header_faults(
    name: str, names: Sequence[str], known: Collection[str], needed: Collection[str]
) -> list[QuestionFault]:
    """Return what is wrong with the line of names: unknown and missing columns."""
    hint = "add it to the first line"
    unexpected = [column for column in names if column not in known or names.count(column) > 1]
    missing = [column for column in needed if column not in names]

    faults = [_column_fault(name, 1, column, known) for column in unexpected]
    for column in missing:
        fault = QuestionFault(name, 1, column, "there is no such column", hint)
        faults.append(fault)
    return faults


def _read_lines(
    name: str, text: str, known: Collection[str], faults: list[QuestionFault]
) -> Iterator[QuestionRow]:
    """Yield the object of each line."""
    for line, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue

        try:
            fields = json.loads(content)
        except (ValueError, RecursionError) as error:
            message = f"this is not JSON ({error})"
            faults.append(QuestionFault(name, line, "", message, "write an object on each line"))
            continue
        if not isinstance(fields, dict):
            hint = "write an object on each line"
            faults.append(QuestionFault(name, line, "", f"{content[:40]} is not an object", hint))
            continue

        unknown = [field for field in fields if field not in known]
        if unknown:
            faults.append(_column_fault(name, line, unknown[0], known))
        yield QuestionRow(fields, name, line, faults)


def _column_fault(name: str, line: int, column: str, known: Collection[str]) -> QuestionFault:
    """Return the fault of a column that is unknown, or that appears twice."""
    if column in known:
        return QuestionFault(name, line, column, "it stands twice", "keep one of them")

    similar_names = get_close_matches(column, known, 1)
    hint = f"fields are {', '.join(known)}"
    if similar_names:
        hint = f"call it {similar_names[0]}"
    return QuestionFault(name, line, column, "nothing has this name", hint)
