"""Any size at half a spread, a tick or a cent, from the mid: for records without bid and ask."""

from markets.model import Level
from portfolio.fills import BOTTOMLESS, FillRequest
from portfolio.model import Rejection
from portfolio.quotes import check_price

CENT = 10_000


def levels(order: FillRequest) -> list[Level] | Rejection:
    """Return one price, above the mid to buy at or below it to sell at."""
    mid = check_price(order.quote.mid, "mid", order.market)
    if isinstance(mid, Rejection):
        return mid

    # The record has no spread, so a trade pays half of an assumed one: a tick, but at least a cent.
    half_spread = max(order.market.tick, CENT)
    price = mid + half_spread if order.action == "buy" else mid - half_spread
    checked = check_price(price, "price", order.market)
    if isinstance(checked, Rejection):
        return checked
    return [Level(checked, BOTTOMLESS)]
