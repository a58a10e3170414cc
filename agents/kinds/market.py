"""Believes the price: its forecast is the mid of every market shown, and it never bets.

It skips markets without a mid.

    - kind: market

It is the forecast to beat. Its name is reserved for it.
"""

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common


class Settings(Common):
    """Nothing to set."""


def agent(_settings: Settings, _given: Given) -> Agent:
    """The agent that agrees with every price."""

    async def decide(view: View, _ask: Ask) -> Decision:
        listed = ((listing.market.id, listing.mid) for listing in view.snapshot.shown)
        priced = ((market_id, mid) for market_id, mid in listed if mid is not None)
        return Decision(tuple(Forecast(market_id, millionths=mid) for market_id, mid in priced))

    return decide
