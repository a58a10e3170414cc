"""Any size at half a spread, a tick or a cent, from the mid: for records without bid and ask."""

from markets.model import Level
from portfolio.fills import BOTTOMLESS, FillRequest
from portfolio.model import Rejection
from portfolio.quotes import check_price

CENT = 10_000


def levels(order: FillRequest) -> list[Level] | Rejection:
    """One price: above the mid for who buys, below it for who sells."""
    mid = check_price(order.quote.mid, "mid", order.market)
    if isinstance(mid, Rejection):
        return mid
    half = max(order.market.tick, CENT)
    price = check_price(mid + half if order.action == "buy" else mid - half, "price", order.market)
    return price if isinstance(price, Rejection) else [Level(price, BOTTOMLESS)]
