"""A venue of the past: a bundle played back, each thing known from the instant on from which it was.

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
"""Where a record has days only, a longer silence before its end says that a market may have ended earlier."""
NO_BET = 10**9 * ONE
"""The least number of shares where no bet shall be possible: more than anybody can pay for."""


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
    """A bundle behind the door of a venue."""

    stamp = stamp

    def __init__(self, bundle: Bundle, settings: Settings):
        self._markets, self._fresh = bundle.markets, timedelta(days=settings.price_days)
        self._unbettable = frozenset(
            market for market, record in bundle.markets.items() if _ends_late(record)
        )

    async def catalogue(self, at: datetime, _wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Every market that is open, has a price that isn't old, and isn't known to have ended."""
        listings = (self._listing(market, at) for market in self._markets)
        return Catalogue([each for each in listings if each is not None and self._on_offer(each, at)])

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """These markets, in the order asked for, each with the newest price known by then."""
        listings = (self._listing(market, at) for market in markets if market in self._markets)
        return [listing for listing in listings if listing is not None]

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """All versions known by then of how these markets ended."""
        records = (self._markets[market] for market in markets if market in self._markets)
        return [end for record in records for end in record.ends if end.known_at <= at]

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _listing(self, market: MarketId, at: datetime) -> Listing | None:
        record = self._markets[market]
        page = record.page(at)
        if page is None or page.opens_at > at:
            return None
        if market in self._unbettable:
            page = replace(page, min_shares=NO_BET)
        return Listing(page, record.quote(at))

    def _on_offer(self, listing: Listing, at: datetime) -> bool:
        market, quote = listing.market, listing.quote
        ended = any(end.known_at <= at for end in self._markets[market.id].ends)
        return not ended and at < market.closes_at and quote is not None and at - quote.at <= self._fresh


def venue(settings: Settings, _report: Report = ignore_report) -> RecordedVenue:
    """The recording in a folder. A bundle with mistakes, or another one than was frozen, is refused."""
    bundle = read(settings.path)
    if settings.content not in ("", bundle.content, bundle.files):  # cohorts of earlier versions froze files
        words = f"{settings.path} holds a different recording from the one that was played"
        raise VenueError("other_bundle", words, "restore the original recording, or play into another record")
    return RecordedVenue(bundle, settings)


def _ends_late(record: Recording) -> bool:
    """Whether a market's end is dated too long after its last price to be trusted with money."""
    if not (record.daily and record.ends and record.known):
        return False
    return record.ends[0].known_at - record.known[-1] > LATEST_END
