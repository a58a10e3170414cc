"""The book as it stood: what is bought comes from the asks, what is sold goes to the bids."""

from collections.abc import Sequence
from dataclasses import replace

from markets.model import Level
from portfolio.fills import FillRequest
from portfolio.model import Rejection
from portfolio.money import dollars, number
from portfolio.quotes import check_price, check_spread, reject


def levels(order: FillRequest) -> Sequence[Level] | Rejection:
    """Return the side of the book that an order takes from, if the whole book makes sense."""
    quote = order.quote
    both_sides = quote.bids + quote.asks
    if not both_sides:
        message = "the quote has no order book, which these rules need to fill orders"
        return reject("no_book", message, order.market)

    prices = [level.price for level in both_sides]
    for extreme in (min(prices), max(prices)):
        price = check_price(extreme, "price of a level", order.market)
        if isinstance(price, Rejection):
            return price

    least = min(both_sides, key=lambda level: level.shares)
    if least.shares <= 0:
        message = f"the book has a level of {number(least.shares)} shares at {dollars(least.price)}"
        return reject("bad_book", message, order.market)

    # The quote's own bid and ask were checked before; the best prices of the book have to be as sound.
    best_bid = max(prices[: len(quote.bids)], default=None)
    best_ask = min(prices[len(quote.bids) :], default=None)
    fault = check_spread(replace(quote, bid=best_bid, ask=best_ask), order.market, order.rules)
    if fault is not None:
        return fault
    return quote.asks if order.action == "buy" else quote.bids
