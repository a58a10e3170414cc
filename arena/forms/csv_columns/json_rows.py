"""JSON text as cells: an object a line, a list of objects, or one object that holds such a list."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from itertools import chain, product
from typing import Any

from arena.errors import ArenaError
from arena.forms.csv_columns.file_cells import SHOWN, Cells, Faults
from arena.forms.csv_columns.header import JOINS, OurColumns
from arena.forms.csv_columns.memory import memory_cells, numbered_places
from arena.forms.model import SourceLine
from markets.hashes import object_without_repeated_keys

Row = dict[str, str]
"""The texts of an object by field name; fields of nested objects have dotted names."""
OBJECT_HINT = 'write each forecast as {"question": …, "probability": …} on a line'


@dataclass(frozen=True, slots=True)
class NumberedValue:
    """A JSON value, or the error of parsing it, and its place."""

    place: SourceLine
    value: Any


def json_cells(name: str, text: str, ours: OurColumns) -> Cells:
    """Return the cells of a text; nested fields are named `outer.inner`.

    A user's name that reaches into a list of objects makes a row of each object.
    """
    faults = Faults(name)
    lists = set(_lists_reached(ours.named.values()))
    values = _numbered_values(name, text)
    longest_list = ""
    if len(values) == 1 and not lists:
        longest_list = _longest_list(values[0].value)
        lists = {longest_list}

    places: list[SourceLine] = []
    rows: list[Row] = []
    for value in values:
        rows_of_value = _rows_of_value(value, len(rows), lists, faults)
        if len(values) == 1 and len(rows_of_value) > 1:
            # The objects in a document don't have lines of their own.
            places += numbered_places(name, len(rows_of_value), longest_list or "rows")
        else:
            places += [value.place] * len(rows_of_value)
        rows += rows_of_value

    if longest_list:
        rows = _without_prefix(rows, f"{longest_list}.", ours)
    if not any(rows):
        faults.check()
        raise ArenaError("bad_file", f"{name}: it has no forecasts", "add an object for each forecast")
    columns: dict[str, list[str]] = {}
    for key in dict.fromkeys(chain.from_iterable(rows)):
        columns[key] = [row.get(key, "") for row in rows]
    return memory_cells(faults, places, columns, ours)


def _rows_of_value(
    value: NumberedValue, rows_before: int, lists: Collection[str], faults: Faults
) -> list[Row]:
    """Return the rows of an object; anything else is noted, and yields an empty row."""
    content = value.value
    if isinstance(content, Mapping):
        try:
            return object_rows(content, lists)
        except RecursionError as error:
            content = error

    if isinstance(content, Exception):
        faults.tear(rows_before, value.place, "invalid", f"invalid JSON ({content})", OBJECT_HINT)
    else:
        what = f"{str(content)[:SHOWN]!r} is not an object"
        faults.tear(rows_before, value.place, "no object", what, OBJECT_HINT)
    return [{}]


def _numbered_values(name: str, text: str) -> list[NumberedValue]:
    """Return the values of a text: the elements of a list, one value a line, or a single one."""
    whole = json_value(text)
    if text.lstrip()[0] == "[":
        if isinstance(whole, Exception):
            raise ArenaError("bad_file", f"{name}: invalid JSON ({whole})", "correct the file") from whole
        return list(map(NumberedValue, numbered_places(name, len(whole), "list"), whole))
    if isinstance(whole, Mapping):
        return [NumberedValue(SourceLine(name, 1), whole)]

    lines = enumerate(StringIO(text, newline=None), 1)
    return [
        NumberedValue(SourceLine(name, number), json_value(line)) for number, line in lines if line.strip()
    ]


def json_value(text: str) -> Any:
    """Return the value of a JSON text, or the exception that parsing raised."""
    try:
        return json.loads(text, object_pairs_hook=object_without_repeated_keys)
    except (ValueError, RecursionError) as error:
        return error


def _lists_reached(named: Collection[str]) -> Iterator[str]:
    """Yield the paths that a user's names lead through.

    >>> list(_lists_reached(["events.markets.id", "model"]))
    ['events', 'events.markets']
    """
    for theirs in named:
        for column in theirs.split(JOINS):
            parts = column.strip().split(".")
            for depth in range(1, len(parts)):
                yield ".".join(parts[:depth])


def _longest_list(value: Any) -> str:
    """Return the name of an object's longest list of objects; an empty text if it has none."""
    if not isinstance(value, Mapping):
        return ""

    lengths = {key: len(field) for key, field in value.items() if _is_list_of_objects(field)}
    return max(lengths, key=lengths.__getitem__, default="")


def _without_prefix(rows: list[Row], prefix: str, ours: OurColumns) -> list[Row]:
    """Return rows with the list's prefix removed from their names, if all needed columns are then there."""
    plain = {key: key.removeprefix(prefix) for key in chain.from_iterable(rows)}
    if not set(plain.values()) >= set(ours.needed):
        return rows
    return [dict(zip(map(plain.__getitem__, row), row.values(), strict=True)) for row in rows]


def _is_list_of_objects(value: Any) -> bool:
    """Tell whether a value is a non-empty list of objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(element, Mapping) for element in value)


def object_rows(value: Mapping[str, Any], lists: Collection[str], path_prefix: str = "") -> list[Row]:
    """Return the rows of an object: one, or one for each object in the lists of these names.

    >>> object_rows({"model": "a", "said": [{"p": 1}, {"p": 0}]}, {"said"})
    [{'model': 'a', 'said.p': '1'}, {'model': 'a', 'said.p': '0'}]
    """
    rows: list[Row] = [{}]
    for key, field in value.items():
        path = f"{path_prefix}{key}"
        if isinstance(field, Mapping):
            part_rows = object_rows(field, lists, f"{path}.")
        elif path in lists and _is_list_of_objects(field):
            part_rows = []
            for element in field:
                part_rows += object_rows(element, lists, f"{path}.")
        else:
            part_rows = [{path: _text_of(field)}]

        if len(part_rows) == 1:
            for row in rows:
                row.update(part_rows[0])
        else:
            rows = [{**row, **part} for row, part in product(rows, part_rows)]
    return rows


def _text_of(value: Any) -> str:
    """Return the text of a field; an empty text for null."""
    if value is None:
        return ""
    if isinstance(value, list):
        return json.dumps(value)
    return str(value)
