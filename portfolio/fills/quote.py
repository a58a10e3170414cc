"""Any size at the quote: bought at the ask, sold at the bid."""

from markets.model import Level
from portfolio.fills import BOTTOMLESS, FillRequest
from portfolio.model import Rejection
from portfolio.quotes import check_price


def levels(order: FillRequest) -> list[Level] | Rejection:
    """Return one price, the ask to buy at or the bid to sell at."""
    if order.action == "buy":
        price = check_price(order.quote.ask, "ask", order.market)
    else:
        price = check_price(order.quote.bid, "bid", order.market)

    if isinstance(price, Rejection):
        return price
    return [Level(price, BOTTOMLESS)]
