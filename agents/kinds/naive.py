"""States the price or, without one, how often such questions end YES.

If `rates` lacks a number of days, the nearest is used; without any, even odds. Other questions it answers by
the market's chances or, without these, as one who knows nothing. It never bets.

    - kind: naive
      rates: {fred: {7: 0.45, 30: 0.48}}

`arena study forecastbench run --baselines` sets the rates by how earlier rounds were resolved.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from agents.asked_forms import odds_answers, yes_no_listings
from agents.model import Agent, Ask, Decision, Given, KindSettings, View, forecasts_of
from markets.millionths import ONE, millionths

Chance = Annotated[float, Field(ge=0, le=1)]


class Settings(KindSettings):
    """How often questions end YES."""

    rates: dict[str, dict[int, Chance]] = Field(
        default_factory=dict, json_schema_extra={"meant": "shares from 0 to 1 by category and days"}
    )
    """The share that ended YES, by category and by the days until it was decided."""


def agent(settings: Settings, _given: Given) -> Agent:
    """Return an agent that states the price or, without one, the rate of such questions."""

    async def decide(view: View, _ask: Ask) -> Decision:
        today = view.snapshot.at.date()

        probabilities = {}
        for listing in yes_no_listings(view.snapshot):
            market = listing.market
            probability = listing.mid
            if probability is None:
                days = (market.closes_at.date() - today).days
                probability = nearest_rate(settings.rates.get(market.category, {}), days)
            probabilities[market.id] = probability

        others = odds_answers(view.snapshot, known_only=False)
        return Decision(forecasts_of(probabilities) + others)

    return decide


def nearest_rate(rates: Mapping[int, float], days: int) -> int:
    """Return the rate of the nearest number of days, in millionths; one half if there are no rates."""
    if not rates:
        return ONE // 2

    nearest = min(rates, key=lambda rate_days: (abs(rate_days - days), rate_days))
    return millionths(rates[nearest])
