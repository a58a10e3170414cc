"""When a price may not be traded on: missing, late, stale, impossible, too wide, at odds with itself."""

from datetime import datetime

from markets.millionths import ONE
from markets.model import Listing, Market, Quote
from portfolio.model import Rejection
from portfolio.money import dollars
from portfolio.rules import Rules


def refuse(code: str, message: str, market: Market) -> Rejection:
    """A refusal that names its market."""
    return Rejection(code, message, market.id)


def timely(listing: Listing, at: datetime, rules: Rules) -> Quote | Rejection:
    """The quote of a market that is open at an instant; neither stale then, nor from after it."""
    market, quote = listing.market, listing.quote
    if at >= market.closes_at:
        return refuse("closed", f"the market closed at {market.closes_at:%Y-%m-%d %H:%M %Z}", market)
    if quote is None:
        return refuse("no_quote", "the market has no quote", market)
    age = (at - quote.at).total_seconds()
    if age < 0:
        return refuse("late_quote", f"the quote is {-age:,.0f} s later than the snapshot", market)
    if age > rules.max_quote_age:
        message = f"the quote is {age:,.0f} s old; {rules.max_quote_age:,} s are allowed"
        return refuse("stale_quote", message, market)
    return quote


def tradable(price: int | None, name: str, market: Market) -> int | Rejection:
    """A price to trade at: it is there, and inside (0, 1)."""
    if price is None:
        return refuse("no_price", f"the quote has no {name}", market)
    if not 0 < price < ONE:
        return refuse("bad_price", f"the {name} {dollars(price)} is not between $0.00 and $1.00", market)
    return price


def sound(quote: Quote, market: Market, rules: Rules) -> Rejection | None:
    """Refuse a quote with one side only, a crossed or wide one, or one whose mid lies elsewhere.

    A quote with neither bid nor ask is only a price, and passes.
    """
    if quote.bid is None and quote.ask is None:
        return None
    if quote.bid is None or quote.ask is None:
        missing = "bid" if quote.bid is None else "ask"
        return refuse("one_sided", f"the quote is one-sided: it has no {missing}", market)
    bid, ask = tradable(quote.bid, "bid", market), tradable(quote.ask, "ask", market)
    if isinstance(bid, Rejection):
        return bid
    if isinstance(ask, Rejection):
        return ask
    return _together(bid, ask, quote.mid, market, rules)


def _together(bid: int, ask: int, mid: int | None, market: Market, rules: Rules) -> Rejection | None:
    prices = f"bid {dollars(bid)}, ask {dollars(ask)}"
    if bid > ask:
        return refuse("crossed", f"the quote is crossed: {prices}", market)
    if ask - bid > rules.max_spread:
        message = f"the spread of {dollars(ask - bid)} is over {dollars(rules.max_spread)}: {prices}"
        return refuse("wide", message, market)
    if mid is not None and abs(bid + ask - 2 * mid) > 2 * rules.max_gap:
        message = f"the mid {dollars(mid)} is over {dollars(rules.max_gap)} from the middle of {prices}"
        return refuse("gap", message, market)
    return None
