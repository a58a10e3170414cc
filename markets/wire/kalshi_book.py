"""Kalshi's order book holds bids only, on YES and on NO: a bid for NO is an offer of YES."""

from markets.millionths import ONE
from markets.model import Level, Quote
from markets.wire.books import ranked
from markets.wire.fields import Unfit, amount, shown


def mirrored(quote: Quote, raw: object) -> Quote:
    """The quote with the levels of a book, best first: the ask for YES is a dollar less the bid for NO.

    On the wire the worst level comes first. An empty book where the page has prices contradicts
    it, and isn't believed.
    """
    book = raw.get("orderbook_fp") if isinstance(raw, dict) else None
    bids = _levels(book, "yes_dollars")
    asks = [Level(ONE - level.price, level.shares) for level in _levels(book, "no_dollars")]
    if not bids and not asks and (quote.bid is not None or quote.ask is not None):
        raise Unfit("quote", "empty_book", "its book is empty, though its page has prices")
    return ranked(quote, bids, asks)


def _levels(book: object, side: str) -> list[Level]:
    """One side as it is sent; levels of no size are nobody's."""
    if not isinstance(book, dict) or not isinstance(book.get(side, ""), list | None):
        raise Unfit("quote", "bad_book", f"its book has no list of {side}")
    levels = (_level(pair) for pair in book[side] or [])
    return [level for level in levels if level.shares]


def _level(pair: object) -> Level:
    if not isinstance(pair, list) or len(pair) != 2:
        raise Unfit("quote", "bad_book", f"a level of its book is {shown(pair)}")
    try:
        level = Level(amount(pair[0]), amount(pair[1]))
    except ValueError as error:
        raise Unfit("quote", "bad_book", f"a level of its book: {error}") from None
    if not 0 < level.price < ONE:
        raise Unfit("quote", "bad_book", f"its book has a level at {level.price / ONE:g} dollars")
    return level
