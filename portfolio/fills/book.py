"""The book as it stood: what is bought comes from the asks, what is sold goes to the bids."""

from collections.abc import Sequence
from dataclasses import replace

from markets.model import Level
from portfolio.checks import refuse, sound, tradable
from portfolio.fills import Order
from portfolio.model import Rejection


def levels(order: Order) -> Sequence[Level] | Rejection:
    """One side of the book, when the whole of it makes sense."""
    quote, market = order.quote, order.market
    if not quote.bids and not quote.asks:
        return refuse("no_book", "the quote has no book", market)
    for level in (*quote.bids, *quote.asks):
        if isinstance(bad := tradable(level.price, "price of a level", market), Rejection):
            return bad
        if level.shares <= 0:
            return refuse("bad_book", "the book has a level without shares", market)
    best = replace(
        quote,
        bid=max((level.price for level in quote.bids), default=None),
        ask=min((level.price for level in quote.asks), default=None),
    )
    return sound(best, market, order.rules) or (quote.asks if order.action == "buy" else quote.bids)
