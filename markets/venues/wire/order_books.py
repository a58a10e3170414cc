"""Order books, however a venue writes them: best first, and compared with what the market's page says."""

from collections.abc import Iterable
from dataclasses import replace

from markets.millionths import ONE
from markets.model import Level, Quote
from markets.venues.wire.fields import RejectedRecord

LARGEST_GAP = 50_000
"""A page and a book that are farther apart than this contradict each other."""


def with_levels(quote: Quote, bids: Iterable[Level], asks: Iterable[Level]) -> Quote:
    """The quote with these levels, best first whatever order they came in; those of no size are nobody's."""
    below = sorted((level for level in bids if level.shares), key=lambda level: -level.price)
    above = sorted((level for level in asks if level.shares), key=lambda level: level.price)
    for side in (below, above):
        for level in side:
            if not 0 < level.price < ONE:
                raise RejectedRecord(
                    "quote", "bad_book", f"its book has a level at {level.price / ONE:g} dollars"
                )
        if len({level.price for level in side}) < len(side):
            raise RejectedRecord("quote", "bad_book", "its book has a price twice on one side")
    bid, ask = (side[0].price if side else None for side in (below, above))
    if bid is not None and ask is not None and bid > ask:
        raise RejectedRecord(
            "quote", "crossed", f"its book's bid {bid / ONE:g} is over its ask {ask / ONE:g}"
        )
    mid = None if bid is None or ask is None else (bid + ask) // 2
    return replace(quote, bid=bid, ask=ask, mid=mid, bids=tuple(below), asks=tuple(above))


def book_gap(page: Quote, book: Quote) -> RejectedRecord | None:
    """What to say where a page's prices and its book, read a moment later, differ by over five cents."""
    if page.mid is None or book.mid is None or abs(page.mid - book.mid) <= LARGEST_GAP:
        return None
    words = f"its page says {page.mid / ONE:g}, its book {book.mid / ONE:g}: no orders are filled"
    return RejectedRecord("quote", "gap", words)
