"""Knows the truth, up to noise. For simulated worlds only, to show what skill looks like.

It bets a quarter of the Kelly stake on its forecasts.

    - kind: oracle
      noise: 0.5

Without noise, its score is the best possible.
"""

from random import Random

from pydantic import Field

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common
from markets.odds import bell, log_odds, probability
from portfolio.sizing import quarter_kelly


class Settings(Common):
    """How far off it is."""

    noise: float = Field(default=0.0, ge=0, le=10)
    """The standard deviation of its error, in log-odds."""


def agent(settings: Settings, given: Given) -> Agent:
    """The agent that is told the truth."""
    truth = given.truth
    if truth is None:
        raise ValueError("an oracle needs a venue with known true probabilities, such as the simulator")

    async def decide(view: View, _ask: Ask) -> Decision:
        beliefs = {}
        for listing in view.snapshot.shown:
            market_id = listing.market.id
            error = settings.noise * bell(Random(f"{view.seed}/oracle/{market_id}"))
            beliefs[market_id] = probability(log_odds(truth(market_id, view.snapshot.at)) + error)
        forecasts = tuple(Forecast(market_id, millionths=p) for market_id, p in beliefs.items())
        return Decision(forecasts, quarter_kelly(beliefs, view.holdings, view.snapshot, view.rules))

    return decide
