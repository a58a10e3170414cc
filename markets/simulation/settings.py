"""The settings of a simulated season, its seeded randomness, its plan of events, and its outages."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from markets.hashes import digest
from markets.model import MarketId
from markets.registry import PYTHON_ONLY
from markets.venue import VenueSettings

Chance = Callable[[str, date], random.Random]
"""The random numbers for a purpose on a day."""

Family = Literal["plain", "exclusive", "ladder"]
"""How the markets of an event hang together: loosely, as outcomes of which one comes true, or as thresholds
of which each is less likely than the one before."""

Share = Annotated[float, Field(ge=0, le=1)]
"""A share of a whole, or a probability."""
Deviation = Annotated[float, Field(ge=0, le=100, json_schema_extra=PYTHON_ONLY)]
"""A standard deviation in log-odds."""
LARGEST_EVENT = 6
PARTS = {
    "events": ("exclusive_share", "ladder_share"),
    "markets": ("refund_share", "half_share", "fraction_share"),
}
"""Settings that are shares of one whole."""
EARLIEST, LATEST = date(1900, 1, 1), date(2900, 1, 1)
"""The first and the last day on which a season may start."""


class PlainSettings(VenueSettings):
    """A plain season. Everything called a step, start, size or noise is a standard deviation in log-odds."""

    seed: int = Field(default=1, json_schema_extra=PYTHON_ONLY)
    """The source of its randomness: the arena's seed."""
    start: date = date(2026, 1, 4)
    """Its first day."""
    weeks: int = Field(default=20, ge=2, le=1_000)
    """How many weeks the world lasts."""
    markets: int = Field(default=200, ge=1, le=1_000_000)
    """How many markets open."""
    events: int = Field(default=60, ge=1)
    """How many events they belong to."""

    event_start: Deviation = 0.6
    """How far apart events start."""
    event_step: Deviation = 0.07
    """How far an event moves in a day."""
    own_start: Deviation = 1.0
    """How far apart the markets of an event start."""
    own_step: Deviation = 0.07
    """How far a market moves in a day, beside its event."""

    price_noise: float = Field(default=0.43, ge=0, le=100)
    """How far off the market price is."""
    price_memory: float = Field(default=0.75, ge=0, lt=1, json_schema_extra=PYTHON_ONLY)
    """How much of a price's error is left a day later."""
    price_shrink: float = Field(default=0.86, gt=0, le=1, json_schema_extra=PYTHON_ONLY)
    """The share of the truth's log-odds that the price keeps; below 1 it is less extreme."""
    evidence_rate: float = Field(default=0.4, ge=0, le=1, json_schema_extra=PYTHON_ONLY)
    """The chance that a day brings a piece of evidence on a market."""

    spread: int = Field(default=6, ge=1, le=20, json_schema_extra=PYTHON_ONLY)
    """The most ticks between bid and ask."""
    fee_rate: int = Field(default=20_000, ge=0)
    """The venue's fee rate, in millionths."""
    refund_share: Share = 0.02
    """The share of markets that are refunded."""
    half_share: Share = 0.01
    """The share of markets that pay both sides half."""


class Settings(PlainSettings):
    """A simulated season. All optional features are off by default."""

    # What is off is left out of the stored settings, so a plain season keeps its name and hash.
    exclusive_share: Share = 0
    """The share of events of which exactly one market resolves YES."""
    ladder_share: Share = 0
    """The share of events whose markets are thresholds, each less likely than the last."""
    jump_rate: Share = 0
    """The chance that an event jumps on a day."""
    jump_size: Deviation = 1.5
    """How far such news moves it, in log-odds."""
    fraction_share: Share = 0
    """The share of markets that pay a fraction to each side."""
    delay_share: Share = 0
    """The share of markets resolved days after the close, not hours."""
    delay_days: int = Field(default=21, ge=1, le=1_000, json_schema_extra=PYTHON_ONLY)
    """At most this many days after the close."""
    corrected_share: Share = 0
    """The share of markets first resolved wrongly."""
    corrected_days: int = Field(default=14, ge=1, le=1_000)
    """At most this many days until corrected."""
    unquoted_rate: Share = 0
    """The chance that a market has no quote on a day."""
    outage_rate: Share = 0
    """The chance that a day starts an outage of the whole venue."""
    outage_hours: int = Field(default=12, ge=1, le=1_000, json_schema_extra=PYTHON_ONLY)
    """The most hours an outage lasts."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.events <= self.markets <= LARGEST_EVENT * self.events:
            raise ValueError(f"an event has 1 to {LARGEST_EVENT} markets: "
                             f"{self.markets} do not fit {self.events} events")  # fmt: skip

        for kind, names in PARTS.items():
            if round(sum(getattr(self, name) for name in names), 9) > 1:
                raise ValueError(f"{' and '.join(names)} are parts of all {kind}: together at most 1")

        if not EARLIEST <= self.start <= LATEST:
            raise ValueError(f"start is {self.start}: it lies between {EARLIEST} and {LATEST}")
        return self

    @model_serializer(mode="wrap")
    def _without_what_is_off(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        fields = type(self).model_fields
        plain = PlainSettings.model_fields
        return {key: value for key, value in values.items() if key in plain or value != fields[key].default}


def code(settings: Settings) -> str:
    """Return six digits that tell the worlds of different settings apart."""
    return digest(settings.model_dump(mode="json"))[:6]


def seeded_chance(seed: int) -> Chance:
    """Return random generators that depend on nothing but the seed, the purpose and the day."""
    return lambda purpose, day: random.Random(f"{seed}/{purpose}/{day.isoformat()}")


def draw_below(rng: random.Random, n: int) -> int:
    """Return a whole number below n, by the one method of Random that is stable between versions."""
    return int(rng.random() * n)


def instant_of(day: date, hour: int) -> datetime:
    """Return that hour of the day, in UTC."""
    return datetime.combine(day, time(hour), UTC)


def outage_end(at: datetime, settings: Settings, chance: Chance) -> datetime | None:
    """Return when the outage at an instant is over; None where there is none."""
    if not settings.outage_rate:
        return None
    today = at.astimezone(UTC).date()
    days_to_look_back = range(settings.outage_hours // 24 + 2)
    outages = (_outage(today - timedelta(days), settings, chance) for days in days_to_look_back)
    return max((ends for begins, ends in outages if begins <= at < ends), default=None)


def _outage(day: date, settings: Settings, chance: Chance) -> tuple[datetime, datetime]:
    """Return the start and end of the outage that begins on a day; on most days it has no length."""
    rng = chance("outage", day)
    begins = instant_of(day, hour=0) + timedelta(minutes=draw_below(rng, 24 * 60))
    hours = 0
    if rng.random() < settings.outage_rate:
        hours = 1 + draw_below(rng, settings.outage_hours)
    return begins, begins + timedelta(hours=hours)


SHORTEST, LONGEST = 7, 56
"""The shortest and longest life of a market in days, counted from the start of the season at the earliest."""
OLDER = 14
"""How many days before the start of the season those markets may have opened."""


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
        """Return the event's id in the record, unique among all worlds."""
        return f"simulator:{self.world}:{self.number:03}"

    @property
    def market_ids(self) -> tuple[MarketId, ...]:
        """Return the event's markets, in the order in which they are listed."""
        return tuple(MarketId(f"{self.id}-{place}") for place in range(1, self.markets + 1))


def chance_key(name: str) -> str:
    """Return the id without its world, by which draws are seeded: seasons of one seed draw alike."""
    venue, _, own = name.split(":")
    return f"{venue}:{own}"


def plan_events(settings: Settings, chance: Chance) -> list[SimulatedEvent]:
    """Return all events of the season: three in ten are open at its start, the others follow evenly."""
    world = code(settings)
    return [
        _plan_event(world, number, size, settings, chance)
        for number, size in enumerate(_event_sizes(settings, chance), start=1)
    ]


def _event_sizes(settings: Settings, chance: Chance) -> list[int]:
    sizes = [1] * settings.events
    rng = chance("sizes", date.min)
    events_with_room = list(range(settings.events))

    for _ in range(settings.markets - settings.events):
        index = draw_below(rng, len(events_with_room))
        sizes[events_with_room[index]] += 1
        if sizes[events_with_room[index]] == LARGEST_EVENT:
            del events_with_room[index]

    return sizes


def _event_family(number: int, size: int, settings: Settings, chance: Chance) -> Family:
    draw = chance(f"family/{number}", date.min).random()
    if size == 1 or draw >= settings.exclusive_share + settings.ladder_share:
        return "plain"
    if draw < settings.exclusive_share:
        return "exclusive"
    return "ladder"


def _plan_event(world: str, number: int, size: int, settings: Settings, chance: Chance) -> SimulatedEvent:
    """Return an event of the season: when it opens and closes, and its family.

    The first three in ten opened before the season starts; the others open evenly over it.
    """
    rng = chance(f"plan/{number}", date.min)
    early_events = (settings.events * 3 + 9) // 10
    season = 7 * settings.weeks

    if number <= early_events:
        opening_day = -1 - draw_below(rng, OLDER)
        first_season_day = 0
        length_share = (number - 1 + rng.random()) / early_events
    else:
        season_share = (number - early_events - 1 + rng.random()) / (settings.events - early_events)
        opening_day = first_season_day = 1 + int(season_share * (season - SHORTEST - 1))
        length_share = max(rng.random(), rng.random())  # most live long, or too few would be open at once

    longest = min(LONGEST, season - first_season_day)
    days_open = SHORTEST + int(length_share * (longest - SHORTEST + 1))
    closing_day = first_season_day + days_open
    closing_hour = 12 + 2 * draw_below(rng, 6)
    return SimulatedEvent(
        world,
        number,
        size,
        opens_at=instant_of(settings.start + timedelta(opening_day), hour=9),
        closes_at=instant_of(settings.start + timedelta(closing_day), hour=closing_hour),
        family=_event_family(number, size, settings, chance),
    )
