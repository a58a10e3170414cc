"""Tables of probabilities and orders, as CSV or JSON Lines, read strictly."""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from io import StringIO
from typing import Any

from agents.answers.figures import MeaninglessItem
from agents.answers.grammar import NumberText, RepeatedKey
from agents.answers.json_text import NotOneObject, bare_object
from agents.answers.orders import bet_of, reason_of, sale_of
from agents.answers.parse import forecast_of
from agents.model import Forecast, Unreadable
from agents.text import one_line
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale

COLUMNS = ("at", "market", "probability", "answer", "side", "amount", "limit", "fraction", "reason")
NEEDED = ("at", "market")
MOST_MARKET = 200

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer to a question that isn't of yes or no, as it was written: its question tells what it says."""

    market_id: MarketId
    value: Any
    reason: str


LineContent = Forecast | WrittenAnswer | Bet | Sale


@dataclass(frozen=True, slots=True)
class PredictionLine:
    """A valid line: from when on it counts, and what it says."""

    line: int
    at: datetime
    says: LineContent


@dataclass(frozen=True, slots=True)
class BadLine:
    """An invalid line, and why; `at` where at least that was readable."""

    at: datetime | None
    rejection: Rejection


def read_table(name: str, text: str) -> tuple[list[PredictionLine], list[BadLine]]:
    """Return the rows of a table, and the faults of invalid ones; raise `Unreadable` for a bad table."""
    rows = list[PredictionLine]()
    bad = list[BadLine]()
    read_lines = next((read for ending, read in FORMATS.items() if name.lower().endswith(ending)), None)
    if read_lines is None:
        raise Unreadable(f"{name} must end in .csv or .jsonl. Rename it to match its contents")

    for number, parse_line in read_lines(name, text):
        at = None
        market = ""
        try:
            cells = parse_line()
            item = {key: value for key, value in cells.items() if value is not None and str(value).strip()}
            if item:
                at = _required_time(item.get("at"))
                market = _required_market(item.get("market"))
                rows.append(PredictionLine(number, at, _line_content(item, MarketId(market))))
        except MeaninglessItem as error:
            bad.append(BadLine(at, Rejection(error.code, f"{name}:{number}: {error}", market)))

    return rows, bad


def _csv_lines(name: str, text: str) -> Iterator[tuple[int, Callable[[], Item]]]:
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    header = _next_row(name, reader, reader.line_num)
    line = 1
    columns = list(map(str.strip, header or ()))
    _refuse_unknown_columns(name, line, columns)
    repeated = [column for column in columns if columns.count(column) > 1]
    if repeated:
        raise Unreadable(f'{name}:{line}: the column "{repeated[0]}" appears twice. Remove one of them')

    missing = [column for column in NEEDED if column not in columns]
    if missing:
        raise Unreadable(f'{name}:{line}: there is no column "{missing[0]}". Add it to the first line')

    line = reader.line_num + 1
    while (cells := _next_row(name, reader, line)) is not None:
        yield line, partial(_csv_item, columns, cells)
        line = reader.line_num + 1


def _csv_item(columns: list[str], cells: list[str]) -> Item:
    if len(cells) not in (0, len(columns)):
        raise MeaninglessItem("row", f"it has {len(cells)} cells, the first line {len(columns)}")
    return dict(zip(columns, cells, strict=False))


def _next_row(name: str, reader: "Iterator[list[str]]", line: int) -> list[str] | None:
    try:
        return next(reader, None)
    except csv.Error as error:
        hint = "Put text with commas or quotes in double quotes, and double any quotes inside it"
        raise Unreadable(f"{name}:{line}: invalid CSV ({error}). {hint}") from error


def _json_lines(name: str, text: str) -> Iterator[tuple[int, Callable[[], Item]]]:
    for number, text_of_line in enumerate(text.split("\n"), 1):
        if text_of_line.strip():
            yield number, partial(_json_item, name, number, text_of_line)


def _json_item(name: str, line: int, text: str) -> Item:
    try:
        item = bare_object(text)
    except NotOneObject as error:
        raise MeaninglessItem("not_an_object", str(error)) from error

    repeated = [value.key for value in item.values() if isinstance(value, RepeatedKey)]
    if repeated:
        raise MeaninglessItem("duplicate_key", f'the key "{one_line(repeated[0], 40)}" appears twice')

    _refuse_unknown_columns(name, line, list(item))
    return item


FORMATS = {".csv": _csv_lines, ".jsonl": _json_lines}
"""Readers by file extension, which yield the number of each line and a function that parses it."""


def _refuse_unknown_columns(name: str, line: int, columns: list[str]) -> None:
    for column in columns:
        if column not in COLUMNS:
            allowed = ", ".join(COLUMNS)
            fault = f'"{one_line(column, 40)}" is unknown. Rename or remove it; known columns are {allowed}'
            raise Unreadable(f"{name}:{line}: {fault}")


def _required_time(value: object) -> datetime:
    """Return an ISO 8601 instant, in UTC unless it has a zone."""
    if not isinstance(value, str) or isinstance(value, NumberText):
        fault = "the time is not a text"
        if value is None:
            fault = "the time (at) is missing"
        raise MeaninglessItem("time", fault)

    try:
        at = datetime.fromisoformat(value.strip())
    except ValueError as error:
        fault = f'the time "{one_line(value, 40)}" is not a time such as 2026-01-04T12:00 (UTC by default)'
        raise MeaninglessItem("time", fault) from error

    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return at


def _required_market(value: object) -> str:
    if value is None:
        raise MeaninglessItem("market", "the market is missing")
    if isinstance(value, str) and len(value) <= MOST_MARKET and all(value.strip().partition(":")):
        return value.strip()
    quoted = one_line(str(value), 60)
    raise MeaninglessItem("market", f'the market "{quoted}" is not one such as polymarket:123')


def _written_answer(item: Item, market: MarketId) -> WrittenAnswer:
    """Return an answer, which is the JSON of an object in a CSV, and an object in JSON by the line."""
    value = item["answer"]
    if isinstance(value, str):
        try:
            value = bare_object(value)
        except NotOneObject as error:
            fault = (
                'the answer is not like {"first option": 0.2, "second": 0.8} or {"5": 1, "50": 2, "95": 4}'
            )
            raise MeaninglessItem("answer", fault) from error

    return WrittenAnswer(market, value, reason_of(item))


def _line_content(item: Item, market: MarketId) -> LineContent:
    """Return what a row says: exactly one item, without keys of another."""
    content_keys = [key for key in CONTENT_BY_KEY if key in item]
    if len(content_keys) != 1:
        found = " and ".join(content_keys) or "none of them"
        message = "a row has a probability, an amount to bet or a fraction to sell, and this one has "
        raise MeaninglessItem("row", f"{message}{found}")

    content_key = content_keys[0]
    read_content, companions = CONTENT_BY_KEY[content_key]
    allowed = (*NEEDED, content_key, *companions, "reason")
    unexpected = [key for key in item if key not in allowed]
    if unexpected:
        raise MeaninglessItem("row", f"a row with a {content_key} has no {unexpected[0]}")
    return read_content(item, market)


CONTENT_BY_KEY: Mapping[str, tuple[Callable[[Item, MarketId], LineContent], tuple[str, ...]]] = {
    "probability": (forecast_of, ()),
    "answer": (_written_answer, ()),
    "amount": (bet_of, ("side", "limit")),
    "fraction": (sale_of, ("side", "limit")),
}
"""What a row holds, by its key, and which other keys it may have."""
