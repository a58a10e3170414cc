"""Believes the price, and backs the strongest favourites with minimum bets.

Its forecast is the mid of every market shown. It bets the rules' minimum on the most expensive likelier
sides; a side that can't be bought is replaced by the next. A mid of one half has no favourite.

    - kind: favourite
      bets: 5

It makes money if long shots are overpriced.
"""

from collections.abc import Iterator

from pydantic import Field

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common
from markets.millionths import ONE
from markets.model import MarketId, Snapshot
from portfolio.matching import offers_at_snapshot
from portfolio.model import Side
from portfolio.sizing import minimum_bets


class Settings(Common):
    """How many favourites it backs."""

    bets: int = Field(default=3, ge=0)
    """The most bets it makes in a round."""


def agent(settings: Settings, _given: Given) -> Agent:
    """The agent that backs favourites."""

    async def decide(view: View, _ask: Ask) -> Decision:
        mids = [(listing.market.id, listing.mid) for listing in view.snapshot.shown]
        forecasts = tuple(Forecast(market_id, millionths=mid) for market_id, mid in mids if mid is not None)
        offers = offers_at_snapshot(view.snapshot, view.rules)
        sides = favourites(view.snapshot)
        bets = minimum_bets(sides, settings.bets, view.holdings.cash, offers, "the favourite")
        return Decision(forecasts, bets)

    return decide


def favourites(snapshot: Snapshot) -> Iterator[tuple[MarketId, Side]]:
    """The likelier side of each market shown, the dearest first; equals in the order shown."""
    priced = [(x.market.id, x.mid) for x in snapshot.shown if x.mid is not None and 2 * x.mid != ONE]
    for market_id, mid in sorted(priced, key=lambda pair: -max(pair[1], ONE - pair[1])):
        yield market_id, "YES" if 2 * mid > ONE else "NO"
