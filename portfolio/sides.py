"""A quote from either side: a NO share is the mirror image of a YES share."""

from dataclasses import replace

from markets.millionths import ONE
from markets.model import Level, Quote
from portfolio.model import Side


def mirrored(price: int | None) -> int | None:
    """The price of the other side; none for none."""
    return None if price is None else ONE - price


def own(quote: Quote, side: Side) -> Quote:
    """The quote in prices of the side's own share: who sells YES offers to buy NO.

    >>> from datetime import UTC, datetime
    >>> from markets.model import MarketId
    >>> yes = Quote(MarketId("sim:1"), datetime(2026, 1, 4, tzinfo=UTC), 400_000, 420_000, 410_000)
    >>> no = own(yes, "NO")
    >>> no.bid, no.ask, no.mid
    (580000, 600000, 590000)
    """
    if side == "YES":
        return quote
    return replace(
        quote,
        bid=mirrored(quote.ask),
        ask=mirrored(quote.bid),
        mid=mirrored(quote.mid),
        last=mirrored(quote.last),
        bids=_mirrored_levels(quote.asks),
        asks=_mirrored_levels(quote.bids),
    )


def _mirrored_levels(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    return tuple(Level(ONE - level.price, level.shares) for level in levels)
