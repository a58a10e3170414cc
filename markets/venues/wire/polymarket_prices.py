"""What Polymarket's markets cost: the best prices on a market's page, its book, its past."""

import re
from dataclasses import replace
from datetime import datetime

from markets.millionths import ONE
from markets.model import Level, MarketId, Quote
from markets.venues.wire.fields import (
    Amount,
    Chance,
    RejectedRecord,
    Second,
    WireRecord,
    read,
    shown_value,
    unless_odd,
)
from markets.venues.wire.order_books import book_gap, with_levels
from markets.venues.wire.polymarket_records import (
    PREFIX,
    Figure,
    GammaRecord,
    Pair,
    PolymarketPage,
    Texts,
    figure,
    prefixed,
    yes_place,
)

ROUNDING = 10_000
"""How far the prices of YES and NO may be from a dollar together."""
_TOKEN = re.compile(r"[0-9]{1,80}")


class PolymarketPrices(GammaRecord):
    """The best prices of YES on a market's page, and the prices of its outcomes."""

    id: str
    outcomes: Pair
    outcome_prices: Texts | None = None
    best_bid: Figure = None
    best_ask: Figure = None
    last_trade_price: Figure = None
    volume: Figure = None
    volume_num: Figure = None


class PolymarketOffer(PolymarketPage, PolymarketPrices):
    """A market's page and its prices, read at once: that is quicker, and most records are fit for both."""


class OutcomeTokens(GammaRecord):
    """What the order book calls the outcomes."""

    outcomes: Pair
    clob_token_ids: Texts


class PolymarketLevel(WireRecord):
    """So many shares at a price."""

    price: Amount
    size: Amount


class PolymarketBook(WireRecord):
    """The book of one outcome; on the wire the worst level comes first."""

    bids: list[PolymarketLevel]
    asks: list[PolymarketLevel]


class PricePoint(WireRecord):
    """A price of the past."""

    t: Second
    p: Chance


def offer(raw: object) -> PolymarketOffer | None:
    """A record that is fit for all; of any other each part has to be read by itself."""
    try:
        return read(PolymarketOffer, raw, "market")
    except RejectedRecord:
        return None


def quote(raw: object, at: datetime) -> Quote:
    """The prices on a market's page. Without two sides its mid is the price of the outcome YES."""
    prices = raw if isinstance(raw, PolymarketPrices) else read(PolymarketPrices, raw, "quote")
    bid, ask, last = _price(prices.best_bid), _price(prices.best_ask), _price(prices.last_trade_price)
    if yes_place(prices.outcomes) != 0:  # whose prices these are nobody says: the outcomes' own are sure
        bid = ask = last = None
    if bid is not None and ask is not None and bid > ask:
        raise RejectedRecord("quote", "crossed", f"its bid {bid / ONE:g} is over its ask {ask / ONE:g}")
    mid = _outcome(prices) if bid is None or ask is None else (bid + ask) // 2
    if bid is None and ask is None and mid is None:
        raise RejectedRecord("quote", "no_price", "it has no price")
    return Quote(
        market_id=MarketId(prefixed(prices.id)),
        at=at,
        bid=bid,
        ask=ask,
        mid=mid,
        last=last,
        volume=prices.volume_num if prices.volume is None else prices.volume,
    )


def with_figures(price: Quote, raw: object) -> Quote:
    """A quote with the other figures on the market's page; what is held is told of whole events only."""
    told = raw if isinstance(raw, dict) else {}
    liquidity = told.get("liquidityNum", told.get("liquidity"))
    return replace(
        price,
        volume_24h=unless_odd(figure, told.get("volume24hr")),
        liquidity=unless_odd(figure, liquidity),
    )


def _price(price: int | None) -> int | None:
    """A price that somebody offers; at 0 and at a dollar nobody does."""
    if price is not None and price > ONE:
        raise RejectedRecord("quote", "bad_price", f"a price of {price / ONE:g} dollars is over a dollar")
    return None if price in (0, ONE) else price


def _outcome(prices: PolymarketPrices) -> int | None:
    if not prices.outcome_prices:
        return None
    try:
        both = [figure(price) for price in prices.outcome_prices]
        yes = both[yes_place(prices.outcomes)]
    except (ValueError, IndexError):
        raise RejectedRecord("quote", "bad_price", "the prices of its outcomes make no sense") from None
    if len(both) != 2 or abs(sum(both) - ONE) > ROUNDING or yes > ONE:
        raise RejectedRecord(
            "quote",
            "bad_price",
            f"the prices of its outcomes come to {sum(both) / ONE:g} dollars",
        )
    return yes


def yes_token(raw: object) -> str:
    """What the order book calls a YES share. It looks like a number, but is a name."""
    tokens = read(OutcomeTokens, raw, "quote")
    try:
        token = tokens.clob_token_ids[yes_place(tokens.outcomes)]
    except (ValueError, IndexError):
        raise RejectedRecord("quote", "no_token", "it doesn't say which book is that of YES") from None
    if not _TOKEN.fullmatch(token):
        raise RejectedRecord("quote", "no_token", f"{shown_value(token)} is not a valid book id")
    return token


def quote_with_book(page: Quote, raw: object) -> tuple[Quote, RejectedRecord | None]:
    """A quote with its book, as far as that makes sense, and what is to be said of it.

    The mid is the book's. Where the page contradicts it, the page's mid beside the book's prices
    stops orders; where nobody offers anything any more, no price of the page's stands.
    """
    try:
        sent = read(PolymarketBook, raw, "quote")
        sides = ([Level(step.price, step.size) for step in steps] for steps in (sent.bids, sent.asks))
        book = with_levels(page, *sides)
    except RejectedRecord as why:
        return page, why
    if not book.bids and not book.asks:
        return replace(book, mid=page.mid), RejectedRecord("quote", "empty_book", "its book is empty")
    why_not = book_gap(page, book)
    return (book if book.mid is not None and why_not is None else replace(book, mid=page.mid)), why_not


def past_quote(raw: object, name: str) -> Quote:
    """A price that a market has had: something like a mid, without sides."""
    point = read(PricePoint, raw, "quote")
    return Quote(MarketId(f"{PREFIX}{name}"), point.t, bid=None, ask=None, mid=point.p)
