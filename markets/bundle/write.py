"""Adding to a bundle what was seen: only what is new, and only what reads back as the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from markets.bundle import rows
from markets.bundle.append import append, place
from markets.bundle.files import BOOKS, ENDS, MARKETS, PRICES
from markets.bundle.journal import NAMES, alone
from markets.bundle.lines import Row, book_line, end_line, page_line, price_line
from markets.bundle.mistakes import Unmeant
from markets.bundle.model import Recording
from markets.bundle.read import read
from markets.model import Listing, Market, MarketId, Quote, Resolution
from markets.venue import Report, SetAside, VenueError, forget

TABLES = {
    PRICES: rows.PRICE_COLUMNS + rows.MORE_PRICE_COLUMNS,
    ENDS: rows.END_COLUMNS + rows.MORE_END_COLUMNS,
}


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen at an instant."""

    at: datetime
    listings: tuple[Listing, ...]
    resolutions: tuple[Resolution, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """How much was new."""

    pages: int
    prices: int
    resolutions: int


@dataclass(slots=True)
class _Known:
    """What a bundle holds already, as far as new lines depend on it, and these lines."""

    pages: dict[MarketId, dict[datetime, Market]]
    times: dict[MarketId, set[datetime]]
    ends: dict[MarketId, tuple[int, datetime]]
    lines: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in NAMES})


def write(folder: Path, sightings: Iterable[Sighting], report: Report = forget) -> Written:
    """Add what was seen, in the order of time, to a bundle, which is made if it isn't there.

    A page is added where it reads otherwise than before, a quote where none is known for its time, a
    resolution where its version is new. What can't be written so that it reads back as the same is set
    aside, and the rest is written. VenueError where the folder can't be used; then nothing is written. A
    process that is killed in the middle has written nothing, and the next one clears away what it left.
    """
    try:
        with alone(folder):
            known = _known(folder)
            for sighting in sorted(sightings, key=lambda sighting: sighting.at):
                _add(sighting, known, report)
            append(folder, known.lines, TABLES)
    except Unmeant as error:
        raise VenueError(
            "bad_bundle", f"{folder} can't be written to: {error}", "use a new folder"
        ) from error
    except OSError as error:
        words = f"{folder} can't be written to: {error.strerror or error}"
        raise VenueError("not_writable", words, "make room, or name another folder") from error
    return Written(*(len(known.lines[name]) for name in (MARKETS, PRICES, ENDS)))


def _known(folder: Path) -> _Known:
    there = any(place(folder, name).exists() for name in NAMES)
    markets: Mapping[MarketId, Recording] = read(folder).markets if there else {}
    return _Known(
        {m: dict(zip(record.seen, record.pages, strict=True)) for m, record in markets.items()},
        {market: set(record.known) for market, record in markets.items()},
        {m: (len(record.ends), record.ends[-1].known_at) for m, record in markets.items() if record.ends},
    )


def _add(sighting: Sighting, known: _Known, report: Report) -> None:
    for listing in sighting.listings:
        try:
            _add_listing(listing, sighting.at, known)
        except Unmeant as error:
            report(_aside("market", listing.market.id, error))
    for end in sorted(sighting.resolutions, key=lambda end: (end.market_id, end.version)):
        try:
            _add_end(end, known)
        except Unmeant as error:
            report(_aside("resolution", end.market_id, error))


def _add_listing(listing: Listing, at: datetime, known: _Known) -> None:
    """The lines of a listing; all of them are made before any is kept."""
    market, quote = listing.market, listing.quote
    pages = [] if _page_at(at, known.pages.get(market.id, {})) == market else [page_line(market, at)]
    if pages and at in known.pages.get(market.id, {}):
        raise Unmeant(f"another page of {market.id} at {at:%Y-%m-%d %H:%M}", "the one that is in the bundle")
    new = quote is not None and _has_price(quote) and quote.at not in known.times.get(market.id, ())
    prices = [price_line(quote)] if quote is not None and new else []
    books = [book_line(quote)] if quote is not None and new and (quote.bids or quote.asks) else []
    for name, lines in ((MARKETS, pages), (PRICES, prices), (BOOKS, books)):
        known.lines[name] += lines
    if pages:
        known.pages.setdefault(market.id, {})[at] = market
    if quote is not None and new:
        known.times.setdefault(market.id, set()).add(quote.at)


def _page_at(at: datetime, pages: Mapping[datetime, Market]) -> Market | None:
    seen = max((time for time in pages if time <= at), default=None)
    return None if seen is None else pages[seen]


def _has_price(quote: Quote) -> bool:
    return (quote.bid, quote.ask, quote.mid, quote.last) != (None,) * 4


def _add_end(end: Resolution, known: _Known) -> None:
    newest, known_at = known.ends.get(end.market_id, (0, end.known_at))
    if end.market_id not in known.pages:
        raise Unmeant(f"an end of {end.market_id}", "one of a market that is in the bundle")
    if end.version <= newest:
        return
    if end.version > newest + 1 or end.known_at < known_at:
        raise Unmeant(f"version {end.version} of how {end.market_id} ended", "versions in order of time")
    known.lines[ENDS].append(end_line(end))
    known.ends[end.market_id] = end.version, end.known_at


def _aside(kind: Literal["market", "resolution"], market: MarketId, error: Unmeant) -> SetAside:
    venue, _, own = market.partition(":")
    return SetAside(venue, own, kind, "not_recordable", f"{error}, so it is not in the recording")
