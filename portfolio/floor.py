"""The trading floor: a snapshot made ready to trade on. All entrants of a round share it."""

from functools import lru_cache

from markets.hashes import quote_hash
from markets.model import Listing, MarketId, Snapshot
from portfolio.checks import timely
from portfolio.model import Action, Rejection, Side
from portfolio.offers import Offers, offers
from portfolio.rules import Rules


class Floor:
    """What a snapshot offers under the rules, worked out once for each thing that is asked for.

    Nobody takes anything from it: every entrant trades on the same prices.
    """

    def __init__(self, snapshot: Snapshot, rules: Rules):
        self.at, self.rules = snapshot.seen_at, rules
        self.offered = {listing.market.id for listing in snapshot.shown}
        # The first of two listings of a market counts, and what is shown comes before what is held.
        self.listings: dict[MarketId, Listing] = {x.market.id: x for x in reversed(tuple(snapshot))}
        self._found: dict[tuple[MarketId, Side, Action], Offers | Rejection] = {}
        self._hashes: dict[MarketId, str] = {}

    def offers(self, market_id: MarketId, side: Side, action: Action) -> Offers | Rejection:
        """What may be traded at on a side of a market, or why nothing may."""
        key = market_id, side, action
        if key not in self._found:
            listing = self.listings[market_id]
            self._found[key] = timely(listing, self.at, self.rules) or offers(
                action, side, listing, self.rules
            )
        return self._found[key]

    def quote_hash(self, market_id: MarketId) -> str:
        """The hash of the quote that a fill in this market is done on."""
        if market_id not in self._hashes:
            quote = self.listings[market_id].quote
            self._hashes[market_id] = "" if quote is None else quote_hash(quote)
        return self._hashes[market_id]


@lru_cache(maxsize=4)
def floor_of(snapshot: Snapshot, rules: Rules) -> Floor:
    """The floor of a snapshot under the rules, made once for all agents that work out what to bet there."""
    return Floor(snapshot, rules)
