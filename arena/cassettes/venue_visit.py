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


async def visit_venue(venue: RecordableVenue, at: datetime, rejected: Counter[str]) -> VenueReading:
    """Return how much an adapter reads of its venue; it asks the same of the same answers each time.

    `rejected` is where the adapter's reports of rejected records are counted.
    """
    # A step that comes to nothing is noted as a fault, and the visit goes on without it.
    visit = _Visit(venue, at)
    market_ids = await visit.step("markets", visit.open_markets()) or []
    listings = await visit.step("prices", venue.listings(at, market_ids)) or []

    counts: Counter[str] = Counter(markets=len(listings))
    for listing in listings:
        quote = listing.quote
        if quote is not None:
            counts["prices"] += quote.price is not None
            counts["books"] += bool(quote.bids or quote.asks)

    for market in market_ids:
        past_prices = await visit.step("past prices", venue.history(market, at - PAST, at, HOURS))
        counts["histories"] += bool(past_prices)

    ended_ids = await visit.step("ended markets", visit.ended_markets()) or []
    resolutions = await visit.step("ends", venue.resolutions(at, ended_ids)) or []
    counts["ends"] = len(resolutions)

    faults = tuple(dict.fromkeys(visit.faults))
    return VenueReading(**counts, set_aside=dict(sorted(rejected.items())), faults=faults)
