"""Believes the price: its forecast is the mid of every market shown, and it never bets.

It skips markets without a mid. Where the market gives chances of several options, it states those.

    - kind: market

It is the forecast to beat. Its name is reserved for it.
"""

from agents.asked_forms import odds_answers, yes_no_listings
from agents.model import Agent, Ask, Decision, Given, KindSettings, View, forecasts_of


class Settings(KindSettings):
    """Nothing to set."""


def agent(_settings: Settings, _given: Given) -> Agent:
    """Return an agent that forecasts the price."""

    async def decide(view: View, _ask: Ask) -> Decision:
        shown = yes_no_listings(view.snapshot)
        mids = {listing.market.id: listing.mid for listing in shown if listing.mid is not None}
        return Decision(forecasts_of(mids) + odds_answers(view.snapshot))

    return decide
