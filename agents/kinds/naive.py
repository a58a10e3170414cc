"""States the price or, without one, how often such questions end YES.

If `rates` lacks a number of days, the nearest is used. Without any, the values that a question of the
[venue `series`](venues.md#series) shows count: how often the series moved as far in as many days before, with
one more of each outcome. All others get even odds; what isn't of yes or no gets the market's chances or an
even spread. It never bets.

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
from markets.model import Market
from markets.templates import question_of, read_history, template_of

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
            if probability is None and market.category in settings.rates:
                days = (market.closes_at.date() - today).days
                probability = nearest_rate(settings.rates[market.category], days)
            elif probability is None:
                probability = share_of_windows(market)
            probabilities[market.id] = probability

        others = odds_answers(view.snapshot, known_only=False)
        return Decision(forecasts_of(probabilities) + others)

    return decide


def share_of_windows(market: Market) -> int:
    """Return how often a question's series moved as far in as many days, in millionths; else one half.

    Of each earlier value, the last one so many days later is compared with it. One window of each outcome is
    added, so that few windows say little.
    """
    question = question_of(market.id)
    if question is None:
        return ONE // 2

    history = read_history(market.rules)
    template = template_of(question.template)
    days_between = question.due - question.base_date
    change_needed = question.threshold - question.base

    yes_windows = 1
    all_windows = 2
    for start, start_value in zip(history.dates, history.values, strict=True):
        end_index = history.place_on(start + days_between)
        if end_index is None or start + days_between > history.dates[-1]:
            break
        all_windows += 1
        yes_windows += template.is_met(history.values[end_index] - start_value, change_needed)
    return ONE * yes_windows // all_windows


def nearest_rate(rates: Mapping[int, float], days: int) -> int:
    """Return the rate of the nearest number of days, in millionths; one half if there are no rates."""
    if not rates:
        return ONE // 2

    nearest = min(rates, key=lambda rate_days: (abs(rate_days - days), rate_days))
    return millionths(rates[nearest])
