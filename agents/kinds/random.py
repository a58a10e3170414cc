"""Knows nothing: states random probabilities and makes a few minimum bets at random.

It depends only on its seed, which comes from the arena's seed, the round and the agent's name.

    - kind: random
      bets: 5

It shows what chance looks like on the leaderboard.
"""

from random import Random

from pydantic import Field

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.matching import offers_at_snapshot
from portfolio.model import Bet, Side
from portfolio.sizing import minimum_bets


class Settings(Common):
    """How many bets it makes in a turn."""

    bets: int = Field(default=3, ge=0)
    """The most bets it makes in a round."""


def agent(settings: Settings, _given: Given) -> Agent:
    """The agent that throws dice."""

    async def decide(view: View, _ask: Ask) -> Decision:
        dice = Random(f"{view.seed}/random")
        shown = [listing.market.id for listing in view.snapshot.shown]
        drawn = ((market_id, int(dice.random() * (ONE + 1))) for market_id in shown)
        forecasts = tuple(Forecast(market_id, millionths=p) for market_id, p in drawn)
        return Decision(forecasts, _bets(settings.bets, view, dice))

    return decide


def _bets(most: int, view: View, dice: Random) -> tuple[Bet, ...]:
    """The minimum on any side of as many markets as there is cash for, each at most once."""
    shown = view.snapshot.shown
    drawn = sorted((dice.random(), place) for place in range(len(shown)))
    sides: list[tuple[MarketId, Side]] = [
        (shown[place].market.id, "YES" if int(draw * ONE) % 2 else "NO") for draw, place in drawn
    ]
    offers = offers_at_snapshot(view.snapshot, view.rules)
    return minimum_bets(sides, most, view.holdings.cash, offers, "a throw of the dice")
