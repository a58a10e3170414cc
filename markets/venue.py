"""The door to the world: what every venue can be asked."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from markets.model import Listing, MarketId, Resolution


class Venue(Protocol):
    """A source of markets, as of an instant: nothing later than `at` may show in an answer."""

    async def catalogue(self, at: datetime) -> list[Listing]:
        """Every open market with its price."""
        ...

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """These markets with their prices and books, open or not, in the order asked for."""
        ...

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """All versions known by then of how these markets ended; nothing for those still open."""
        ...


class Truth(Protocol):
    """The true probability of YES in millionths. Only a simulated world has one."""

    def __call__(self, market: MarketId, at: datetime) -> int: ...
