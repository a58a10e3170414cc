"""States the same probability for every market, and bets a quarter of the Kelly stake on it.

    - kind: constant
      p: 0.3

At 0.5 it claims to know nothing. Questions that aren't of yes or no it answers as one who knows nothing.
"""

from pydantic import Field

from agents.asked_forms import uniform_answers, yes_no_listings
from agents.model import Agent, Ask, Decision, Given, KindSettings, View, forecasts_of
from markets.millionths import millionths
from portfolio.sizing import quarter_kelly


class Settings(KindSettings):
    """The probability."""

    p: float = Field(default=0.5, ge=0, le=1)
    """The probability it states."""


def agent(settings: Settings, _given: Given) -> Agent:
    """Return an agent that states `p` for every market."""
    share = millionths(settings.p)

    async def decide(view: View, _ask: Ask) -> Decision:
        beliefs = {listing.market.id: share for listing in yes_no_listings(view.snapshot)}
        bets = quarter_kelly(beliefs, view.holdings, view.snapshot, view.rules)
        return Decision(forecasts_of(beliefs) + uniform_answers(view.snapshot), bets)

    return decide
