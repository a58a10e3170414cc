"""Knows the truth, up to noise. For simulated worlds only, to show what skill looks like.

It bets a quarter of the Kelly stake on its forecasts.

    - kind: oracle
      noise: 0.5

Without noise, its score is the best possible. It knows the truth of questions of yes or no alone.
"""

from random import Random

from pydantic import Field

from agents.asked_forms import uniform_answers, yes_no_listings
from agents.model import Agent, Ask, Decision, Given, KindSettings, View, forecasts_of
from markets.odds import bell, log_odds, probability
from portfolio.sizing import quarter_kelly


class Settings(KindSettings):
    """How far it is from the truth."""

    noise: float = Field(default=0.0, ge=0, le=10)
    """The standard deviation of its error, in log-odds."""


def agent(settings: Settings, given: Given) -> Agent:
    """Return an agent that knows the true probabilities. Raise if the venue has none."""
    truth = given.truth
    if truth is None:
        raise ValueError("an oracle needs a venue with known true probabilities, such as the simulator")

    async def decide(view: View, _ask: Ask) -> Decision:
        beliefs = {}
        for listing in yes_no_listings(view.snapshot):
            market_id = listing.market.id
            error = settings.noise * bell(Random(f"{view.seed}/oracle/{market_id}"))
            beliefs[market_id] = probability(log_odds(truth(market_id, view.snapshot.at)) + error)

        bets = quarter_kelly(beliefs, view.holdings, view.snapshot, view.rules)
        return Decision(forecasts_of(beliefs) + uniform_answers(view.snapshot), bets)

    return decide
