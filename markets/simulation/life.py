"""Events and markets with their days, each worked out when it is first asked for and not before."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from markets.model import Market, Resolution
from markets.simulation.ends import Ends, ends
from markets.simulation.season import Event
from markets.simulation.settings import Chance, Settings
from markets.simulation.walk import Day, first_day, walk


@dataclass(slots=True)
class Story:
    """An event as it unfolds."""

    event: Event
    settings: Settings
    chance: Chance
    _days: list[Day] = field(default_factory=list)
    _walk: Iterator[Day] | None = None
    _ends: Ends | None = None

    def until(self, day: date) -> list[Day]:
        """All days up to one; the first of them whatever was asked for."""
        wanted = (min(day, self.event.closes_at.date()) - first_day(self.event)).days + 1
        if self._walk is None:
            self._walk = walk(self.event, self.settings, self.chance)
        while len(self._days) < max(wanted, 1):
            self._days.append(next(self._walk))
        return self._days[: max(wanted, 1)]

    def ends(self) -> Ends:
        """For each market every version of how it ends."""
        if self._ends is None:
            last = self.until(self.event.closes_at.date())[-1]
            truths = [last.truth(place) for place in range(self.event.markets)]
            self._ends = ends(self.event, truths, self.settings, self.chance)
        return self._ends


@dataclass(frozen=True, slots=True)
class Life:
    """A market and its place in its event. `market.rules` holds no evidence yet."""

    market: Market
    story: Story
    place: int

    def day(self, at: datetime) -> Day:
        """The day of the walk that an instant falls on; its first or last one outside of it."""
        return self.story.until(at.astimezone(UTC).date())[-1]

    def said(self, today: date) -> Iterator[str]:
        """What was said of the market before a day."""
        for day in self.story.until(today):
            said = day.said[self.place]
            if day.date < today and said is not None:
                yield said

    def resolutions(self, at: datetime) -> list[Resolution]:
        """Every version of how the market ended that is known by then."""
        if at < self.market.closes_at:
            return []
        return [end for end in self.story.ends()[self.place] if end.known_at <= at]
