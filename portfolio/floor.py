"""The trading floor of one decision: what may be traded, less what the decision itself has taken."""

from markets.hashes import quote_hash
from markets.model import Listing, MarketId, Snapshot
from portfolio.books import without
from portfolio.checks import timely
from portfolio.model import Fill, Rejection
from portfolio.rules import Rules
from portfolio.walk import fee_rate, fill
from portfolio.wishes import Wish


class Floor:
    """A snapshot as one entrant trades on it. Other entrants take nothing from its books."""

    def __init__(self, snapshot: Snapshot, rules: Rules):
        self.at, self.rules = snapshot.at, rules
        self.offered = {listing.market.id for listing in snapshot.shown}
        self.listings: dict[MarketId, Listing] = {}
        for listing in snapshot:
            self.listings.setdefault(listing.market.id, listing)

    def trade(self, wish: Wish, base: int) -> Fill | Rejection:
        """Fill a wish whose size is allowed, and take what it got out of the book."""
        listing = self.listings[wish.market_id]
        quote = timely(listing, self.at, self.rules)
        if isinstance(quote, Rejection):
            return quote
        filled = fill(wish.action, wish.size, wish.side, listing, self.rules, wish.limit)
        if isinstance(filled, Rejection):
            return filled
        self.listings[wish.market_id] = without(listing, wish.side, wish.action, filled.levels)
        return Fill(
            market_id=wish.market_id,
            side=wish.side,
            action=wish.action,
            shares=filled.shares,
            amount=filled.amount,
            fee=filled.fee,
            wanted=wish.size,
            base=base,
            quote_at=quote.at,
            quote_hash=quote_hash(quote),
            fee_rate=fee_rate(listing.market, self.rules),
            levels=filled.levels,
            left=filled.left,
            reason=wish.reason,
        )
