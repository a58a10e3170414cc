"""States the same probability for every market, and bets a quarter of the Kelly stake on it.

    - kind: constant
      p: 0.3

At 0.5 it claims to know nothing.
"""

from pydantic import Field

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common
from markets.millionths import millionths
from portfolio.sizing import quarter_kelly


class Settings(Common):
    """The one probability."""

    p: float = Field(default=0.5, ge=0, le=1)
    """The probability it states."""


def agent(settings: Settings, _given: Given) -> Agent:
    """The agent that always says `p`."""
    p = millionths(settings.p)

    async def decide(view: View, _ask: Ask) -> Decision:
        beliefs = {listing.market.id: p for listing in view.snapshot.shown}
        forecasts = tuple(Forecast(market_id, millionths=p) for market_id in beliefs)
        return Decision(forecasts, quarter_kelly(beliefs, view.holdings, view.snapshot, view.rules))

    return decide
