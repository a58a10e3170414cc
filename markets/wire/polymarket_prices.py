"""What Polymarket's markets cost: the best prices on a market's page, its book, its past."""

import re
from dataclasses import replace
from datetime import datetime

from markets.millionths import ONE
from markets.model import Level, MarketId, Quote
from markets.wire.books import apart, ranked
from markets.wire.fields import Amount, Chance, Second, Unfit, Wire, read, shown
from markets.wire.polymarket import PREFIX, Page
from markets.wire.polymarket_fields import Figure, Gamma, Pair, Texts, figure, side

ROUNDING = 10_000
"""How far the prices of YES and NO may be from a dollar together."""
_TOKEN = re.compile(r"[0-9]{1,80}")


class Prices(Gamma):
    """The best prices of YES on a market's page, and the prices of its outcomes."""

    id: str
    outcomes: Pair
    outcome_prices: Texts | None = None
    best_bid: Figure = None
    best_ask: Figure = None
    last_trade_price: Figure = None
    volume: Figure = None
    volume_num: Figure = None


class Offer(Page, Prices):
    """A market's page and its prices, read at once: that is quicker, and most records are fit for both."""


class Tokens(Gamma):
    """What the order book calls the outcomes."""

    outcomes: Pair
    clob_token_ids: Texts


class Step(Wire):
    """So many shares at a price."""

    price: Amount
    size: Amount


class Book(Wire):
    """The book of one outcome; on the wire the worst level comes first."""

    bids: list[Step]
    asks: list[Step]


class Point(Wire):
    """A price of the past."""

    t: Second
    p: Chance


def offer(raw: object) -> Offer | None:
    """A record that is fit for all; of any other each part has to be read by itself."""
    try:
        return read(Offer, raw, "market")
    except Unfit:
        return None


def quote(raw: object, at: datetime) -> Quote:
    """The prices on a market's page. Without two sides its mid is the price of the outcome Yes."""
    prices = raw if isinstance(raw, Prices) else read(Prices, raw, "quote")
    bid, ask, last = _price(prices.best_bid), _price(prices.best_ask), _price(prices.last_trade_price)
    if side(prices.outcomes, "yes") != 0:  # whose prices these are nobody says: the outcomes' own are sure
        bid = ask = last = None
    if bid is not None and ask is not None and bid > ask:
        raise Unfit("quote", "crossed", f"its bid {bid / ONE:g} is over its ask {ask / ONE:g}")
    mid = _outcome(prices) if bid is None or ask is None else (bid + ask) // 2
    if bid is None and ask is None and mid is None:
        raise Unfit("quote", "no_price", "it has no price")
    return Quote(
        market_id=MarketId(f"{PREFIX}{prices.id}"),
        at=at,
        bid=bid,
        ask=ask,
        mid=mid,
        last=last,
        volume=prices.volume or prices.volume_num or 0,
    )


def _price(price: int | None) -> int | None:
    """A price that somebody offers; at 0 and at a dollar nobody does."""
    if price is not None and price > ONE:
        raise Unfit("quote", "bad_price", f"a price of {price / ONE:g} dollars is over a dollar")
    return None if price in (0, ONE) else price


def _outcome(prices: Prices) -> int | None:
    if not prices.outcome_prices:
        return None
    try:
        found = [figure(price) for price in prices.outcome_prices]
        yes = found[side(prices.outcomes, "yes")]
    except (ValueError, IndexError):
        raise Unfit("quote", "bad_price", "the prices of its outcomes make no sense") from None
    if len(found) != 2 or abs(sum(found) - ONE) > ROUNDING or yes > ONE:
        raise Unfit("quote", "bad_price", f"the prices of its outcomes come to {sum(found) / ONE:g} dollars")
    return yes


def token(raw: object) -> str:
    """What the order book calls a YES share. It looks like a number, but is a name."""
    tokens = read(Tokens, raw, "quote")
    try:
        found = tokens.clob_token_ids[side(tokens.outcomes, "yes")]
    except (ValueError, IndexError):
        raise Unfit("quote", "no_token", "it doesn't say which book is that of Yes") from None
    if not _TOKEN.fullmatch(found):
        raise Unfit("quote", "no_token", f"{shown(found)} is no name of a book")
    return found


def booked(page: Quote, raw: object) -> tuple[Quote, Unfit | None]:
    """A quote with its book, as far as that makes sense, and what is to be said of it.

    The mid is the book's. Where the page contradicts it, the page's mid beside the book's prices
    stops orders; where nobody offers anything any more, no price of the page's stands.
    """
    try:
        sent = read(Book, raw, "quote")
        sides = ([Level(step.price, step.size) for step in steps] for steps in (sent.bids, sent.asks))
        book = ranked(page, *sides)
    except Unfit as why:
        return page, why
    if not book.bids and not book.asks:
        return replace(book, mid=page.mid), Unfit("quote", "empty_book", "nobody offers anything in its book")
    why_not = apart(page, book)
    return (book if book.mid is not None and why_not is None else replace(book, mid=page.mid)), why_not


def past(raw: object, name: str) -> Quote:
    """A price that a market has had: something like a mid, without sides."""
    point = read(Point, raw, "quote")
    return Quote(MarketId(f"{PREFIX}{name}"), point.t, bid=None, ask=None, mid=point.p)
