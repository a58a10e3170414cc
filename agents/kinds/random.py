"""Knows nothing: states random probabilities and makes a few minimum bets at random.

It depends only on its seed, which comes from the arena's seed, the round and the agent's name. Questions of a
number or a date it answers as one who knows nothing.

    - kind: random
      bets: 5

It shows what chance looks like on the leaderboard.
"""

from itertools import pairwise
from random import Random

from pydantic import Field

from agents.asked_forms import answers_of, forms_in, yes_no_listings
from agents.model import Agent, Ask, Decision, Given, KindSettings, View, forecasts_of
from markets.distributions import Distribution, question_kind
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.matching import offers_at_snapshot
from portfolio.model import Side
from portfolio.sizing import minimum_bets


class Settings(KindSettings):
    """How many bets it makes in a turn."""

    bets: int = Field(default=3, ge=0)
    """The most bets it makes in a round."""


def agent(settings: Settings, _given: Given) -> Agent:
    """Return an agent that forecasts and bets at random."""

    async def decide(view: View, _ask: Ask) -> Decision:
        dice = Random(f"{view.seed}/random")
        market_ids = [listing.market.id for listing in yes_no_listings(view.snapshot)]
        probabilities = {market_id: int(dice.random() * (ONE + 1)) for market_id in market_ids}

        # The order of the draws is part of what the seed decides: first all forecasts, then the bets.
        draws = sorted((dice.random(), index) for index in range(len(market_ids)))
        sides = list[tuple[MarketId, Side]]()
        for draw, index in draws:
            sides.append((market_ids[index], "YES" if int(draw * ONE) % 2 else "NO"))

        offers = offers_at_snapshot(view.snapshot, view.rules)
        bets = minimum_bets(sides, settings.bets, view.holdings.cash, offers, "a throw of the dice")
        answers = {}
        for market_id, form in forms_in(view.snapshot).items():
            nothing = question_kind(form.kind).uniform(form)
            answers[market_id] = drawn_chances(nothing, Random(f"{view.seed}/random/{market_id}"))
        return Decision(forecasts_of(probabilities) + answers_of(answers), bets)

    return decide


def drawn_chances(nothing: Distribution, dice: Random) -> Distribution:
    """Return random chances of as many options; quantiles stay as they are.

    They are the gaps between evenly drawn points, so that every mix of chances is equally likely.
    """
    count = len(nothing.chances)
    if not count:
        return nothing
    points = sorted(int(dice.random() * (ONE + 1)) for _ in range(count - 1))
    bounds = pairwise([0, *points, ONE])
    return Distribution(tuple(high - low for low, high in bounds))
