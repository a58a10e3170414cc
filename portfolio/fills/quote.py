"""Any size at the quote: bought at the ask, sold at the bid."""

from markets.model import Level
from portfolio.checks import tradable
from portfolio.fills import BOTTOMLESS, Order
from portfolio.model import Rejection


def levels(order: Order) -> list[Level] | Rejection:
    """One price, that of the other side of the trade."""
    name, value = ("ask", order.quote.ask) if order.action == "buy" else ("bid", order.quote.bid)
    price = tradable(value, name, order.market)
    return price if isinstance(price, Rejection) else [Level(price, BOTTOMLESS)]
