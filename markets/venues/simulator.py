"""A venue that never was: a seeded season of markets whose true probabilities are known.

The evidence in the rules text of a market is described in `markets/simulation/walk.py`.
"""

from collections.abc import Collection
from datetime import UTC, datetime

from markets.model import Listing, MarketId, Resolution
from markets.simulation.settings import Chance, Settings, outage_end, seeded_chance
from markets.simulation.world import build_world
from markets.venue import EVERY_MARKET, Catalogue, CatalogueFilter, Report, VenueError, ignore_report

__all__ = ["Settings", "Simulator", "stamp", "venue"]

stamp = "simulated"


class Simulator:
    """A simulated season behind the door of a venue. Markets not open yet are unknown to it."""

    stamp = stamp

    def __init__(self, settings: Settings, chance: Chance):
        self._settings, self._chance = settings, chance
        self._world = build_world(settings, chance)

    async def catalogue(self, at: datetime, _wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Every open market with its price."""
        self._be_there(at)
        lives = (x for x in self._world.values() if x.market.opens_at <= at < x.market.closes_at)
        return Catalogue([life.listing(at) for life in lives])

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """These markets, in the order asked for; a closed one with the quote that stood last."""
        self._be_there(at)
        lives = (self._world[market] for market in markets if market in self._world)
        return [life.listing(at) for life in lives if life.market.opens_at <= at]

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """How those of these markets ended that are known to have by then, every version."""
        self._be_there(at)
        lives = (self._world[market] for market in markets if market in self._world)
        return [end for life in lives for end in life.resolutions(at)]

    def truth(self, market: MarketId, at: datetime) -> int:
        """The true probability of YES in millionths; after the close, the one it was drawn with."""
        life = self._world[market]
        return life.story.moment(at).truth(life.place)

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _be_there(self, at: datetime) -> None:
        back = outage_end(at, self._settings, self._chance)
        if back is not None:
            message = f"the simulated venue is down at {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
            hint = f"it is back at {back:%Y-%m-%d %H:%M} UTC; outage_rate: 0 rules out outages"
            raise VenueError("unreachable", message, hint)


def venue(settings: Settings, _report: Report = ignore_report) -> Simulator:
    """The season that these settings describe."""
    return Simulator(settings, seeded_chance(settings.seed))
