"""Checks what a venue beside the config answers, before anything of it is used or stored.

The code is anyone's: whatever it raises, and values that a record can't hold, become a `VenueError` that
names its file. It stops the round, as a person has to correct the file.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, get_args, get_type_hints

from arena.errors import ArenaError
from arena.rounds.error_text import code_place, error_text, redact_keys
from markets.distributions import check_form_text
from markets.millionths import ONE
from markets.model import Level, Listing, Market, MarketId, Quote, Resolution
from markets.past import PastMarket, PastRequest, PastSelection, PastVenue
from markets.venue import (
    EVERY_MARKET,
    UNWRITABLE,
    Catalogue,
    CatalogueFilter,
    QuarantinedRecord,
    Report,
    Venue,
    VenueError,
)

WHOLE = "a whole number of millionths"
PRICE = f"{WHOLE} (490000 is 49¢)"
PRICES = ("bid", "ask", "mid", "last")
AMOUNTS = ("volume", "volume_24h", "liquidity", "open_interest")
FEES = ("tick", "fee_rate", "min_shares")
REPORTED = ("venue", "record", "kind", "code", "reason", "raw")
REPORTED_KINDS = get_args(get_type_hints(QuarantinedRecord)["kind"])
TEXTS = ("id", "event_id", "question", "rules", "category", "story", "slug", "event_slug", "tags", "form")


def open_extension(path: Path, open_client: Callable[[], Venue], live: bool = True) -> Venue:
    """Open a venue of this file, with its answers checked. Raise `VenueError` if its code fails.

    Unless it is `live`, an end that becomes known only after it was asked for is refused.
    """
    with code_errors(path):
        venue = open_client()
    return CheckedVenue(venue, path, live)


def open_extension_past(path: Path, open_client: Callable[[], PastVenue]) -> PastVenue:
    """Open the past of a venue of this file, with its answers checked.

    Raise `VenueError` if its code fails.
    """
    with code_errors(path):
        venue = open_client()
    return CheckedPast(venue, path)


def checked_report(path: Path, report: Report) -> Report:
    """Return the function by which a venue of this file reports records, without keys in its texts.

    It raises `VenueError` for what a record can't hold.
    """

    def check(item: QuarantinedRecord) -> None:
        if not isinstance(item, QuarantinedRecord):
            raise wrong_value_error(path, "the report", item, "report()", "a QuarantinedRecord")
        for name in REPORTED:
            if not isinstance(getattr(item, name), str):
                raise wrong_value_error(path, name, getattr(item, name), "a QuarantinedRecord", "a text")
        if item.kind not in REPORTED_KINDS:
            raise wrong_value_error(
                path, "kind", item.kind, "a QuarantinedRecord", f"one of {', '.join(REPORTED_KINDS)}"
            )
        report(replace(item, reason=redact_keys(item.reason), raw=redact_keys(item.raw)))

    return check


@contextmanager
def code_errors(path: Path) -> Iterator[None]:
    """Raise what the code of an extension raises as a `VenueError` with its file and line."""
    try:
        yield
    except (VenueError, ArenaError):
        raise
    except Exception as error:  # an extension is anyone's file and may fail in any way
        place = code_place(error) or f"{path.name}: "
        raise extension_error(path, place + error_text(error)) from error


def extension_error(path: Path, message: str) -> VenueError:
    """Return the error of an extension, with the file to correct: its path from the extensions' folder on."""
    parts = path.parts
    if "extensions" in parts:
        last = len(parts) - 1 - parts[::-1].index("extensions")
        parts = parts[last:]
    return VenueError("bad_extension", message, f"correct {'/'.join(parts)}", stops=True)


def wrong_value_error(path: Path, field: str, value: Any, owner: str, expected: str) -> VenueError:
    """Return the error that a field of a market or of an answer has a wrong value, and what is expected."""
    with code_errors(path):
        value_text = repr(value)
    if len(value_text) > 60:
        value_text = f"{value_text[:59]}…"

    # The id of a market is the extension's own, and may hold what can't be written.
    owner_text = UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", str(owner))
    return extension_error(path, f"{path.name}: {field} {value_text} of {owner_text} is not {expected}")


class CheckedVenue:
    """A venue beside the config: what it raises and answers is checked. All else that it has is its own."""

    def __init__(self, venue: Any, path: Path, live: bool = True):
        self._venue = venue
        self._path = path
        self._live = live

    def __getattr__(self, name: str) -> Any:
        return getattr(self._venue, name)

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return the venue's catalogue; raise `VenueError` for one that can't be used."""
        with code_errors(self._path):
            catalogue = await self._venue.catalogue(at, wanted)

        if not isinstance(catalogue, Catalogue):
            raise self._wrong_value("the answer", catalogue, "catalogue()", "a Catalogue")
        if not isinstance(catalogue.left_out, Mapping):
            raise self._wrong_value("left_out", catalogue.left_out, "catalogue()", "a count by reason")
        self._check_listings(catalogue.listings, "catalogue()")
        return catalogue

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return these markets as the venue lists them; raise `VenueError` for what can't be used."""
        with code_errors(self._path):
            listings: list[Listing] = await self._venue.listings(at, markets)

        self._check_listings(listings, "listings()")
        return listings

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return how these markets ended; raise `VenueError` for what can't be used."""
        with code_errors(self._path):
            resolutions: list[Resolution] = await self._venue.resolutions(at, markets)

        self._check_list(resolutions, Resolution, "resolutions()")
        for resolution in resolutions:
            self._check_resolution(resolution)
            # A live venue's clock may be a little ahead; any other knows when it was asked.
            if resolution.known_at > at and not self._live:
                known_at = resolution.known_at.isoformat()
                expected = f"{at.isoformat()}, when it was asked, or before"
                raise self._wrong_value("known_at", known_at, resolution.market_id, expected)
        return resolutions

    async def close(self) -> None:
        """Close the venue. Raise `ArenaError` if its code fails."""
        try:
            with code_errors(self._path):
                await self._venue.close()
        except VenueError as error:
            raise ArenaError(error.code, error.message, error.hint) from error

    def _check_listings(self, listings: Any, method: str) -> None:
        """Raise `VenueError` for the first value of a listing that a record can't hold."""
        self._check_list(listings, Listing, method)
        for listing in listings:
            market = listing.market
            quote = listing.quote
            if not isinstance(market, Market):
                raise self._wrong_value("market", market, method, "a Market")
            self._check_market(market)

            if quote is not None and market.form:
                raise self._wrong_value(
                    "quote", quote, market.id, "None: only a question of yes or no has a price"
                )
            if isinstance(quote, Quote):
                self._check_quote(quote, market.id)
            elif quote is not None:
                raise self._wrong_value("quote", quote, market.id, "a Quote or None")

    def _check_market(self, market: Market) -> None:
        self._check_texts(market, TEXTS, market.id)
        for name in ("opens_at", "closes_at"):
            self._check_instant(name, getattr(market, name), market.id)
        for name in FEES:
            value = getattr(market, name)
            self._check_whole(name, value, market.id)
            if value < 0:
                raise self._wrong_value(name, value, market.id, "0 or more")
        if market.form:
            try:
                check_form_text(market.form)
            except ValueError as error:
                expected = f"the form of a question ({error})"
                raise self._wrong_value("form", market.form, market.id, expected) from error

    def _check_resolution(self, resolution: Resolution) -> None:
        market = resolution.market_id
        self._check_texts(resolution, ("market_id", "source", "answer"), market)
        self._check_instant("known_at", resolution.known_at, market)
        self._check_whole("payout", resolution.payout, market, may_be_none=True)
        self._check_whole("version", resolution.version, market, expected="a whole number")

    def _check_quote(self, quote: Quote, market: MarketId) -> None:
        if quote.market_id != market:
            raise self._wrong_value("market_id", quote.market_id, market, "the id of its market")
        self._check_instant("at", quote.at, market)
        for name in PRICES:
            self._check_price(name, getattr(quote, name), market)
        for name in AMOUNTS:
            self._check_whole(name, getattr(quote, name), market, may_be_none=True)

        for side in ("bids", "asks"):
            levels = getattr(quote, side)
            if not isinstance(levels, tuple) or not all(isinstance(level, Level) for level in levels):
                raise self._wrong_value(side, levels, market, "a tuple of Level")
            for level in levels:
                if level.price is None:
                    raise self._wrong_value(f"{side} price", None, market, PRICE)
                self._check_price(f"{side} price", level.price, market)
                self._check_whole(f"{side} shares", level.shares, market)

    def _check_list(self, answer: Any, item_type: type, method: str) -> None:
        """Raise `VenueError` unless a method's answer is a list of items of one type."""
        name = item_type.__name__
        if not isinstance(answer, list | tuple):
            raise self._wrong_value("the answer", answer, method, f"a list of {name}")
        for item in answer:
            if not isinstance(item, item_type):
                raise self._wrong_value("the item", item, method, f"a {name}")

    def _check_texts(self, item: Any, names: Collection[str], market: MarketId) -> None:
        """Raise `VenueError` for the first of the named fields that is no text which a record can hold."""
        for name in names:
            value = getattr(item, name)
            if not isinstance(value, str):
                raise self._wrong_value(name, value, market, "a text")
            if UNWRITABLE.search(value):
                raise self._wrong_value(name, value, market, "a text without NUL and lone surrogates")

    def _check_instant(self, name: str, value: Any, market: MarketId) -> None:
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise self._wrong_value(name, value, market, "a datetime with a time zone, such as UTC")

    def _check_price(self, name: str, value: Any, market: MarketId) -> None:
        """Raise `VenueError` for a price that is neither None nor from 0 to 1 in millionths."""
        if value is None:
            return
        if type(value) is not int:
            raise self._wrong_value(name, value, market, PRICE)
        if not 0 <= value <= ONE:
            raise self._wrong_value(name, value, market, "from 0 to 1000000 millionths (490000 is 49¢)")

    def _check_whole(
        self, name: str, value: Any, market: MarketId, may_be_none: bool = False, expected: str = WHOLE
    ) -> None:
        """Raise `VenueError` for a value that is no whole number, or too large for a record."""
        if value is None and may_be_none:
            return
        if type(value) is not int:
            raise self._wrong_value(name, value, market, expected)
        if abs(value) >= 2**63:
            raise self._wrong_value(name, value, market, "below 2^63")

    def _wrong_value(self, field: str, value: Any, owner: str, expected: str) -> VenueError:
        return wrong_value_error(self._path, field, value, owner, expected)


class CheckedPast(CheckedVenue):
    """The past of a venue beside the config, checked like its present."""

    async def past_markets(self, request: PastRequest) -> PastSelection:
        """Return the markets that are wanted; raise `VenueError` for what can't be used."""
        with code_errors(self._path):
            selection = await self._venue.past_markets(request)

        if not isinstance(selection, PastSelection):
            raise self._wrong_value("the answer", selection, "past_markets()", "a PastSelection")
        self._check_past(list(selection.markets.values()), "past_markets()")
        return selection

    async def completed(self, markets: Sequence[PastMarket], request: PastRequest) -> list[PastMarket]:
        """Return markets with how they ended; raise `VenueError` for what can't be used."""
        with code_errors(self._path):
            completed: list[PastMarket] = await self._venue.completed(markets, request)

        self._check_past(completed, "completed()")
        return completed

    async def history(self, market: MarketId, start: datetime, end: datetime, hours: int = 1) -> list[Quote]:
        """Return a market's prices between two instants; raise `VenueError` for what can't be used."""
        with code_errors(self._path):
            quotes: list[Quote] = await self._venue.history(market, start, end, hours)

        self._check_list(quotes, Quote, "history()")
        for quote in quotes:
            self._check_quote(quote, market)
        return quotes

    def _check_past(self, markets: Any, method: str) -> None:
        """Raise `VenueError` for the first value of a past market that a bundle can't hold."""
        self._check_list(markets, PastMarket, method)
        for past in markets:
            if not isinstance(past.market, Market):
                raise self._wrong_value("market", past.market, method, "a Market")
            self._check_market(past.market)
            self._check_whole("volume", past.volume, past.market.id)
            if past.stopped is not None:
                self._check_instant("stopped", past.stopped, past.market.id)
            if past.end is not None:
                self._check_list([past.end], Resolution, method)
                self._check_resolution(past.end)
