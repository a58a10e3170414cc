"""States the price or, without one, how often such questions end YES.

If `rates` lacks a number of days, the nearest is used; without any, even odds. It never bets.

    - kind: naive
      rates: {fred: {7: 0.45, 30: 0.48}}

`arena forecastbench run --baselines` sets the rates by how earlier rounds were resolved.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common
from markets.millionths import ONE, millionths
from markets.model import Listing

Chance = Annotated[float, Field(ge=0, le=1)]


class Settings(Common):
    """How often questions end YES."""

    rates: dict[str, dict[int, Chance]] = Field(
        default_factory=dict, json_schema_extra={"meant": "shares from 0 to 1 by category and days"}
    )
    """The share that ended YES, by category and by the days until it was decided."""


def agent(settings: Settings, _given: Given) -> Agent:
    """The agent that looks at the price and at the rates."""

    async def decide(view: View, _ask: Ask) -> Decision:
        at = view.snapshot.at
        return Decision(
            tuple(
                Forecast(listing.market.id, millionths=_chance(listing, settings.rates, days))
                for listing in view.snapshot.shown
                for days in [(listing.market.closes_at.date() - at.date()).days]
            )
        )

    return decide


def _chance(listing: Listing, rates: Mapping[str, Mapping[int, float]], days: int) -> int:
    if listing.mid is not None:
        return listing.mid
    known = rates.get(listing.market.category, {})
    if not known:
        return ONE // 2
    return millionths(known[min(known, key=lambda day: (abs(day - days), day))])
