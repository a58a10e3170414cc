"""Believes the price, and backs the strongest favourites with minimum bets.

Its forecast is the mid of every market shown. It bets the rules' minimum on the most expensive likelier
sides; a side that can't be bought is replaced by the next. A mid of one half has no favourite.

    - kind: favourite
      bets: 5

It makes money if long shots are overpriced.
"""

from collections.abc import Iterator, Mapping

from pydantic import Field

from agents.asked_forms import odds_answers, yes_no_listings
from agents.model import Agent, Ask, Decision, Given, KindSettings, View, forecasts_of
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.matching import offers_at_snapshot
from portfolio.model import Side
from portfolio.sizing import minimum_bets


class Settings(KindSettings):
    """How many favourites it backs."""

    bets: int = Field(default=3, ge=0)
    """The most bets it makes in a round."""


def agent(settings: Settings, _given: Given) -> Agent:
    """Return an agent that backs favourites."""

    async def decide(view: View, _ask: Ask) -> Decision:
        shown = yes_no_listings(view.snapshot)
        mids = {listing.market.id: listing.mid for listing in shown if listing.mid is not None}

        offers = offers_at_snapshot(view.snapshot, view.rules)
        bets = minimum_bets(favourites(mids), settings.bets, view.holdings.cash, offers, "the favourite")
        return Decision(forecasts_of(mids) + odds_answers(view.snapshot), bets)

    return decide


def favourites(mids: Mapping[MarketId, int]) -> Iterator[tuple[MarketId, Side]]:
    """Yield the likelier side of each market, the most expensive first; equal ones keep their order."""
    for market_id in sorted(mids, key=lambda market_id: -max(mids[market_id], ONE - mids[market_id])):
        if 2 * mids[market_id] > ONE:
            yield market_id, "YES"
        elif 2 * mids[market_id] < ONE:
            yield market_id, "NO"
