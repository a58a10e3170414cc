"""Any size at the mid, bought or sold: the seed's rule, shares = amount / price."""

from markets.model import Level
from portfolio.checks import tradable_mid
from portfolio.fills import BOTTOMLESS, Order
from portfolio.model import Rejection


def levels(order: Order) -> list[Level] | Rejection:
    """One price, the mid."""
    price = tradable_mid(order.quote.mid, order.action, order.market, order.rules)
    return price if isinstance(price, Rejection) else [Level(price, BOTTOMLESS)]
