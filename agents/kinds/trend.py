"""Continues a series of data: its drift so far, and steps as large as they were, normally distributed.

    - kind: trend

It reads the values that a question of the [venue `series`](venues.md#series) shows, and states the chance
that the value on the date is beyond what is asked, from 0.01 to 0.99. A question without values gets even
odds. It never bets.
"""

from datetime import date
from decimal import Decimal
from itertools import pairwise
from math import sqrt
from statistics import NormalDist

from agents.asked_forms import yes_no_listings
from agents.model import Agent, Ask, Decision, Given, KindSettings, View, forecasts_of
from markets.millionths import ONE, millionths
from markets.model import Market
from markets.observations import KnownValues
from markets.templates import question_of, read_history, template_of

LIKELY = 0.01, 0.99
"""The bounds of what it states."""


class Settings(KindSettings):
    """Nothing to set."""


def agent(_settings: Settings, _given: Given) -> Agent:
    """Return an agent that continues series."""

    async def decide(view: View, _ask: Ask) -> Decision:
        shown = yes_no_listings(view.snapshot)
        return Decision(
            forecasts_of({listing.market.id: chance_if_continued(listing.market) for listing in shown})
        )

    return decide


def chance_if_continued(market: Market) -> int:
    """Return the chance of YES if a question's series goes on as it did, in millionths."""
    question = question_of(market.id)
    history = read_history(market.rules)
    if question is None or len(history.dates) < 3:
        return ONE // 2

    expected, spread = expected_value_and_spread(history, question.due)
    if spread == 0:
        chance = float(question.is_met(Decimal(expected)))
    else:
        chance_below = NormalDist(expected, spread).cdf(float(question.threshold))
        asks_for_more = template_of(question.template).upward
        chance = 1 - chance_below if asks_for_more else chance_below

    least, most = LIKELY
    return millionths(min(max(chance, least), most))


def expected_value_and_spread(history: KnownValues, day: date) -> tuple[float, float]:
    """Return where the value of a day is expected, and the standard deviation of that.

    Each change so far counts as a step of as many days as lie between its values.
    """
    steps = [(later - earlier).days for earlier, later in pairwise(history.dates)]
    values = list(map(float, history.values))

    daily_drift = (values[-1] - values[0]) / sum(steps)
    squares = 0.0
    for (before, after), days in zip(pairwise(values), steps, strict=True):
        surprise = after - before - daily_drift * days
        squares += surprise**2 / days
    daily_variance = squares / (len(values) - 2)

    days_ahead = (day - history.dates[-1]).days
    return values[-1] + daily_drift * days_ahead, sqrt(daily_variance * days_ahead)
