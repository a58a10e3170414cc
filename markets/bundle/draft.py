"""The files of a bundle read line by line into a draft, and every mistake in them.

A line is an object (`.jsonl`) or the row of a table (`.csv`).
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

from markets.bundle import rows
from markets.bundle.files import BOOKS, ENDS, MARKETS, PRICES, MistakeSink, Numbered
from markets.bundle.mistakes import BadBundleValue, Mistakes, shown_value
from markets.bundle.rows import bears_date
from markets.model import MarketId, Quote, Resolution

ALWAYS = datetime.min.replace(tzinfo=UTC)
"""From when a page counts that doesn't say from when."""
T = TypeVar("T")
At = tuple[MarketId, datetime]


@dataclass(slots=True)
class Draft:
    """What the files have said so far: pages, prices and books with their lines, and ends by version.

    `end_lines` are the file and line of each market's first end.
    """

    mistakes: Mistakes = field(default_factory=Mistakes)
    pages: dict[At, tuple[int, rows.BundlePage]] = field(default_factory=dict)
    prices: dict[At, tuple[int, Quote]] = field(default_factory=dict)
    books: dict[At, tuple[int, Quote]] = field(default_factory=dict)
    ends: dict[MarketId, list[Resolution]] = field(default_factory=dict)
    end_lines: dict[MarketId, tuple[str, int]] = field(default_factory=dict)
    listed: set[MarketId] = field(default_factory=set)
    missed: set[MarketId] = field(default_factory=set)
    daily: set[MarketId] = field(default_factory=set)
    whole_list: bool = False


def read_markets(draft: Draft, numbered: Numbered, tell: MistakeSink) -> None:
    """The lines of `markets.jsonl`."""
    before = draft.mistakes.count
    for line, record in json_records(numbered, tell):
        page, end = _made(rows.page, record, line, tell), _made(rows.end_within, record, line, tell)
        if page is not None:
            market = page.market.id
            draft.listed.add(market)
            _once(draft.pages, (market, page.seen or ALWAYS), line, page, f"a second page of {market}", tell)
        if end is not None and draft.ends.setdefault(end.market_id, [end]) != [end]:
            tell(line, f"another end of {end.market_id}", "one, and later versions in resolutions.csv")
        if end is not None:
            draft.end_lines.setdefault(end.market_id, (MARKETS, line))
            _note_daily(draft, end.market_id, record, "resolution_date")
    draft.whole_list = draft.mistakes.count == before


def read_prices(draft: Draft, numbered: Numbered, tell: MistakeSink) -> None:
    """The rows of `prices.csv`."""
    for line, record in csv_records(numbered, rows.PRICE_COLUMNS, rows.MORE_PRICE_COLUMNS, tell):
        quote = _made(rows.quote, record, line, tell)
        if quote is not None and _listed(draft, quote.market_id, line, tell):
            wrong = f"a second price of {quote.market_id} known from {quote.at:%Y-%m-%d %H:%M}"
            _once(draft.prices, (quote.market_id, quote.at), line, quote, wrong, tell)
            _note_daily(draft, quote.market_id, record, "date")


def read_books(draft: Draft, numbered: Numbered, tell: MistakeSink) -> None:
    """The lines of `books.jsonl`."""
    for line, record in json_records(numbered, tell):
        quote = _made(rows.book, record, line, tell)
        if quote is not None and _listed(draft, quote.market_id, line, tell):
            wrong = f"a second book of {quote.market_id} known from {quote.at:%Y-%m-%d %H:%M}"
            _once(draft.books, (quote.market_id, quote.at), line, quote, wrong, tell)


def read_ends(draft: Draft, numbered: Numbered, tell: MistakeSink) -> None:
    """The rows of `resolutions.csv`. Versions stand in order, each known no earlier than the one before."""
    for line, record in csv_records(numbered, rows.END_COLUMNS, rows.MORE_END_COLUMNS, tell):
        end = _made(rows.end, record, line, tell)
        if end is None or not _listed(draft, end.market_id, line, tell):
            continue
        versions = draft.ends.setdefault(end.market_id, [])
        if end.version != len(versions) + 1:
            tell(line, f"version {end.version} of how {end.market_id} ended", f"version {len(versions) + 1}")
        elif versions and end.known_at < versions[-1].known_at:
            tell(line, f"a version of {end.market_id} known before the last one", "versions in order of time")
        else:
            versions.append(end)
            draft.end_lines.setdefault(end.market_id, (ENDS, line))
            _note_daily(draft, end.market_id, record, "known_at")


READERS: Mapping[str, Callable[[Draft, Numbered, MistakeSink], None]] = {
    MARKETS: read_markets,
    PRICES: read_prices,
    BOOKS: read_books,
    ENDS: read_ends,
}
"""The reader of each file, in the order in which they are read."""


def _made(make: Callable[[Any], T], record: Any, line: int, tell: MistakeSink) -> T | None:
    """What a line says, or None with the reason told."""
    try:
        return make(record)
    except BadBundleValue as error:
        tell(line, error.wrong, error.meant)
        return None


def _note_daily(draft: Draft, market: MarketId, record: Any, key: str) -> None:
    if bears_date(record, key):
        draft.daily.add(market)


def _once(
    values: dict[At, tuple[int, T]], key: At, line: int, value: T, wrong: str, tell: MistakeSink
) -> None:
    if key in values:
        tell(line, wrong, f"one only: the first stands on line {values[key][0]}")
    else:
        values[key] = line, value


def _listed(draft: Draft, market: MarketId, line: int, tell: MistakeSink) -> bool:
    """Whether there is a page of the market. Told once for each that has none, if the list could be read."""
    if market in draft.listed:
        return True
    if draft.whole_list and market not in draft.missed:
        tell(line, f"the market {shown_value(market)}", f"a market of {MARKETS}")
    draft.missed.add(market)
    return False


def json_records(numbered: Numbered, tell: MistakeSink) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with one on each line. Numbers are kept exactly as they are written."""
    for number, text in numbered:
        try:
            record = json.loads(
                text, parse_float=Decimal, parse_constant=_no_number, object_pairs_hook=_each_once
            )
        except BadBundleValue as error:
            tell(number, error.wrong, error.meant)
        except (ValueError, ArithmeticError, RecursionError):
            tell(number, "no JSON", "one JSON object on the line")
        else:
            if isinstance(record, dict):
                yield number, record
            else:
                tell(number, "JSON that is not an object", "one JSON object on the line")


def _no_number(word: str) -> None:
    raise BadBundleValue(word, "a number")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise BadBundleValue("a key that appears twice", "every key once")
    return record


def csv_records(
    numbered: Numbered, needed: Sequence[str], more: Sequence[str], tell: MistakeSink
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table by the columns that its first row names."""
    rows = _rows(numbered, tell)
    line, columns = next(rows, (0, []))
    if not _are_columns(columns, needed, more, line, tell):
        return
    for number, row in rows:
        if len(row) == len(columns):
            yield number, dict(zip(columns, row, strict=True))
        else:
            tell(number, f"{len(row)} values", f"{len(columns)}, one for each column")


def _rows(numbered: Numbered, tell: MistakeSink) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with the number of the line on which each ends."""
    number = 0

    def texts() -> Iterator[str]:
        nonlocal number
        for line, text in numbered:
            number = line
            yield text

    reader = csv.reader(texts(), strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            tell(number, f"no row ({error})", "values with commas between them")
        else:
            yield number, row


def _are_columns(
    columns: Sequence[str], needed: Sequence[str], more: Sequence[str], line: int, tell: MistakeSink
) -> bool:
    """Whether a table has all its columns, each once, and no other."""
    missing = [name for name in needed if name not in columns]
    odd = [name for name in columns if name not in (*needed, *more) or columns.count(name) > 1]
    if not missing and not odd:
        return True
    wrong = f"no column {missing[0]}" if missing else f'the column "{odd[0][:40]}"'
    tell(line, wrong, f"{','.join(needed)} and, where known, {','.join(more)}")
    return False
