"""Cadences and calendars: how often something is done, and the resulting times."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

SUNDAY = datetime(1970, 1, 4, tzinfo=UTC)
"""What times of the day and of the week are counted from: a Sunday's midnight, wherever one is."""
WEEK = timedelta(weeks=1)
UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Calendar:
    """Times that are equally far apart: so many, or without end.

    They count from the first one. With an `offset` from a Sunday's midnight, all later ones have that: with
    12 hours, where `every` is a day, they are at noon.
    """

    first: datetime
    every: timedelta
    count: int | None = None
    offset: timedelta | None = None

    @property
    def origin(self) -> datetime:
        """Return the first time if it were one interval before the second."""
        if self.offset is None:
            return self.first

        since_last_offset = (self.first - SUNDAY - self.offset) % self.every
        return self.first - since_last_offset

    def time(self, number: int) -> datetime:
        """Return the time with a number, counting from 1."""
        return self.first if number == 1 else self.origin + (number - 1) * self.every

    def number_at(self, at: datetime) -> int | None:
        """Return the number of a time, counting from 1; None if it is not in the calendar."""
        number = 1 if at == self.first else (at - self.origin) // self.every + 1
        if at < self.first or self.time(number) != at:
            return None
        return number if self.count is None or number <= self.count else None

    def until(self, end: datetime | None) -> "Calendar":
        """Return this calendar without the times after an instant."""
        if end is None:
            return self
        begun = (end - self.origin) // self.every + 1 if end >= self.first else 0
        return replace(self, count=begun if self.count is None else min(self.count, begun))


@dataclass(frozen=True, slots=True)
class Cadence:
    """When a job is due or a cohort decides: every so often, or never.

    What is daily or weekly may be at a time of the day or the week, an `offset` from a Sunday's midnight in
    UTC. Without one a job counts from such a midnight, and a cohort from its start.
    """

    every: timedelta = timedelta()
    offset: timedelta | None = None

    def __bool__(self) -> bool:
        return bool(self.every)

    def __str__(self) -> str:
        if not self:
            return "off"
        if self.offset is None:
            length = written_duration(int(self.every.total_seconds()))
            return {"7d": "weekly", "1d": "daily"}.get(length, length)
        at = SUNDAY + self.offset
        return f"{DAYS[at.weekday()] if self.every == WEEK else 'daily at'} {at:%H:%M}"

    def calendar(self, first: datetime, count: int | None = None) -> Calendar:
        """Return the times from the first one on."""
        return Calendar(first, self.every, count, self.offset)


def written_duration(length: int) -> str:
    """Return seconds as a duration in the form of a config.

    >>> written_duration(5_184_000), written_duration(90), written_duration(0)
    ('60d', '90s', '0s')
    """
    unit = next(name for name in "dhms" if length % UNITS[name] == 0) if length else "s"
    return f"{length // UNITS[unit]}{unit}"
