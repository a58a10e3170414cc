"""The plan of a season: which events open and close when, and how many markets each has."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from markets.simulation.settings import LARGEST_EVENT, Chance, Settings, below, moment

SHORTEST, LONGEST = 7, 56
"""Days that a market lives, counted from the start of the season for those open by then."""
OLDER = 14
"""Days before the start of the season in which those have opened."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event as planned. Its markets open and close together."""

    number: int
    markets: int
    opens_at: datetime
    closes_at: datetime

    @property
    def id(self) -> str:
        """Its name in the record."""
        return f"simulator:{self.number:03}"


def plan(settings: Settings, chance: Chance) -> list[Event]:
    """All events of the season. Three in ten are open at its start, the others follow evenly."""
    return [
        _event(number, size, settings, chance)
        for number, size in enumerate(_sizes(settings, chance), start=1)
    ]


def _sizes(settings: Settings, chance: Chance) -> list[int]:
    sizes = [1] * settings.events
    rng = chance("sizes", date.min)
    for _ in range(settings.markets - settings.events):
        roomy = [i for i, size in enumerate(sizes) if size < LARGEST_EVENT]
        sizes[roomy[below(rng, len(roomy))]] += 1
    return sizes


def _event(number: int, size: int, settings: Settings, chance: Chance) -> Event:
    rng = chance(f"plan/{number}", date.min)
    early = (settings.events * 3 + 9) // 10
    season = 7 * settings.weeks
    if number <= early:
        opens, born = -1 - below(rng, OLDER), 0
        length = (number - 1 + rng.random()) / early
    else:
        share = (number - early - 1 + rng.random()) / (settings.events - early)
        opens = born = 1 + int(share * (season - SHORTEST - 1))
        length = max(rng.random(), rng.random())  # most live long, or too few would be open at once
    life = SHORTEST + int(length * (min(LONGEST, season - born) - SHORTEST + 1))
    return Event(
        number,
        size,
        opens_at=moment(settings.start + timedelta(opens), hour=9),
        closes_at=moment(settings.start + timedelta(born + life), hour=12 + 2 * below(rng, 6)),
    )
