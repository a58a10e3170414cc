"""The plan of a season: which events open and close when, and how many markets each has."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from markets.model import MarketId
from markets.simulation.settings import LARGEST_EVENT, Chance, Family, Settings, code, draw_below, instant_of

SHORTEST, LONGEST = 7, 56
"""Days that a market lives, counted from the start of the season for those open by then."""
OLDER = 14
"""Days before the start of the season in which those have opened."""


@dataclass(frozen=True, slots=True)
class SimulatedEvent:
    """An event as planned. Its markets open and close together. `world` is the code of its settings."""

    world: str
    number: int
    markets: int
    opens_at: datetime
    closes_at: datetime
    family: Family = "plain"

    @property
    def id(self) -> str:
        """Its name in the record: no two worlds share one.

        >>> SimulatedEvent("3fa9c1", 3, 2, datetime.min, datetime.max).id
        'simulator:3fa9c1:003'
        """
        return f"simulator:{self.world}:{self.number:03}"

    @property
    def market_ids(self) -> tuple[MarketId, ...]:
        """Its markets, in the order in which they are listed."""
        return tuple(MarketId(f"{self.id}-{place}") for place in range(1, self.markets + 1))


def chance_key(name: str) -> str:
    """What an event or a market draws by: its id without the world.

    So seasons of one seed draw alike, whatever else is set.

    >>> chance_key("simulator:3fa9c1:003-2")
    'simulator:003-2'
    """
    venue, _, own = name.split(":")
    return f"{venue}:{own}"


def plan_events(settings: Settings, chance: Chance) -> list[SimulatedEvent]:
    """All events of the season. Three in ten are open at its start, the others follow evenly."""
    world = code(settings)
    return [
        _event(world, number, size, settings, chance)
        for number, size in enumerate(_sizes(settings, chance), start=1)
    ]


def _sizes(settings: Settings, chance: Chance) -> list[int]:
    sizes = [1] * settings.events
    rng = chance("sizes", date.min)
    roomy = list(range(settings.events))
    for _ in range(settings.markets - settings.events):
        place = draw_below(rng, len(roomy))
        sizes[roomy[place]] += 1
        if sizes[roomy[place]] == LARGEST_EVENT:
            del roomy[place]
    return sizes


def _family(number: int, size: int, settings: Settings, chance: Chance) -> Family:
    draw = chance(f"family/{number}", date.min).random()
    if size == 1 or draw >= settings.exclusive_share + settings.ladder_share:
        return "plain"
    return "exclusive" if draw < settings.exclusive_share else "ladder"


def _event(world: str, number: int, size: int, settings: Settings, chance: Chance) -> SimulatedEvent:
    rng = chance(f"plan/{number}", date.min)
    early = (settings.events * 3 + 9) // 10
    season = 7 * settings.weeks
    if number <= early:
        opens, born = -1 - draw_below(rng, OLDER), 0
        length = (number - 1 + rng.random()) / early
    else:
        share = (number - early - 1 + rng.random()) / (settings.events - early)
        opens = born = 1 + int(share * (season - SHORTEST - 1))
        length = max(rng.random(), rng.random())  # most live long, or too few would be open at once
    life = SHORTEST + int(length * (min(LONGEST, season - born) - SHORTEST + 1))
    return SimulatedEvent(
        world,
        number,
        size,
        opens_at=instant_of(settings.start + timedelta(opens), hour=9),
        closes_at=instant_of(settings.start + timedelta(born + life), hour=12 + 2 * draw_below(rng, 6)),
        family=_family(number, size, settings, chance),
    )
