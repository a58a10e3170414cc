"""When a price may not be traded on: missing, late, stale, impossible, too wide, at odds with itself."""

from datetime import UTC, datetime, timedelta

from markets.millionths import ONE
from markets.model import Listing, Market, Quote
from portfolio.model import Action, Rejection
from portfolio.money import LARGEST, dollars
from portfolio.rules import Rules


def refuse(code: str, message: str, market: Market) -> Rejection:
    """A refusal that names its market."""
    return Rejection(code, message, market.id)


def timely(listing: Listing, at: datetime, rules: Rules) -> Rejection | None:
    """Refuse a market that has closed, or whose quote is stale at an instant or from after it."""
    market, quote = listing.market, listing.quote
    if at >= market.closes_at:
        closed = market.closes_at.astimezone(UTC)
        return refuse("closed", f"the market closed at {closed:%Y-%m-%d %H:%M} UTC", market)
    if quote is None:
        return refuse("no_quote", "the market has no quote", market)
    age = at - quote.at
    if age < timedelta():
        return refuse("late_quote", f"the quote is {span(-age)} later than the snapshot", market)
    if age > (most := timedelta(seconds=rules.max_quote_age)):
        return refuse("stale_quote", f"the quote is {span(age)} old; at most {span(most)} is allowed", market)
    return None


def span(time: timedelta) -> str:
    """A length of time in its two largest units.

    >>> span(timedelta(days=7, minutes=5)), span(timedelta(minutes=15)), span(timedelta(seconds=1.5))
    ('7 d', '15 min', '1.5 s')
    """
    if time < timedelta(minutes=1):
        return f"{time.total_seconds():g} s"
    seconds, parts = time // timedelta(seconds=1), list[str]()
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        count, seconds = divmod(seconds, size)
        if parts or count:
            parts.append(f"{count:,} {unit}" if count else "")
    return " ".join(part for part in parts[:2] if part)


def readable(quote: Quote, market: Market) -> Rejection | None:
    """Refuse a quote of another market, or one with anything but whole numbers in it."""
    if quote.market_id != market.id:
        return refuse("other_quote", f"the quote is one of {quote.market_id}", market)
    levels = quote.bids + quote.asks
    figures = [quote.volume, *(level.price for level in levels), *(level.shares for level in levels)]
    figures += [price for price in (quote.bid, quote.ask, quote.mid, quote.last) if price is not None]
    for figure in figures:
        if type(figure) is not int or abs(figure) > LARGEST:
            message = f"the quote has {_oddity(figure)}, which is no price and no size"
            return refuse("bad_quote", message, market)
    return None


def _oddity(figure: object) -> str:
    if type(figure) is int:
        return f"a figure of about {figure.bit_length() * 30_103 // 100_000 + 1} digits"
    return f"the {type(figure).__name__} {str(figure)[:20]!r}"


def tradable(price: int | None, name: str, market: Market) -> int | Rejection:
    """A price to trade at: it is there, and inside (0, 1)."""
    if price is None:
        use = {"ask": " to buy at", "bid": " to sell at"}.get(name, "")
        return refuse("no_price", f"the quote has no {name}{use}", market)
    if not 0 < price < ONE:
        return refuse("bad_price", f"the {name} {dollars(price)} is not between $0.00 and $1.00", market)
    return price


def tradable_mid(mid: int | None, action: Action, market: Market, rules: Rules) -> int | Rejection:
    """A mid to trade at. With `extremes` a share may cost $1.00, and be sold for it or for nothing."""
    if rules.extremes and (mid == ONE or (mid == 0 and action == "sell")):
        return mid
    return tradable(mid, "mid", market)


def sound(quote: Quote, market: Market, rules: Rules) -> Rejection | None:
    """Refuse a quote with one side only, a crossed or wide one, or one whose mid lies elsewhere.

    A quote with neither bid nor ask is only a price, and passes.
    """
    if quote.bid is None and quote.ask is None:
        return None
    if quote.bid is None or quote.ask is None:
        return _one_sided(quote, market)
    bid, ask = tradable(quote.bid, "bid", market), tradable(quote.ask, "ask", market)
    if isinstance(bid, Rejection):
        return bid
    if isinstance(ask, Rejection):
        return ask
    return _together(bid, ask, quote.mid, market, rules)


def _one_sided(quote: Quote, market: Market) -> Rejection:
    missing, (name, price) = ("bid", ("ask", quote.ask)) if quote.bid is None else ("ask", ("bid", quote.bid))
    message = f"the quote has no {missing}, only the {name} {dollars(price or 0)}: both are needed"
    return refuse("one_sided", message, market)


def _together(bid: int, ask: int, mid: int | None, market: Market, rules: Rules) -> Rejection | None:
    if bid > ask:
        message = f"the quote is crossed: its bid {dollars(bid)} is over its ask {dollars(ask)}"
        return refuse("crossed", message, market)
    if ask - bid > rules.max_spread:
        message = f"bid {dollars(bid)} and ask {dollars(ask)} are {dollars(ask - bid)} apart"
        return refuse("wide", f"{message}; at most {dollars(rules.max_spread)} is allowed", market)
    if mid is not None and (gap := abs(bid + ask - 2 * mid)) > 2 * rules.max_gap:
        message = (
            f"the mid {dollars(mid)} is {dollars(gap // 2)} from the middle of bid {dollars(bid)} and ask"
        )
        return refuse("gap", f"{message} {dollars(ask)}; at most {dollars(rules.max_gap)} is allowed", market)
    return None
