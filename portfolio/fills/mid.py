"""Any size at the mid, bought or sold: the seed's rule, shares = amount / price."""

from markets.model import Level
from portfolio.fills import BOTTOMLESS, FillRequest
from portfolio.model import Rejection
from portfolio.quotes import check_mid


def levels(order: FillRequest) -> list[Level] | Rejection:
    """Return one price, the mid."""
    price = check_mid(order.quote.mid, order.action, order.market, order.rules)
    if isinstance(price, Rejection):
        return price
    return [Level(price, BOTTOMLESS)]
