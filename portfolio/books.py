"""What an entrant's own fill leaves of a book, so that its next wish can't take the same shares again."""

from collections.abc import Iterable
from dataclasses import replace

from markets.model import Level, Listing
from portfolio.model import Action, FillLevel, Side
from portfolio.sides import own


def without(listing: Listing, side: Side, action: Action, taken: Iterable[FillLevel]) -> Listing:
    """The listing with the levels of a fill taken out of its book; as it was where it has none."""
    if listing.quote is None or not (listing.quote.bids or listing.quote.asks):
        return listing
    quote = own(listing.quote, side)
    if action == "buy":
        quote = replace(quote, asks=_less(quote.asks, taken))
    else:
        quote = replace(quote, bids=_less(quote.bids, taken))
    return replace(listing, quote=own(quote, side))


def _less(levels: tuple[Level, ...], taken: Iterable[FillLevel]) -> tuple[Level, ...]:
    gone = dict[int, int]()
    for part in taken:
        gone[part.price] = gone.get(part.price, 0) + part.shares
    rest = list[Level]()
    for level in levels:
        used = min(level.shares, gone.get(level.price, 0))
        gone[level.price] = gone.get(level.price, 0) - used
        if level.shares > used:
            rest.append(Level(level.price, level.shares - used))
    return tuple(rest)
