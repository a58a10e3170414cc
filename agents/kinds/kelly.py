"""Believes another agent and bets a quarter of the Kelly stake on every forecast it states.

`of` is the name of that agent. A quarter of the Kelly stake is a quarter of the cash, times the edge over
the price, divided by what could be won a share; what it holds, it leaves alone until it is settled.

    - kind: kelly
      name: kelly-of-sharp
      of: sharp

Beside the other one, it shows what that one's beliefs would have earned.
"""

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common
from portfolio.sizing import quarter_kelly


class Settings(Common):
    """Whom it believes."""

    of: str
    """The name of the agent that it believes."""


def agent(settings: Settings, _given: Given) -> Agent:
    """The agent that puts its money on another's word."""

    async def decide(view: View, _ask: Ask) -> Decision:
        stated = [f for f in view.stated.get(settings.of, ()) if f.stage == "final"]
        forecasts = tuple(Forecast(f.market_id, f.probability, reason=f"as {settings.of}") for f in stated)
        beliefs = {f.market_id: f.probability for f in forecasts}
        note = "" if forecasts else f"{settings.of} stated no forecast this round"
        bets = quarter_kelly(beliefs, view.holdings, view.snapshot, view.rules)
        return Decision(forecasts, bets, note=note)

    return decide
