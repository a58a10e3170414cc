"""A quote from either side, NO being the mirror image of YES, and why a price may not be traded on."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from markets.millionths import ONE
from markets.model import Level, Listing, Market, Quote
from portfolio.model import Action, Rejection, Side
from portfolio.money import LARGEST, dollars
from portfolio.rules import Rules


def mirror_price(price: int | None) -> int | None:
    """The price of the other side; none for none."""
    return None if price is None else ONE - price


def side_quote(quote: Quote, side: Side) -> Quote:
    """The quote in prices of the side's own share: who sells YES offers to buy NO."""
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
    """A refusal that names its market."""
    return Rejection(code, message, market.id)


def check_time(listing: Listing, at: datetime, rules: Rules) -> Rejection | None:
    """Refuse a market that has closed, or whose quote is stale at an instant or from after it."""
    market, quote = listing.market, listing.quote
    if at >= market.closes_at:
        closed = market.closes_at.astimezone(UTC)
        return reject("closed", f"the market closed at {closed:%Y-%m-%d %H:%M} UTC", market)
    if quote is None:
        return reject("no_quote", "the market has no quote", market)
    age = at - quote.at
    if age < timedelta():
        return reject("late_quote", f"the quote is {duration_text(-age)} later than the snapshot", market)
    if age > (most := timedelta(seconds=rules.max_quote_age)):
        return reject(
            "stale_quote",
            f"the quote is {duration_text(age)} old; at most {duration_text(most)} is allowed",
            market,
        )
    return None


def duration_text(time: timedelta) -> str:
    """A length of time in its two largest units."""
    if time < timedelta(minutes=1):
        return f"{time.total_seconds():g} s"
    seconds, parts = time // timedelta(seconds=1), list[str]()
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        count, seconds = divmod(seconds, size)
        if parts or count:
            parts.append(f"{count:,} {unit}" if count else "")
    return " ".join(part for part in parts[:2] if part)


def check_figures(quote: Quote, market: Market) -> Rejection | None:
    """Refuse a quote of another market, or one with anything but whole numbers in it."""
    if quote.market_id != market.id:
        return reject("other_quote", f"the quote is for {quote.market_id}", market)
    levels = quote.bids + quote.asks
    figures = [level.price for level in levels] + [level.shares for level in levels]
    known = (quote.volume, quote.bid, quote.ask, quote.mid, quote.last)
    figures += [figure for figure in known if figure is not None]
    for figure in figures:
        if type(figure) is not int or abs(figure) > LARGEST:
            message = f"the quote has {_odd_figure_text(figure)}, which is neither a price nor a size"
            return reject("bad_quote", message, market)
    return None


def _odd_figure_text(figure: object) -> str:
    if type(figure) is int:
        return f"a figure of about {figure.bit_length() * 30_103 // 100_000 + 1} digits"
    return f"the {type(figure).__name__} {str(figure)[:20]!r}"


def check_price(price: int | None, name: str, market: Market) -> int | Rejection:
    """A price to trade at: it is there, and inside (0, 1)."""
    if price is None:
        use = {"ask": " to buy at", "bid": " to sell at"}.get(name, "")
        return reject("no_price", f"the quote has no {name}{use}", market)
    if not 0 < price < ONE:
        return reject("bad_price", f"the {name} {dollars(price)} is not between $0.00 and $1.00", market)
    return price


def check_mid(mid: int | None, action: Action, market: Market, rules: Rules) -> int | Rejection:
    """A mid to trade at. With `extremes` a share may cost $1.00, and be sold for it or for nothing."""
    if rules.extremes and (mid == ONE or (mid == 0 and action == "sell")):
        return mid
    return check_price(mid, "mid", market)


def check_spread(quote: Quote, market: Market, rules: Rules) -> Rejection | None:
    """Refuse one side alone, crossed or wide sides, and a mid that lies elsewhere; a lone price passes."""
    if quote.bid is None and quote.ask is None:
        return None
    if quote.bid is None or quote.ask is None:
        return _reject_one_sided(quote, market)
    bid, ask = check_price(quote.bid, "bid", market), check_price(quote.ask, "ask", market)
    if isinstance(bid, Rejection):
        return bid
    if isinstance(ask, Rejection):
        return ask
    return _check_bid_and_ask(bid, ask, quote.mid, market, rules)


def _reject_one_sided(quote: Quote, market: Market) -> Rejection:
    missing, (name, price) = ("bid", ("ask", quote.ask)) if quote.bid is None else ("ask", ("bid", quote.bid))
    message = f"the quote has no {missing}, only the {name} {dollars(price or 0)}: both are needed"
    return reject("one_sided", message, market)


def _check_bid_and_ask(bid: int, ask: int, mid: int | None, market: Market, rules: Rules) -> Rejection | None:
    if bid > ask:
        message = f"the quote is crossed: its bid {dollars(bid)} is over its ask {dollars(ask)}"
        return reject("crossed", message, market)
    if ask - bid > rules.max_spread:
        message = f"bid {dollars(bid)} and ask {dollars(ask)} are {dollars(ask - bid)} apart"
        return reject("wide", f"{message}; at most {dollars(rules.max_spread)} is allowed", market)
    if mid is not None and (gap := abs(bid + ask - 2 * mid)) > 2 * rules.max_gap:
        message = (
            f"the mid {dollars(mid)} is {dollars(gap // 2)} from the middle of bid {dollars(bid)} and ask"
        )
        return reject("gap", f"{message} {dollars(ask)}; at most {dollars(rules.max_gap)} is allowed", market)
    return None
