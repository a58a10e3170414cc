"""The book as it stood: what is bought comes from the asks, what is sold goes to the bids."""

from collections.abc import Sequence
from dataclasses import replace

from markets.model import Level
from portfolio.fills import FillRequest
from portfolio.model import Rejection
from portfolio.money import dollars, number
from portfolio.quotes import check_price, check_spread, reject


def levels(order: FillRequest) -> Sequence[Level] | Rejection:
    """One side of the book, when the whole of it makes sense."""
    quote, market = order.quote, order.market
    whole = quote.bids + quote.asks
    if not whole:
        message = "the quote has no order book, which these rules need to fill orders"
        return reject("no_book", message, market)
    prices = [level.price for level in whole]
    for price in (min(prices), max(prices)):
        if isinstance(bad := check_price(price, "price of a level", market), Rejection):
            return bad
    if (least := min(whole, key=lambda level: level.shares)).shares <= 0:
        message = f"the book has a level of {number(least.shares)} shares at {dollars(least.price)}"
        return reject("bad_book", message, market)
    best = replace(
        quote,
        bid=max(prices[: len(quote.bids)], default=None),
        ask=min(prices[len(quote.bids) :], default=None),
    )
    return check_spread(best, market, order.rules) or (quote.asks if order.action == "buy" else quote.bids)
