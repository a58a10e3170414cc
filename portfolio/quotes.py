"""A quote from either side, NO being the mirror image of YES, and why a price may not be traded on."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from markets.millionths import ONE
from markets.model import Level, Listing, Market, Quote
from portfolio.model import Action, Rejection, Side
from portfolio.money import LARGEST, dollars
from portfolio.rules import Rules


def mirror_price(price: int | None) -> int | None:
    """Return the price of the other side's share, None for None."""
    return None if price is None else ONE - price


def side_quote(quote: Quote, side: Side) -> Quote:
    """Return the quote in prices of the side's own share.

    Buying NO is selling YES, so the asks of NO are the bids for YES, each at a dollar less the price.
    """
    if side == "YES":
        return quote

    return replace(
        quote,
        bid=mirror_price(quote.ask),
        ask=mirror_price(quote.bid),
        mid=mirror_price(quote.mid),
        last=mirror_price(quote.last),
        bids=_mirror_levels(quote.asks),
        asks=_mirror_levels(quote.bids),
    )


def _mirror_levels(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    return tuple(Level(ONE - level.price, level.shares) for level in levels)


def reject(code: str, message: str, market: Market) -> Rejection:
    """Return a rejection that names its market."""
    return Rejection(code, message, market.id)


def check_time(listing: Listing, at: datetime, rules: Rules) -> Rejection | None:
    """Refuse a market that has closed, or whose quote is older than allowed or from after the instant."""
    market = listing.market
    quote = listing.quote
    if at >= market.closes_at:
        closed = market.closes_at.astimezone(UTC)
        return reject("closed", f"the market closed at {closed:%Y-%m-%d %H:%M} UTC", market)
    if quote is None:
        return reject("no_quote", "the market has no quote", market)

    age = at - quote.at
    if age < timedelta():
        return reject("late_quote", f"the quote is {duration_text(-age)} later than the snapshot", market)
    if age > rules.quote_age:
        most_text = duration_text(rules.quote_age)
        return reject(
            "stale_quote", f"the quote is {duration_text(age)} old; at most {most_text} is allowed", market
        )

    return None


def duration_text(time: timedelta) -> str:
    """Return a length of time in its two largest units."""
    if time < timedelta(minutes=1):
        return f"{time.total_seconds():g} s"

    seconds = time // timedelta(seconds=1)
    parts: list[str] = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:,} {unit}")
        elif parts:
            parts.append("")  # a unit of which there is none counts as one of the two

    return " ".join(filter(None, parts[:2]))


def check_figures(quote: Quote, market: Market) -> Rejection | None:
    """Refuse a quote of another market, or one with anything but whole numbers in it."""
    if quote.market_id != market.id:
        return reject("other_quote", f"the quote is for {quote.market_id}", market)

    levels = quote.bids + quote.asks
    figures = [level.price for level in levels]
    figures += [level.shares for level in levels]
    for figure in (quote.volume, quote.bid, quote.ask, quote.mid, quote.last):
        if figure is not None:
            figures.append(figure)

    for figure in figures:
        if type(figure) is not int or abs(figure) > LARGEST:
            message = f"the quote has {_odd_figure_text(figure)}, which is neither a price nor a size"
            return reject("bad_quote", message, market)

    return None


def _odd_figure_text(figure: object) -> str:
    """Describe a figure that is too large or no whole number, without writing all of it."""
    if type(figure) is not int:
        return f"the {type(figure).__name__} {str(figure)[:20]!r}"

    # Python refuses to write out a number of very many digits. Their count follows from that of the binary
    # digits, each of which is worth log10(2) decimal ones, about 0.30103.
    digits = figure.bit_length() * 30_103 // 100_000 + 1
    return f"a figure of about {digits} digits"


def check_price(price: int | None, name: str, market: Market) -> int | Rejection:
    """Return a price to trade at, or a rejection if there is none or it is not inside (0, 1)."""
    if price is None:
        use = {"ask": " to buy at", "bid": " to sell at"}.get(name, "")
        return reject("no_price", f"the quote has no {name}{use}", market)
    if not 0 < price < ONE:
        return reject("bad_price", f"the {name} {dollars(price)} is not between $0.00 and $1.00", market)
    return price


def check_mid(mid: int | None, action: Action, market: Market, rules: Rules) -> int | Rejection:
    """Return a mid to trade at, or a rejection.

    With `extremes` a share may cost $1.00, and be sold for that or for nothing.
    """
    if rules.extremes and (mid == ONE or (mid == 0 and action == "sell")):
        return mid
    return check_price(mid, "mid", market)


def check_spread(quote: Quote, market: Market, rules: Rules) -> Rejection | None:
    """Refuse bid or ask alone, crossed or too far apart, or with the mid elsewhere; a mid alone passes."""
    if quote.bid is None and quote.ask is None:
        return None
    if quote.bid is None:
        return _reject_one_sided("bid", "ask", quote.ask, market)
    if quote.ask is None:
        return _reject_one_sided("ask", "bid", quote.bid, market)

    bid = check_price(quote.bid, "bid", market)
    if isinstance(bid, Rejection):
        return bid
    ask = check_price(quote.ask, "ask", market)
    if isinstance(ask, Rejection):
        return ask

    return _check_bid_and_ask(bid, ask, quote.mid, market, rules)


def _reject_one_sided(missing: str, present: str, price: int | None, market: Market) -> Rejection:
    only = f"only the {present} {dollars(price or 0)}"
    return reject("one_sided", f"the quote has no {missing}, {only}: both are needed", market)


def _check_bid_and_ask(bid: int, ask: int, mid: int | None, market: Market, rules: Rules) -> Rejection | None:
    """Refuse a bid over the ask, a wide spread, or a mid that is far from the middle."""
    if bid > ask:
        message = f"the quote is crossed: its bid {dollars(bid)} is over its ask {dollars(ask)}"
        return reject("crossed", message, market)

    if ask - bid > rules.max_spread:
        apart = f"bid {dollars(bid)} and ask {dollars(ask)} are {dollars(ask - bid)} apart"
        return reject("wide", f"{apart}; at most {dollars(rules.max_spread)} is allowed", market)

    if mid is None:
        return None

    # Twice the distance of the mid from the middle, for half a millionth can't be written exactly.
    double_gap = abs(bid + ask - 2 * mid)
    if double_gap > 2 * rules.max_gap:
        middle = f"the middle of bid {dollars(bid)} and ask {dollars(ask)}"
        gap = f"the mid {dollars(mid)} is {dollars(double_gap // 2)} from {middle}"
        return reject("gap", f"{gap}; at most {dollars(rules.max_gap)} is allowed", market)

    return None
