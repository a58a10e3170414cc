"""A venue that plays a bundle back: everything is known from the instant on from which it was known then.

`docs/bundles.md` describes the form of a bundle and what is known when.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import Field

from markets.bundle import Bundle, Recording, read
from markets.millionths import ONE
from markets.model import Listing, MarketId, Resolution
from markets.venue import (
    EVERY_MARKET,
    Catalogue,
    CatalogueFilter,
    Report,
    VenueError,
    VenueSettings,
    ignore_report,
)

stamp = "replay"

LATEST_END = timedelta(days=7)
"""In a record that has only days, a longer silence before the end means that it may have ended earlier."""
NO_BET = 10**9 * ONE
"""The least number of shares of a market on which no bet is possible: more than anybody can pay for."""


class Settings(VenueSettings):
    """Which recording to play. A cohort freezes the hash of its content.

    A market is on offer while its newest price is at most
    `price_days` old.
    """

    path: Path = Field(default=Path("recording"), exclude=True)
    """The folder of the recording; a path relative to the config's folder."""
    content: str = ""
    """The hash of its content. Empty: any content."""
    price_days: int = Field(default=7, ge=1)
    """How many days old its newest price may be."""


class RecordedVenue:
    """A bundle as a venue."""

    stamp = stamp

    def __init__(self, bundle: Bundle, settings: Settings):
        self._markets = bundle.markets
        self._fresh = timedelta(days=settings.price_days)
        self._unbettable = {market for market, record in bundle.markets.items() if _ends_late(record)}

    async def catalogue(self, at: datetime, _wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return every open market that has a fresh price, or needs none, and is not known to have ended."""
        listings = await self.listings(at, self._markets)
        return Catalogue([listing for listing in listings if self._on_offer(listing, at)])

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return markets in the order asked for, each with the newest price known at an instant."""
        listings = []
        for market in markets:
            record = self._markets.get(market)
            market_then = None if record is None else record.page(at)
            if record is None or market_then is None or market_then.opens_at > at:
                continue

            if market in self._unbettable:
                market_then = replace(market_then, min_shares=NO_BET)
            listings.append(Listing(market_then, record.quote(at)))
        return listings

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return every version of the markets' resolutions that was known at an instant."""
        ends: list[Resolution] = []
        for market in markets:
            if market in self._markets:
                ends += self._markets[market].ends
        return [end for end in ends if end.known_at <= at]

    async def close(self) -> None:
        """Close nothing: there are no connections."""

    def _on_offer(self, listing: Listing, at: datetime) -> bool:
        """Tell whether a market is open, has a fresh price, and is not known to have ended.

        Only a question of yes or no has a price.
        """
        market = listing.market
        quote = listing.quote
        is_fresh = bool(market.form) or (quote is not None and at - quote.at <= self._fresh)
        if not is_fresh or at >= market.closes_at:
            return False
        return all(end.known_at > at for end in self._markets[market.id].ends)


def venue(settings: Settings, _report: Report = ignore_report) -> RecordedVenue:
    """Return the recording in a folder. Raise `VenueError` if it is another one than was frozen."""
    bundle = read(settings.path)
    if settings.content not in ("", bundle.content, bundle.files):  # cohorts of earlier versions froze files
        message = f"{settings.path} holds a different recording from the one that was played"
        raise VenueError(
            "other_bundle", message, "restore the original recording, or play into another record"
        )
    return RecordedVenue(bundle, settings)


def _ends_late(record: Recording) -> bool:
    """Tell whether a market's end is dated too long after its last price for bets to be fair."""
    if not record.daily or not record.ends or not record.known:
        return False
    return record.ends[0].known_at - record.known[-1] > LATEST_END
