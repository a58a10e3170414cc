"""A short visit to a venue by its adapter: some markets, their books and past, and how others ended."""

from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from arena.cassettes.cassette import VenueReading
from markets.model import MarketId
from markets.past import PastRequest, PastVenue
from markets.venue import CatalogueFilter, Venue, VenueError

T = TypeVar("T")
PAGES = 2
"""Pages of the list of open markets: the second one shows that the first leads on."""
MOST_MARKETS = 6
"""So many open markets are looked up, and so many that have ended."""
PAST = timedelta(days=7)
HOURS = 24
"""The past that is asked for, and a price for so many hours of it: a price an hour would fill a cassette."""


class RecordableVenue(Venue, PastVenue, Protocol):
    """A venue that shows its present and its past."""


@dataclass(slots=True)
class _Visit:
    """A visit to a venue as of an instant; `faults` are the steps that came to nothing."""

    venue: RecordableVenue
    at: datetime
    faults: list[str] = field(default_factory=list)

    async def step(self, name: str, asked: Awaitable[T]) -> T | None:
        """Return the result of a step; None, with a fault noted, if the venue gives no answer."""
        try:
            return await asked
        except VenueError as error:
            self.faults.append(f"{name}: {error.code}")
            return None

    async def open_markets(self) -> list[MarketId]:
        """Return the first markets on offer."""
        catalogue = await self.venue.catalogue(self.at, CatalogueFilter(pages=PAGES))
        return [listing.market.id for listing in catalogue.listings[:MOST_MARKETS]]

    async def ended_markets(self) -> list[MarketId]:
        """Return markets that were open lately and have ended."""
        request = PastRequest(self.at - PAST, self.at, self.at, HOURS)
        selection = await self.venue.past_markets(request)
        stopped = [past for past in selection.markets.values() if past.stopped is not None]
        completed = await self.venue.completed(stopped[:MOST_MARKETS], request)
        return [past.market.id for past in completed]


async def visit(venue: RecordableVenue, at: datetime, rejected: Counter[str]) -> VenueReading:
    """Return how much an adapter reads of its venue; it asks the same of the same answers each time.

    `rejected` is where the adapter's reports of rejected records are counted.
    """
    visited = _Visit(venue, at)
    shown = await visited.step("markets", visited.open_markets()) or []
    listings = await visited.step("prices", venue.listings(at, shown)) or []
    read: Counter[str] = Counter(markets=len(listings))
    for listing in listings:
        quote = listing.quote
        if quote is not None:
            read["prices"] += quote.price is not None
            read["books"] += bool(quote.bids or quote.asks)

    for market in shown:
        past = await visited.step("past prices", venue.history(market, at - PAST, at, HOURS))
        read["histories"] += bool(past)

    ended = await visited.step("ended markets", visited.ended_markets()) or []
    ends = await visited.step("ends", venue.resolutions(at, ended)) or []
    read["ends"] = len(ends)
    faults = tuple(dict.fromkeys(visited.faults))
    return VenueReading(**read, set_aside=dict(sorted(rejected.items())), faults=faults)
