"""Knows nothing: any probability is as good as another, and a few of the smallest bets go anywhere.

`bets` is how many, 3 unless it is set. What it does depends on nothing but its seed.
"""

from random import Random

from pydantic import Field

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common
from markets.millionths import ONE
from portfolio.floor import Floor
from portfolio.model import Bet, Side
from portfolio.sizing import pays


class Settings(Common):
    """How many bets it makes in a turn."""

    bets: int = Field(default=3, ge=0)


def agent(settings: Settings, _given: Given) -> Agent:
    """The agent that throws dice."""

    async def decide(view: View, _ask: Ask) -> Decision:
        dice = Random(f"{view.seed}/random")
        shown = [listing.market.id for listing in view.snapshot.shown]
        forecasts = tuple(Forecast(market_id, int(dice.random() * (ONE + 1))) for market_id in shown)
        return Decision(forecasts, _bets(settings.bets, view, dice))

    return decide


def _bets(most: int, view: View, dice: Random) -> tuple[Bet, ...]:
    """The minimum on any side of as many markets as there is cash for, each at most once."""
    rules, cash = view.rules, view.holdings.cash
    if rules.min_bet * ONE > cash * rules.max_bet:
        return ()
    floor = Floor(view.snapshot, rules)
    drawn = sorted((dice.random(), place) for place in range(len(view.snapshot.shown)))
    bets: list[Bet] = []
    for draw, place in drawn:
        market_id = view.snapshot.shown[place].market.id
        side: Side = "YES" if int(draw * ONE) % 2 else "NO"
        if len(bets) < min(most, cash // rules.min_bet) and pays(floor, market_id, side) is not None:
            bets.append(Bet(market_id, side, rules.min_bet, reason="a throw of the dice"))
    return tuple(bets)
