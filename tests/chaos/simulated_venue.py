"""The venue of a simulated season with its faults: some pass, and some are true of a time in the season.

A passing fault may hold a round up and must change nothing. What is drawn by the season's time is met by an
unbroken season too: records that the venue repeats, loses for a while or sends as nonsense, and outages.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Any

from arena.verify.checks.ends import GROWING
from markets.model import Listing, MarketId, Resolution
from markets.venue import (
    EVERY_MARKET,
    Catalogue,
    CatalogueFilter,
    QuarantinedRecord,
    Report,
    Venue,
    VenueError,
)
from tests.chaos.loop import SeededLoop

LATENCY = 0.5
"""Seconds that an answer takes at most."""
LOST = 0.06
NONSENSE = 0.04
HELD_BACK = 0.2
REPEATED = 0.1
OUTAGE = 0.03
"""How likely at one time of the season a market is lost, or sent as nonsense, an end is not told yet, a page
comes twice, and the venue is down."""


@dataclass
class VenueFaults:
    """When the venue of a season fails: `number` is the config's, `away_until` is by the loop's time.

    A plain venue has none of the faults that are drawn by the season's time.
    """

    loop: SeededLoop
    chance: Random
    number: int = 0
    is_plain: bool = True
    away_until: float = 0.0

    async def wait(self, question: str) -> None:
        """Take a while to answer; raise `VenueError` while the venue is away."""
        await asyncio.sleep(self.chance.uniform(0, LATENCY))
        if self.loop.moment < self.away_until:
            raise VenueError("unreachable", f"no {question}: the venue is away", stops=True)

    def happens(self, what: str, likely: float, *key: object) -> bool:
        """Return whether something is so at a time of the season, the same in every run of a config."""
        if self.is_plain:
            return False
        return Random(f"{self.number} {what} {key}").random() < likely

    def check_outage(self, at: datetime) -> None:
        """Raise `VenueError` at a time of the season at which the venue is down for everybody."""
        if self.happens("outage", OUTAGE, at):
            raise VenueError("unreachable", f"the venue is down at {at}")


@dataclass
class SimulatedVenue:
    """A venue with faults. Whatever else a venue has, such as the truth of a simulated world, is its own."""

    name: str
    venue: Venue
    faults: VenueFaults
    report: Report

    def __getattr__(self, name: str) -> Any:
        return getattr(self.venue, name)

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return what is on offer, without what is lost at that time."""
        await self.faults.wait("catalogue")
        self.faults.check_outage(at)
        whole = await self.venue.catalogue(at, wanted)
        listings = self.sent(whole.listings, at)
        if self.faults.happens("repeated", REPEATED, at):
            listings = [*listings, *listings[: len(listings) // 2]]
        return replace(whole, listings=listings)

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return these markets, without those that are lost at that time."""
        await self.faults.wait("listings")
        self.faults.check_outage(at)
        return self.sent(await self.venue.listings(at, markets), at)

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return how these markets ended, without what is held back at that time."""
        await self.faults.wait("resolutions")
        self.faults.check_outage(at)
        ends = await self.venue.resolutions(at, markets)
        if self.name not in GROWING:
            return ends
        return [end for end in ends if not self.faults.happens("held back", HELD_BACK, at, end.market_id)]

    def sent(self, listings: Collection[Listing], at: datetime) -> list[Listing]:
        """Return the listings that arrive and make sense; report those that don't."""
        arrived = []
        for listing in listings:
            market = listing.market.id
            if self.faults.happens("lost", LOST, at, market):
                continue
            if self.faults.happens("nonsense", NONSENSE, at, market):
                self.report(QuarantinedRecord(self.name, market, "market", "odd", "a price of 7", "{}"))
                continue
            arrived.append(listing)
        return arrived
