"""Follows another agent and bets a quarter of the Kelly stake on each of its forecasts.

The stake is a quarter of the cash, times the edge over the price, divided by the possible gain per share.
It holds its positions until they are settled.

    - kind: kelly
      name: kelly-of-sharp
      of: sharp

It shows what those forecasts would have earned.
"""

from dataclasses import replace

from agents.model import Agent, Ask, Decision, Given, View
from agents.model import Settings as Common
from portfolio.sizing import quarter_kelly


class Settings(Common):
    """Whom it believes."""

    of: str
    """The name of the agent it follows."""


def agent(settings: Settings, _given: Given) -> Agent:
    """The agent that puts its money on another's word."""

    async def decide(view: View, _ask: Ask) -> Decision:
        stated = [f for f in view.stated.get(settings.of, ()) if f.stage == "final"]
        forecasts = tuple(replace(f, reason=f"as {settings.of}") for f in stated)
        beliefs = {f.market_id: f.millionths for f in forecasts}
        note = "" if forecasts else f"{settings.of} stated no forecast this round"
        bets = quarter_kelly(beliefs, view.holdings, view.snapshot, view.rules)
        return Decision(forecasts, bets, note=note)

    return decide
