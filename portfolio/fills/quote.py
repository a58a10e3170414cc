"""Any size at the quote: bought at the ask, sold at the bid."""

from markets.model import Level
from portfolio.fills import BOTTOMLESS, FillRequest
from portfolio.model import Rejection
from portfolio.quotes import check_price


def levels(order: FillRequest) -> list[Level] | Rejection:
    """One price, that of the other side of the trade."""
    name, value = ("ask", order.quote.ask) if order.action == "buy" else ("bid", order.quote.bid)
    price = check_price(value, name, order.market)
    return price if isinstance(price, Rejection) else [Level(price, BOTTOMLESS)]
