"""Reads series from the texts of files and servers: tables with a head, FRED's forms, DBnomics's, our own.

A text is read whole or not at all: a value that is missing by a mistake would decide a question wrongly. Each
mistake is told with its file, its line or place, and its field.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any, NoReturn

from markets.observations import Observation, Series, SeriesPage, end_of, in_order, start_of
from markets.templates import template_of
from markets.venues.wire.fields import instant, is_name, shown_value

DATE_COLUMNS = ("date", "observation_date", "period_start_day")
PUBLISHED_COLUMNS = ("published", "realtime_start")
UNREAD_COLUMNS = ("realtime_end", "period", "")
VALUE_COLUMN = "value"
MISSING = frozenset({"", ".", "na", "nan", "n/a", "null", "none"})
"""How files say that a date has no value."""
PAGE_KEYS = ("title", "unit", "about", "category")
MOST_FAULTS = 20
"""The most mistakes of a file that are told: others are mostly of the same kind."""
_NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?")
_LARGEST = Decimal(10) ** 15
_FINEST = Decimal(10) ** -12


@dataclass(frozen=True, slots=True)
class SeriesFault:
    """A mistake in a file: the line, or the place in JSON, the field, and what is wrong with it."""

    file: str
    line: int | str
    field: str
    reason: str

    @property
    def words(self) -> str:
        """Return the mistake with where it is."""
        place = str(self.line)
        if isinstance(self.line, int):
            place = f"line {place}"
        return ", ".join(filter(None, (self.file, place, self.field))) + f": {self.reason}"


class BadSeries(ValueError):
    """A file that can't be used, with its mistakes."""

    def __init__(self, faults: Sequence[SeriesFault]):
        super().__init__("; ".join(fault.words for fault in faults[:3]))
        self.faults = tuple(faults[:MOST_FAULTS])


@dataclass(frozen=True, slots=True)
class RawObservation:
    """A row as it is written: where it is, its date, its value, and when it was published, if it says so."""

    line: int | str
    date: Any
    value: Any
    published: Any


@dataclass
class ObservationReader:
    """Reads the rows of one series after another, and collects their mistakes.

    `lag` is after how many days a value is published, where a text doesn't say when. Without a lag, such
    values count as known from their own date on.
    """

    file: str
    lag: int | None
    faults: list[SeriesFault] = field(default_factory=list)

    def note_fault(self, line: int | str, name: str, reason: str) -> None:
        """Note a mistake."""
        self.faults.append(SeriesFault(self.file, line, name, reason))

    def refuse(self, line: int | str, name: str, reason: str) -> NoReturn:
        """Raise `BadSeries` with a mistake after which nothing more can be read."""
        raise BadSeries([*self.faults, SeriesFault(self.file, line, name, reason)])

    def series(self, name: str, rows: Iterable[RawObservation], value_field: str = VALUE_COLUMN) -> Series:
        """Return a series of rows, in the order in which they were published."""
        if not is_name(name):
            self.note_fault(
                "name", "", f"{shown_value(name)} is no name: letters, digits, dot, dash, underscore"
            )

        observations: list[Observation] = []
        line_of_key: dict[tuple[date, datetime], int | str] = {}
        has_vintages = True
        for row in rows:
            has_vintages = has_vintages and (self.lag is not None or row.published not in (None, ""))
            observation = self._observation(row, value_field)
            if observation is None:
                continue

            key = observation.date, observation.published
            if key in line_of_key:
                twice = f"{observation.date} is there twice with one time of publication"
                reason = f"{twice}, first at {line_of_key[key]}"
                self.note_fault(row.line, "date", reason)
            line_of_key.setdefault(key, row.line)
            observations.append(observation)

        if not observations and not self.faults:
            self.note_fault("the whole file", value_field, "it has no values")
        return Series(name, in_order(observations), has_vintages)

    def _observation(self, row: RawObservation, value_field: str) -> Observation | None:
        """Return what a row says; None, with its mistakes noted, where it makes no sense."""
        day = self._read(row.line, "date", read_date, row.date)
        faults_before = len(self.faults)
        value = self._read(row.line, value_field, read_value, row.value)
        if day is None or len(self.faults) > faults_before:
            return None

        if row.published not in (None, ""):
            published = self._read(row.line, "published", read_published, row.published)
        elif self.lag is not None:
            published = end_of(day + timedelta(days=self.lag))
        else:
            published = start_of(day)
        if published is None:
            return None
        return Observation(day, value, published)

    def _read(self, line: int | str, name: str, reader: Callable[[Any], Any], value: Any) -> Any:
        """Return what a field holds; None, with the mistake noted, where it makes no sense."""
        try:
            return reader(value)
        except ValueError as error:
            self.note_fault(line, name, str(error))
            return None


def read_date(value: object) -> date:
    """Return a date, written 2026-01-04."""
    text = value.strip() if isinstance(value, str) else ""
    try:
        if len(text) == len("2026-01-04"):
            return date.fromisoformat(text)
    except ValueError:
        pass  # it is refused below, like everything else that is no date
    raise ValueError(f"{shown_value(value)} is not a date like 2026-01-04")


def read_published(value: object) -> datetime:
    """Return when something was known at the latest: the end of a day, or a time with its time zone."""
    text = value.strip() if isinstance(value, str) else ""
    if len(text) <= len("2026-01-04"):
        return end_of(read_date(value))
    return instant(value)


def read_value(value: object) -> Decimal | None:
    """Return a value exactly as it is written, or None if it is missing."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise ValueError(f"{shown_value(value)} is not a number")

    text = str(value).strip()
    if text.casefold() in MISSING:
        return None
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{shown_value(value)} is not a number like 3.91, without signs for thousands")

    number = Decimal(text)
    if abs(number) >= _LARGEST:
        raise ValueError(f"{shown_value(value)} is too large")
    if number != number.quantize(_FINEST):
        number = number.quantize(_FINEST)
    return number.normalize()


def read_series(file: str, text: str, lag: int | None) -> list[Series]:
    """Return the series in a text. Raise `BadSeries` with all its mistakes."""
    reader = ObservationReader(file, lag)
    start = text.lstrip("\ufeff \r\n\t")[:1]
    if not start:
        reader.refuse("the whole file", "", "it is empty")
    if start == "<":
        reader.refuse(1, "", "it is a web page, no table")

    read_form = _json_series if start in "{[" else _table_series
    found = list(read_form(reader, text))
    if reader.faults:
        raise BadSeries(reader.faults)
    return found


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────


def _table_series(reader: ObservationReader, text: str) -> Iterator[Series]:
    """Yield the series of a CSV with a head: one in the column `value`, else one a column, by its name."""
    (head_line, head), *table = _table_rows(reader, text)
    names = list(map(str.strip, head))
    columns = list(map(str.casefold, names))
    for name in columns:
        if name and columns.count(name) > 1:
            reader.refuse(head_line, name, "the column is there twice")

    day_column = _column_index(columns, DATE_COLUMNS)
    published_column = _column_index(columns, PUBLISHED_COLUMNS)
    if day_column is None:
        reader.refuse(head_line, "date", f"there is no such column among {', '.join(names)[:80]}")
    value_columns = _value_columns(columns)
    if not value_columns:
        reader.refuse(head_line, VALUE_COLUMN, "there is no such column, and none named as a series")

    for column in value_columns:
        name = names[column]
        if columns[column] == VALUE_COLUMN:
            name = PurePath(reader.file).stem
        rows = []
        for line, row in table:
            published = None if published_column is None else row[published_column].strip()
            rows.append(RawObservation(line, row[day_column], row[column], published))
        yield reader.series(name, rows, names[column])


def _table_rows(reader: ObservationReader, text: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV, each with its line: the head, and those that have as many fields."""
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    table: list[tuple[int, list[str]]] = []
    try:
        for row in filter(None, rows):
            if table and len(row) != len(table[0][1]):
                reader.note_fault(
                    rows.line_num, "", f"it has {len(row)} fields, and the head {len(table[0][1])}"
                )
            else:
                table.append((rows.line_num, row))
    except csv.Error as error:
        reader.refuse(rows.line_num, "", f"it is no CSV: {error}")

    return table


def _value_columns(columns: Sequence[str]) -> list[int]:
    """Return the places of the columns with values: that of `value`, else all that are nothing else."""
    if VALUE_COLUMN in columns:
        return [columns.index(VALUE_COLUMN)]

    others = (*DATE_COLUMNS, *PUBLISHED_COLUMNS, *UNREAD_COLUMNS)
    return [place for place, name in enumerate(columns) if name not in others]


def _column_index(columns: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the place of the first of some columns that is there."""
    return next((columns.index(name) for name in names if name in columns), None)


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────


def _json_series(reader: ObservationReader, text: str) -> Iterator[Series]:
    """Yield the series of FRED's answer, of DBnomics's, or of our own form."""
    content = _parse_json(reader, text)
    if not isinstance(content, dict):
        reader.refuse("the whole file", "", "it is a list, and not an object with observations or values")

    if "observations" in content:
        yield _fred_series(reader, content)
    elif isinstance(content.get("series"), dict):
        yield from _dbnomics_series(reader, content["series"])
    else:
        yield _own_series(reader, content)


def _parse_json(reader: ObservationReader, text: str) -> Any:
    """Return the JSON of a text, its numbers exactly as they are written."""
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_float=Decimal)
    except json.JSONDecodeError as error:
        reader.refuse(error.lineno, "", f"it is no whole JSON: {error.msg}")
    except (ValueError, RecursionError):
        reader.refuse("the whole file", "", "it is no JSON that can be read")


def _listed_objects(
    reader: ObservationReader, content: Mapping[str, Any], key: str
) -> Iterator[tuple[str, Any]]:
    """Yield the objects of a list, each with its place in the file."""
    listed = content.get(key)
    if not isinstance(listed, list):
        reader.refuse("the whole file", key, f"{shown_value(listed)} is not a list")

    for number, item in enumerate(listed, 1):
        place = f"{key} {number}"
        if isinstance(item, dict):
            yield place, item
        else:
            reader.note_fault(place, "", f"{shown_value(item)} is not an object")


def _fred_series(reader: ObservationReader, content: Mapping[str, Any]) -> Series:
    """Return the series of FRED's `series/observations`.

    An answer about one day has that day in each of its rows: it doesn't say when they were published.
    """
    count = content.get("count")
    listed = content.get("observations")
    if type(count) is int and isinstance(listed, list) and count > len(listed):
        reader.refuse("the whole file", "observations", f"it has {len(listed)} of {count}")

    is_one_day = content.get("realtime_start") == content.get("realtime_end")
    rows = []
    for place, item in _listed_objects(reader, content, "observations"):
        published = None if is_one_day else item.get("realtime_start")
        rows.append(RawObservation(place, item.get("date"), item.get("value", "no value"), published))
    return reader.series(PurePath(reader.file).stem, rows)


def _dbnomics_series(reader: ObservationReader, content: Mapping[str, Any]) -> Iterator[Series]:
    """Yield the series of DBnomics's `series`: lists of periods and values, side by side."""
    for place, item in _listed_objects(reader, content, "docs"):
        days = item.get("period_start_day")
        values = item.get("value")
        if not isinstance(days, list) or not isinstance(values, list) or len(days) != len(values):
            reader.refuse(place, "period_start_day, value", "they are not two lists of the same length")

        codes = [str(item.get(key)) for key in ("provider_code", "dataset_code", "series_code")]
        rows = []
        for number, (day, value) in enumerate(zip(days, values, strict=True), 1):
            rows.append(RawObservation(f"{place}, value {number}", day, value, None))
        series = reader.series(dbnomics_name("/".join(codes)), rows)
        title = item.get("series_name")
        page = SeriesPage(title=title if isinstance(title, str) else "", category="dbnomics")
        yield Series(series.name, series.observations, series.has_vintages, page)


def dbnomics_name(codes: str) -> str:
    """Return what a series of DBnomics is called here: its codes without what no name may have.

    >>> dbnomics_name("AMECO/ZUTN/EA19.1.0.0.0.ZUTN")
    'AMECO_ZUTN_EA19.1.0.0.0.ZUTN'
    """
    return re.sub(r"[^A-Za-z0-9._-]", "_", codes)


def _own_series(reader: ObservationReader, content: Mapping[str, Any]) -> Series:
    """Return the series of our own form: a list `values` of objects with date, value and maybe published."""
    for key in content:
        if key != "values":
            reader.note_fault("the whole file", key, "the form has values, and nothing beside them")

    rows = []
    for place, item in _listed_objects(reader, content, "values"):
        unknown = sorted(item.keys() - {"date", "value", "published"})
        if unknown:
            reader.note_fault(place, unknown[0], "it is none of date, value, published")
        value = item.get("value", "no value")
        rows.append(RawObservation(place, item.get("date"), value, item.get("published")))
    return reader.series(PurePath(reader.file).stem, rows)


# ── what is said of series ───────────────────────────────────────────────────────────────────────────────


def read_pages(file: str, text: str) -> dict[str, SeriesPage]:
    """Return what a file says of series by their names. Raise `BadSeries` with all its mistakes.

    It is an object of objects with `title`, `unit`, `about` and `category`, which are texts, and `asks`, a
    list of templates.
    """
    reader = ObservationReader(file, None)
    content = _parse_json(reader, text)
    if not isinstance(content, dict):
        reader.refuse("the whole file", "", "it is not an object of series by their names")

    pages = {name: _page(reader, name, item) for name, item in content.items()}
    if reader.faults:
        raise BadSeries(reader.faults)
    return pages


def _page(reader: ObservationReader, name: str, item: object) -> SeriesPage:
    """Return what is said of one series, with its mistakes noted."""
    if not isinstance(item, dict):
        reader.note_fault(name, "", f"{shown_value(item)} is not an object")
        return SeriesPage()

    texts: dict[str, str] = {}
    for key, value in item.items():
        if key not in (*PAGE_KEYS, "asks"):
            reader.note_fault(name, key, f"it is none of {', '.join(PAGE_KEYS)}, asks")
        elif key in PAGE_KEYS and isinstance(value, str):
            texts[key] = value
        elif key in PAGE_KEYS:
            reader.note_fault(name, key, f"{shown_value(value)} is not text")
    return SeriesPage(**texts, asks=_read_templates(reader, name, item.get("asks", [])))


def _read_templates(reader: ObservationReader, name: str, listed: object) -> tuple[str, ...]:
    """Return the templates in a list, with the mistakes noted."""
    if not isinstance(listed, list):
        reader.note_fault(name, "asks", f"{shown_value(listed)} is not a list of templates")
        return ()

    asks = []
    for template in map(str, listed):
        try:
            template_of(template)
        except ValueError as error:
            reader.note_fault(name, "asks", str(error))
        asks.append(template)
    return tuple(asks)
