"""Quotes that no order may be filled on: one-sided, crossed, too wide, or at odds with their own mid."""

from collections.abc import Iterator, Sequence

from arena.store.tables import FILL
from arena.store.verify.deals import Deal
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import ONE, Frozen
from arena.store.verify.naming import differs
from arena.store.verify.parts import Row
from arena.store.verify.seals import parsed

Ends = tuple[int | None, int | None]
"""Bid and ask."""


def check_quotes(facts: Facts, deals: Sequence[Deal]) -> Iterator[Difference]:
    """Fills on a quote that the rules forbid to trade on."""
    for deal in deals:
        quote = deal.listed[2] if deal.listed else None
        if quote is None or deal.frozen is None:
            continue
        for ends in _ends(quote, deal):
            if fault := _fault(ends, quote["mid"], deal.frozen):
                yield differs(facts, FILL, deal.fill, "quote_hash", "that of a quote to trade on", fault)


def _ends(quote: Row, deal: Deal) -> list[Ends]:
    """The ends of the quote, and those of its book where orders are filled from it; some ends at least."""
    found: list[Ends] = [(quote["bid"], quote["ask"])]
    if deal.frozen is not None and deal.frozen.fill == "book":
        book = parsed(quote["book"])
        bids, asks = (_prices(book, side) for side in ("bids", "asks"))
        found.append((max(bids, default=None), min(asks, default=None)))
    return [ends for ends in found if ends != (None, None)]


def _prices(book: object, side: str) -> list[int]:
    levels = book.get(side) if isinstance(book, dict) else None
    return [level[0] for level in levels if level] if isinstance(levels, list) else []


def _fault(ends: Ends, mid: int | None, frozen: Frozen) -> str:
    bid, ask = ends
    if bid is None or ask is None:
        return "it has one side only"
    if not 0 < bid < ONE or not 0 < ask < ONE:
        return f"its bid {bid} or its ask {ask} is no price"
    if bid > ask:
        return f"it is crossed: its bid {bid} is over its ask {ask}"
    if ask - bid > frozen.max_spread:
        return f"bid {bid} and ask {ask} are more than {frozen.max_spread} apart"
    if mid is not None and abs(bid + ask - 2 * mid) > 2 * frozen.max_gap:
        return f"the mid {mid} is more than {frozen.max_gap} from the middle of {bid} and {ask}"
    return ""
