"""A simulated venue: a seeded season of markets whose true probabilities are known.

The evidence in the rules text of a market is described in `markets/simulation/walk.py`.
"""

from collections.abc import Collection
from datetime import UTC, datetime

from markets.model import Listing, MarketId, Resolution
from markets.simulation.settings import Chance, Settings, outage_end, seeded_chance
from markets.simulation.world import SimulatedMarket, build_world
from markets.venue import EVERY_MARKET, Catalogue, CatalogueFilter, Report, VenueError, ignore_report

__all__ = ["Settings", "Simulator", "stamp", "venue"]

stamp = "simulated"


class Simulator:
    """A simulated season as a venue. It does not know markets that are not open yet."""

    stamp = stamp

    def __init__(self, settings: Settings, chance: Chance):
        self._settings = settings
        self._chance = chance
        self._world = build_world(settings, chance)

    async def catalogue(self, at: datetime, _wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return every open market with its price."""
        self._check_reachable(at)
        lives = self._world.values()
        return Catalogue([x.listing(at) for x in lives if x.market.opens_at <= at < x.market.closes_at])

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return markets in the order asked for; a closed one has its last quote."""
        self._check_reachable(at)
        return [life.listing(at) for life in self._lives(markets) if life.market.opens_at <= at]

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return every version of the markets' resolutions that was known at an instant."""
        self._check_reachable(at)
        ends = []
        for life in self._lives(markets):
            ends += life.resolutions(at)
        return ends

    def truth(self, market: MarketId, at: datetime) -> int:
        """Return the true probability of YES in millionths; after the close, the one it was drawn with."""
        life = self._world[market]
        return life.story.moment(at).truth(life.place)

    async def close(self) -> None:
        """Close nothing: there are no connections."""

    def _lives(self, markets: Collection[MarketId]) -> list[SimulatedMarket]:
        """Return those markets that the world has."""
        return [self._world[market] for market in markets if market in self._world]

    def _check_reachable(self, at: datetime) -> None:
        """Raise `VenueError` during an outage."""
        outage_end_at = outage_end(at, self._settings, self._chance)
        if outage_end_at is not None:
            message = f"the simulated venue is down at {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
            hint = f"it is back at {outage_end_at:%Y-%m-%d %H:%M} UTC; outage_rate: 0 rules out outages"
            raise VenueError("unreachable", message, hint)


def venue(settings: Settings, _report: Report = ignore_report) -> Simulator:
    """Return the season that settings describe."""
    return Simulator(settings, seeded_chance(settings.seed))
