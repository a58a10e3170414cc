"""Series for tests: written as files are, and drawn by lot with revisions, gaps and late values."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

from markets.observations import Observation, Series, in_order

DAY = timedelta(days=1)


def a_table(rows: Iterable[str], head: str = "date,value,published") -> str:
    """Return a CSV of rows under a head."""
    return "\n".join([head, *rows]) + "\n"


def a_series(*rows: tuple[str, str, str], name: str = "river") -> Series:
    """Return a series of dates, values (`.` for none) and the days from whose end on they are known."""
    observations = []
    for day, value, published in rows:
        known_at = datetime.fromisoformat(published).replace(tzinfo=UTC) + DAY
        number = None if value == "." else Decimal(value)
        observations.append(Observation(date.fromisoformat(day), number, known_at))
    return Series(name, in_order(observations), has_vintages=True)


def a_random_series(seed: int) -> Series:
    """Draw a series with holes, missing values, late ones and revisions, of small whole numbers."""
    chance = Random(f"series {seed}")
    step = chance.choice([1, 1, 1, 7])
    observations = []
    for number in range(0, 60, step):
        day = date(2026, 1, 1) + number * DAY
        if chance.random() < 0.15:
            continue

        delay = chance.choice([0, 1, 1, 2, 9])
        for _ in range(chance.choice([1, 1, 2, 3])):
            value = None if chance.random() < 0.08 else Decimal(chance.randint(-3, 9))
            published = datetime(day.year, day.month, day.day, chance.randint(0, 23), tzinfo=UTC)
            observations.append(Observation(day, value, published + delay * DAY))
            delay += chance.randint(1, 12)
    return Series(f"lot{seed}", in_order(observations), has_vintages=True)
