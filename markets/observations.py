"""A series of dated values, each with the instant from which it is known: a revision is a later version."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise

USUAL_GAPS = 10
"""How many of the newest gaps between values tell how far apart the values of a series usually are."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The value of a series for a date, as published at an instant; None where there is none for the date."""

    date: date
    value: Decimal | None
    published: datetime


@dataclass(frozen=True, slots=True)
class SeriesPage:
    """What is said of a series beyond its values: what it is called, and what its questions are.

    `asks` has the templates of its questions by their names; without any those of the venue are asked.
    """

    title: str = ""
    unit: str = ""
    about: str = ""
    category: str = ""
    asks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """A series by its name, its observations in the order in which they were published.

    `has_vintages` tells whether it is known when each was published: else a value counts as known from its
    own date on, and a file or server shows only the newest value of each date.
    """

    name: str
    observations: tuple[Observation, ...]
    has_vintages: bool = False
    page: SeriesPage = SeriesPage()


@dataclass(frozen=True, slots=True)
class KnownValues:
    """The values of a series that were known at an instant, by date, without the missing ones."""

    dates: tuple[date, ...]
    values: tuple[Decimal, ...]

    def place_on(self, day: date) -> int | None:
        """Return the place of the value on a day: where the day has none, of the last one before it."""
        after = bisect_right(self.dates, day)
        if not after:
            return None
        return after - 1

    @property
    def gaps(self) -> list[int]:
        """Return the days between the newest values, oldest first."""
        recent = self.dates[-USUAL_GAPS - 1 :]
        return [(later - earlier).days for earlier, later in pairwise(recent)]


def start_of(day: date) -> datetime:
    """Return the instant at which a day begins, in UTC."""
    return datetime.combine(day, time(), UTC)


def end_of(day: date) -> datetime:
    """Return the end of a day in UTC, when everything published on that day is known."""
    return start_of(day) + timedelta(days=1)


def in_order(observations: Sequence[Observation]) -> tuple[Observation, ...]:
    """Return observations in the order in which they become known: never before their own date begins."""
    known = [
        Observation(seen.date, seen.value, max(seen.published, start_of(seen.date))) for seen in observations
    ]
    return tuple(sorted(known, key=lambda seen: (seen.published, seen.date)))


def known_values(series: Series, at: datetime) -> KnownValues:
    """Return what was known of a series at an instant: the newest version of each date."""
    newest_by_date: dict[date, Decimal | None] = {}
    for observation in series.observations:
        if observation.published > at:
            break
        newest_by_date[observation.date] = observation.value

    dates: list[date] = []
    values: list[Decimal] = []
    for day in sorted(newest_by_date):
        value = newest_by_date[day]
        if value is not None:
            dates.append(day)
            values.append(value)
    return KnownValues(tuple(dates), tuple(values))


def number_text(value: Decimal) -> str:
    """Return a value in plain digits, without zeros that say nothing.

    >>> number_text(Decimal("3.910")), number_text(Decimal("1E+3")), number_text(Decimal("-0.0"))
    ('3.91', '1000', '0')
    """
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").removesuffix(".")
    if text in ("-0", ""):
        return "0"
    return text
