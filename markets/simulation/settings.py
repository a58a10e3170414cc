"""What shapes a simulated season, and where its chance comes from."""

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from markets.canonical import digest

Chance = Callable[[str, date], random.Random]
"""The random numbers for a purpose on a day."""

LARGEST_EVENT = 6


class Settings(BaseModel):
    """A season. Everything called a step, start or noise is a standard deviation in log-odds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 1
    start: date = date(2026, 1, 4)
    weeks: int = Field(default=20, ge=2)
    markets: int = Field(default=200, ge=1)
    events: int = Field(default=60, ge=1)

    event_start: float = Field(default=0.6, ge=0)
    event_step: float = Field(default=0.07, ge=0)
    own_start: float = Field(default=1.0, ge=0)
    own_step: float = Field(default=0.07, ge=0)

    price_noise: float = Field(default=0.65, ge=0)
    price_shrink: float = Field(default=0.85, gt=0, le=1)
    """The price takes the truth for less extreme than it is: this share of its log-odds."""
    evidence_rate: float = Field(default=0.25, ge=0, le=1)
    """The chance that a day brings a piece of evidence on a market."""

    spread: int = Field(default=4, ge=1, le=20)
    """Ticks between bid and ask, at most."""
    fee_rate: int = Field(default=20_000, ge=0)
    refund_share: float = Field(default=0.03, ge=0, le=1)
    half_share: float = Field(default=0.03, ge=0, le=1)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.events <= self.markets <= LARGEST_EVENT * self.events:
            raise ValueError(f"an event has 1 to {LARGEST_EVENT} markets: "
                             f"{self.markets} do not fit {self.events} events")  # fmt: skip
        if self.refund_share + self.half_share > 1:
            raise ValueError("refund_share and half_share together exceed 1")
        return self


def code(settings: Settings) -> str:
    """Six digits that tell the worlds of different settings apart.

    >>> code(Settings()) == code(Settings(seed=1)) != code(Settings(seed=2))
    True
    """
    return digest(settings.model_dump(mode="json"))[:6]


def seeded(seed: int) -> Chance:
    """Chance that depends on nothing but the seed, the purpose and the day."""
    return lambda purpose, day: random.Random(f"{seed}/{purpose}/{day.isoformat()}")


def below(rng: random.Random, n: int) -> int:
    """A whole number from 0 to n - 1, by the one method of Random that all versions keep."""
    return int(rng.random() * n)


def moment(day: date, hour: int) -> datetime:
    """That hour of the day, in UTC."""
    return datetime.combine(day, time(hour), UTC)
