"""Checks what a venue beside the config answers, before anything of it is used or stored.

The code is anyone's: whatever it raises, and values that a record can't hold, become a `VenueError` that
names its file. It stops the round, as a person has to correct the file.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from arena.errors import ArenaError
from arena.rounds.error_text import code_place, error_text
from markets.millionths import ONE
from markets.model import Level, Listing, Market, MarketId, Quote, Resolution
from markets.venue import EVERY_MARKET, Catalogue, CatalogueFilter, Venue, VenueError

WHOLE = "a whole number of millionths"
PRICE = f"{WHOLE} (490000 is 49¢)"
PRICES = ("bid", "ask", "mid", "last")
AMOUNTS = ("volume", "volume_24h", "liquidity", "open_interest")
FEES = ("tick", "fee_rate", "min_shares")
TEXTS = ("id", "event_id", "question", "rules", "category", "story", "slug", "event_slug", "tags", "form")


def open_extension(path: Path, open_client: Callable[[], Venue]) -> Venue:
    """Open a venue of this file, with its answers checked. Raise `VenueError` if its code fails."""
    with code_errors(path):
        venue = open_client()
    return CheckedVenue(venue, path)


@contextmanager
def code_errors(path: Path) -> Iterator[None]:
    """Raise what the code of an extension raises as a `VenueError` with its file and line."""
    try:
        yield
    except (VenueError, ArenaError):
        raise
    except Exception as error:  # an extension is anyone's file and may fail in any way
        place = code_place(error) or f"{path.name}: "
        raise fault(path, place + error_text(error)) from error


def fault(path: Path, message: str) -> VenueError:
    """Return the error of an extension, with the file to correct."""
    places = path.parts
    if "extensions" in places:
        last = len(places) - 1 - places[::-1].index("extensions")
        places = places[last:]
    return VenueError("bad_extension", message, f"correct {'/'.join(places)}", stops=True)


class CheckedVenue:
    """A venue beside the config: what it raises and answers is checked. All else that it has is its own."""

    def __init__(self, venue: Venue, path: Path):
        self._venue = venue
        self._path = path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._venue, name)

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return the venue's catalogue; raise `VenueError` for one that can't be used."""
        with code_errors(self._path):
            catalogue = await self._venue.catalogue(at, wanted)

        if not isinstance(catalogue, Catalogue):
            raise self._wrong("the answer", catalogue, "catalogue()", "a Catalogue")
        if not isinstance(catalogue.left_out, Mapping):
            raise self._wrong("left_out", catalogue.left_out, "catalogue()", "a count by reason")
        self._check_listings(catalogue.listings, "catalogue()")
        return catalogue

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return these markets as the venue lists them; raise `VenueError` for what can't be used."""
        with code_errors(self._path):
            listings = await self._venue.listings(at, markets)

        self._check_listings(listings, "listings()")
        return listings

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return how these markets ended; raise `VenueError` for what can't be used."""
        with code_errors(self._path):
            resolutions = await self._venue.resolutions(at, markets)

        self._check_list(resolutions, Resolution, "resolutions()")
        for resolution in resolutions:
            market = resolution.market_id
            self._check_texts(resolution, ("market_id", "source", "answer"), market)
            self._check_instant("known_at", resolution.known_at, market)
            self._check_whole("payout", resolution.payout, market, empty=True)
            if not isinstance(resolution.version, int):
                raise self._wrong("version", resolution.version, market, "a whole number")
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
                raise self._wrong("market", market, method, "a Market")
            self._check_market(market)

            if isinstance(quote, Quote):
                self._check_quote(quote, market.id)
            elif quote is not None:
                raise self._wrong("quote", quote, market.id, "a Quote or None")

    def _check_market(self, market: Market) -> None:
        self._check_texts(market, TEXTS, market.id)
        for name in ("opens_at", "closes_at"):
            self._check_instant(name, getattr(market, name), market.id)
        for name in FEES:
            self._check_whole(name, getattr(market, name), market.id)

    def _check_quote(self, quote: Quote, market: MarketId) -> None:
        if quote.market_id != market:
            raise self._wrong("market_id", quote.market_id, market, "the id of its market")
        self._check_instant("at", quote.at, market)
        for name in PRICES:
            self._check_price(name, getattr(quote, name), market)
        for name in AMOUNTS:
            self._check_whole(name, getattr(quote, name), market, empty=True)

        for side in ("bids", "asks"):
            levels = getattr(quote, side)
            if not isinstance(levels, tuple) or not all(isinstance(level, Level) for level in levels):
                raise self._wrong(side, levels, market, "a tuple of Level")
            for level in levels:
                if level.price is None:
                    raise self._wrong(f"{side} price", None, market, PRICE)
                self._check_price(f"{side} price", level.price, market)
                self._check_whole(f"{side} shares", level.shares, market)

    def _check_list(self, answer: Any, item_type: type, method: str) -> None:
        name = item_type.__name__
        if not isinstance(answer, list | tuple):
            raise self._wrong("the answer", answer, method, f"a list of {name}")
        for item in answer:
            if not isinstance(item, item_type):
                raise self._wrong("the item", item, method, f"a {name}")

    def _check_texts(self, item: Any, names: Collection[str], market: MarketId) -> None:
        for name in names:
            value = getattr(item, name)
            if not isinstance(value, str):
                raise self._wrong(name, value, market, "a text")

    def _check_instant(self, name: str, value: Any, market: MarketId) -> None:
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise self._wrong(name, value, market, "a datetime with a time zone, such as UTC")

    def _check_price(self, name: str, value: Any, market: MarketId) -> None:
        if value is None:
            return
        if not isinstance(value, int):
            raise self._wrong(name, value, market, PRICE)
        if not 0 <= value <= ONE:
            raise self._wrong(name, value, market, "from 0 to 1000000 millionths (490000 is 49¢)")

    def _check_whole(self, name: str, value: Any, market: MarketId, empty: bool = False) -> None:
        if value is None and empty:
            return
        if not isinstance(value, int):
            raise self._wrong(name, value, market, WHOLE)
        if abs(value) >= 2**63:
            raise self._wrong(name, value, market, "below 2^63")

    def _wrong(self, field: str, value: Any, of: str, meant: str) -> VenueError:
        """Return the error of a value that isn't what is meant."""
        with code_errors(self._path):
            shown = repr(value)
        if len(shown) > 60:
            shown = f"{shown[:59]}…"
        return fault(self._path, f"{self._path.name}: {field} {shown} of {of} is not {meant}")
