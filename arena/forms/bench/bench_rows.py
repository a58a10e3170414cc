"""The rows of a ForecastBench file, and the faults in their fields."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from typing import Any, TypeGuard

from arena.errors import ArenaError, FileFault
from arena.forms.bench.model import NOTHING, WAYS, combination_id, is_day
from arena.forms.csv_columns import SHOWN
from markets.hashes import object_without_repeated_keys

HALF_LETTER = re.compile(r"\\u[dD][89a-fA-F]")
SHARE_HINT = "write a probability from 0 to 1, such as 0.35"


def in_row_order(faults: Iterable[FileFault]) -> list[FileFault]:
    """Return faults of the whole file first, then row by row."""
    return sorted(faults, key=lambda fault: fault.number)


def is_nothing(value: object) -> bool:
    """Tell whether a cell is empty: null or NaN."""
    return value is None or (isinstance(value, float) and isnan(value))


def is_pair(name: object) -> TypeGuard[list[str]]:
    """Tell whether an id is a pair of two different ids."""
    if not isinstance(name, list) or len(name) != 2:
        return False
    return all(isinstance(part, str) and part.strip() for part in name) and name[0] != name[1]


def short_text(value: object) -> str:
    """Return a value as a short text for an error."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


class RowReader:
    """Reads one file, whose rows are in its list `part`, and collects the faults in it."""

    def __init__(self, file: str, part: str):
        self.file = file
        self.part = part
        self.faults: list[FileFault] = []

    def note_fault(self, row: int | None, name: str, message: str, hint: str) -> None:
        """Note a fault in a field of a row, or of the whole file."""
        part = self.part if row else ""
        self.faults.append(FileFault(self.file, name, message, hint, part=part, row=row))

    def document(self, text: str) -> dict[str, Any]:
        """Return the object in the file; raise `ArenaError` if it can't be read at all."""
        try:
            data = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=object_without_repeated_keys)
        except json.JSONDecodeError as error:
            where = f"{self.file}:{error.lineno}:{error.colno}"
            what = f"{where}: this is not JSON: {error.msg}"
            raise ArenaError("bad_file", what, "save it as JSON") from error
        except ValueError as error:  # a repeated key, or a number of thousands of digits
            hint = "write every key once, and probabilities from 0 to 1"
            raise ArenaError("bad_file", f"{self.file} can't be read: {error}", hint) from error
        except RecursionError as error:
            raise ArenaError("bad_file", f"{self.file} is nested too deeply", "save it anew") from error

        if HALF_LETTER.search(text) and _has_half_letter(data):
            what = f"{self.file}: a text in it is not Unicode: half of a letter, \\ud8…"
            raise ArenaError("bad_file", what, "write it again with whole letters")
        if not isinstance(data, dict) or not isinstance(data.get(self.part), list):
            what = f"{self.file}: it has no list {self.part!r}"
            raise ArenaError("bad_file", what, f'the file is an object with a list "{self.part}"')
        return data

    def rows(self, data: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the rows that are objects, numbered from 1."""
        for row, item in enumerate(data[self.part], 1):
            if isinstance(item, dict):
                yield row, item
            else:
                self.note_fault(row, "row", f"{short_text(item)} is not an object", "write it in braces")

        if not data[self.part]:
            self.note_fault(None, self.part, "there is none", "add the rows")

    def header(self, data: Mapping[str, Any], *names: str) -> str:
        """Return the text of the first of these fields that is present."""
        for name in names:
            if name not in data:
                continue
            value = data[name]
            if isinstance(value, str) and value.strip():
                return value
            self.note_fault(None, name, f"{short_text(value)} is not a name", "write a text")
            return ""

        self.note_fault(None, names[0], "it is missing", "add it")
        return ""

    def due(self, data: Mapping[str, Any]) -> str:
        """Return the day by which forecasts were due."""
        value = data.get("forecast_due_date")
        if isinstance(value, str) and is_day(value):
            return value

        what = "it is missing"
        if "forecast_due_date" in data:
            what = f"{short_text(value)} is not a day"
        self.note_fault(None, "forecast_due_date", what, "write it like 2026-03-01")
        return ""

    def key(self, row: int, item: Mapping[str, Any]) -> tuple[str, str] | None:
        """Return source and id; for a combination, both ids and their directions."""
        source = item.get("source")
        name = item.get("id")
        if is_pair(name):
            direction = item.get("direction")
            if direction not in (None, NOTHING, *map(list, WAYS)):
                what = f"{short_text(direction)} is not how two questions may end"
                self.note_fault(row, "direction", what, "write [1, 1], [1, -1], [-1, 1] or [-1, -1]")
            name = combination_id(name, direction)

        for field_name, value in (("source", source), ("id", name)):
            if not isinstance(value, str) or not value.strip():
                what = f"{short_text(value)} is not a name" if field_name in item else "it is missing"
                self.note_fault(row, field_name, what, "copy it from the question set")
        if not isinstance(source, str) or not isinstance(name, str):
            return None
        return (source, name) if source and name else None

    def day(self, row: int, value: object) -> str | None:
        """Return a day; None, with a fault, if it is invalid."""
        text = value
        if isinstance(value, str) and value[10:11] in ("T", " "):
            text = value[:10]
        if isinstance(text, str) and is_day(text):
            return text

        self.note_fault(
            row, "resolution_date", f"{short_text(value)} is not a day", "write it like 2026-03-08"
        )
        return None

    def share(self, row: int, name: str, value: object) -> float | None:
        """Return a probability; None, with a fault, if it is invalid."""
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)

        self.note_fault(row, name, f"{short_text(value)} is not a number from 0 to 1", SHARE_HINT)
        return None


def _has_half_letter(data: object) -> bool:
    """Tell whether a text in a document has a lone surrogate, which is not Unicode."""
    text = json.dumps(data, ensure_ascii=False)
    return any("\ud800" <= letter <= "\udfff" for letter in text)
