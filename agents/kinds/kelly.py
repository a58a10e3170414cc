"""Follows another agent and bets a quarter of the Kelly stake on each of its forecasts.

The stake is a quarter of the cash, times the edge over the price, divided by the possible gain per share.
It holds its positions until they are settled.

    - kind: kelly
      name: kelly-of-sharp
      of: sharp

It shows what those forecasts would have earned.
"""

from dataclasses import replace

from agents.model import Agent, Ask, Decision, Given, KindSettings, View
from portfolio.sizing import quarter_kelly


class Settings(KindSettings):
    """The agent that it follows."""

    of: str
    """The name of the agent it follows."""


def agent(settings: Settings, _given: Given) -> Agent:
    """Return an agent that bets on another agent's forecasts."""

    async def decide(view: View, _ask: Ask) -> Decision:
        beliefs = {}
        forecasts = []
        for stated in view.stated.get(settings.of, ()):
            if stated.stage == "final":
                if not stated.distribution:
                    beliefs[stated.market_id] = stated.millionths
                forecasts.append(replace(stated, reason=f"as {settings.of}"))

        bets = quarter_kelly(beliefs, view.holdings, view.snapshot, view.rules)
        note = ""
        if not forecasts:
            note = f"{settings.of} stated no forecast this round"
        return Decision(tuple(forecasts), bets, note=note)

    return decide
