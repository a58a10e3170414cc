"""Appending what was seen to a bundle: only what is new, and only what reads back unchanged."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Literal, TypeVar

from markets.bundle import rows
from markets.bundle.files import BOOKS, ENDS, MARKETS, NAMES, PRICES, append, file_in_bundle, locked_folder
from markets.bundle.model import BadBundleValue, Recording, shown_value
from markets.bundle.read import read
from markets.hashes import added_to_page, timestamp_text
from markets.millionths import decimal
from markets.model import Level, Listing, Market, MarketId, Quote, Resolution
from markets.venue import QuarantinedRecord, Report, VenueError, ignore_report

Row = dict[str, object]
T = TypeVar("T")
TABLES = {name: (*needed, *more) for name, (needed, more) in rows.COLUMNS.items()}


@dataclass(frozen=True, slots=True)
class Sighting:
    """Listings and resolutions as seen at an instant."""

    at: datetime
    listings: tuple[Listing, ...]
    resolutions: tuple[Resolution, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteCounts:
    """The number of new records of each kind."""

    pages: int
    prices: int
    resolutions: int


@dataclass(slots=True)
class _BundleContents:
    """What a bundle holds already, as far as new lines depend on it, and the new lines."""

    pages: dict[MarketId, dict[datetime, Market]]
    times: dict[MarketId, set[datetime]]
    ends: dict[MarketId, tuple[int, datetime]]
    lines: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in NAMES})

    def tables(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of each table; resolutions have answers only for other than yes-or-no forms."""
        pages = chain.from_iterable(versions.values() for versions in self.pages.values())
        has_answers = any(page.form for page in pages)
        ends = tuple(name for name in TABLES[ENDS] if has_answers or name != "answer")
        return {**TABLES, ENDS: ends}


def write(folder: Path, sightings: Iterable[Sighting], report: Report = ignore_report) -> WriteCounts:
    """Add what was seen, in the order of time, to a bundle, which is made if it isn't there.

    A page is added where it reads otherwise than before, a quote where none is known for its time, a
    resolution where its version is new. What wouldn't read back as the same is set aside. VenueError where
    the folder can't be used; then, and where the process is killed, nothing is written.
    """
    try:
        with locked_folder(folder):
            contents = _bundle_contents(folder)
            for sighting in sorted(sightings, key=lambda sighting: sighting.at):
                _add_sighting(sighting, contents, report)
            append(folder, contents.lines, contents.tables())
    except BadBundleValue as error:
        raise VenueError(
            "bad_bundle", f"{folder} can't be written to: {error}", "use a new folder"
        ) from error

    return WriteCounts(*(len(contents.lines[name]) for name in (MARKETS, PRICES, ENDS)))


def _bundle_contents(folder: Path) -> _BundleContents:
    is_any_file_there = any(file_in_bundle(folder, name).exists() for name in NAMES)
    markets: Mapping[MarketId, Recording] = read(folder).markets if is_any_file_there else {}

    contents = _BundleContents({}, {}, {})
    for market, record in markets.items():
        contents.pages[market] = dict(zip(record.seen, record.pages, strict=True))
        contents.times[market] = set(record.known)
        if record.ends:
            contents.ends[market] = (len(record.ends), record.ends[-1].known_at)
    return contents


def _add_sighting(sighting: Sighting, contents: _BundleContents, report: Report) -> None:
    for listing in sighting.listings:
        try:
            _add_listing(listing, sighting.at, contents)
        except BadBundleValue as error:
            report(quarantine("market", listing.market.id, error))

    for end in sorted(sighting.resolutions, key=lambda end: (end.market_id, end.version)):
        try:
            _add_end(end, contents)
        except BadBundleValue as error:
            report(quarantine("resolution", end.market_id, error))


def _add_listing(listing: Listing, at: datetime, contents: _BundleContents) -> None:
    """Add the lines of a listing; all of them are built before any is kept."""
    market = listing.market
    quote = listing.quote
    known_pages = contents.pages.get(market.id, {})
    newest_page_at = max((time for time in known_pages if time <= at), default=None)
    new_lines: dict[str, Row] = {}
    if newest_page_at is None or known_pages[newest_page_at] != market:
        new_lines[MARKETS] = page_line(market, at)
        if at in known_pages:
            raise BadBundleValue(
                f"another page of {market.id} at {at:%Y-%m-%d %H:%M}", "the one that is in the bundle"
            )

    quote_times = contents.times.setdefault(market.id, set())
    if quote is not None and _has_price(quote) and quote.at not in quote_times:
        new_lines[PRICES] = price_line(quote)
        if quote.bids or quote.asks:
            new_lines[BOOKS] = book_line(quote)
        quote_times.add(quote.at)

    if MARKETS in new_lines:
        contents.pages.setdefault(market.id, {})[at] = market
    for name, line in new_lines.items():
        contents.lines[name].append(line)


def _has_price(quote: Quote) -> bool:
    return (quote.bid, quote.ask, quote.mid, quote.last) != (None,) * 4


def _add_end(end: Resolution, contents: _BundleContents) -> None:
    newest_version, newest_known_at = contents.ends.get(end.market_id, (0, end.known_at))
    if end.market_id not in contents.pages:
        raise BadBundleValue(f"an end of {end.market_id}", "one of a market that is in the bundle")
    if end.version <= newest_version:
        return
    if end.version > newest_version + 1 or end.known_at < newest_known_at:
        raise BadBundleValue(
            f"version {end.version} of how {end.market_id} ended", "versions in order of time"
        )

    pages = contents.pages[end.market_id]
    _check_reads_back({"answer": end.answer}, rows.with_answer(end, pages[max(pages)].form), end)
    contents.lines[ENDS].append(end_line(end))
    contents.ends[end.market_id] = end.version, end.known_at


def quarantine(
    kind: Literal["market", "resolution"], market: MarketId, error: BadBundleValue
) -> QuarantinedRecord:
    """Return the report of a record that a bundle can't hold."""
    venue, _, own = market.partition(":")
    return QuarantinedRecord(venue, own, kind, "not_recordable", f"{error}, so it is left out")


def page_line(market: Market, at: datetime) -> Row:
    """Return the line of `markets.jsonl` for a market's page at an instant."""
    venue, _, own_id = market.id.partition(":")
    row: Row = {
        "venue": venue,
        "id": own_id,
        "question": market.question,
        "rules": market.rules,
        "category": market.category,
        "event": market.event_id,
        "open": timestamp_text(market.opens_at),
        "close": timestamp_text(market.closes_at),
        "seen": timestamp_text(at),
        "tick": str(decimal(market.tick)),
        "fee_rate": str(decimal(market.fee_rate)),
        "min_shares": str(decimal(market.min_shares)),
        **added_to_page(market),
    }
    if market.form:
        row["form"] = json.loads(market.form)

    return _check_reads_back(row, rows.page(row).market, market)


def price_line(quote: Quote) -> Row:
    """Return the row of `prices.csv` for a quote."""
    venue, _, own_id = quote.market_id.partition(":")
    row: Row = {"venue": venue, "id": own_id, "date": timestamp_text(quote.at), "kind": "seen"}
    figures = {"prob_yes": quote.mid, "bid": quote.bid, "ask": quote.ask, "last": quote.last}
    figures["volume"] = quote.volume
    row |= {name: "" if value is None else str(decimal(value)) for name, value in figures.items()}
    quote_read_back = rows.quote(row)
    if quote.bids or quote.asks:
        quote_read_back = rows.with_book(quote_read_back, rows.book(book_line(quote)))

    return _check_reads_back(row, quote_read_back, quote)


def book_line(quote: Quote) -> Row:
    """Return the line of `books.jsonl` for a quote with a book."""
    venue, _, own = quote.market_id.partition(":")
    sides = {"bids": _levels(quote.bids), "asks": _levels(quote.asks)}
    return {"venue": venue, "id": own, "at": timestamp_text(quote.at), **sides}


def _levels(levels: Iterable[Level]) -> list[list[str]]:
    return [[str(decimal(level.price)), str(decimal(level.shares))] for level in levels]


def end_line(end: Resolution) -> Row:
    """Return the row of `resolutions.csv` for a resolution; its source is kept on one line."""
    end = replace(end, source=" ".join(end.source.split()))
    payout = rows.REFUND if end.payout is None else str(decimal(end.payout))
    row: Row = {
        "market": end.market_id,
        "version": str(end.version),
        "known_at": timestamp_text(end.known_at),
        "payout": payout,
        "source": end.source,
    }

    if end.answer:
        row["answer"] = end.answer

    return _check_reads_back(row, rows.end(row), end)


def _check_reads_back(row: Row, read_back: T, meant: T) -> Row:
    if read_back != meant:
        raise BadBundleValue(shown_value(row), "what reads back as the same")
    return row
