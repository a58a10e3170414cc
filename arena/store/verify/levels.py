"""The levels of a fill: fee and amount of each, and whether such a price was there to be had.

How much there was at a price is for all fills of a turn together: see `depth`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from arena.store.tables import LEVEL
from arena.store.verify.deals import Deal
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import ONE
from arena.store.verify.naming import differs, numbered
from arena.store.verify.parts import Row
from arena.store.verify.seals import parsed

CENT = 10_000
ROUNDING = 3
"""Millionths of a dollar that may be left when an amount is spent to the last."""

Offered = Mapping[int, int | None]
"""Shares by price; None for as many as are wanted."""


def check_levels(facts: Facts, deal: Deal) -> Iterator[Difference]:
    """Levels with a wrong fee or amount, or at a price that the quote didn't offer."""
    yield from numbered(facts, LEVEL, list(deal.levels), "position", 0)
    prices = offered(deal)
    for level in deal.levels:
        yield from _money(facts, deal, level)
        if not _possible(deal, level["price"]):
            yield differs(facts, LEVEL, level, "price", f"between 0 and {ONE}", "it is the price of a share")
        elif prices is not None and level["price"] not in prices:
            expected = " or ".join(map(str, sorted(prices))) or "none"
            why = "so the quote says under the rule of the fills"
            yield differs(facts, LEVEL, level, "price", expected, why)


def _possible(deal: Deal, price: int) -> bool:
    """Inside (0, 1); where the rules allow extremes, at 1 too, and a sale at 0."""
    sure = deal.frozen is not None and deal.frozen.extremes and deal.frozen.fill == "mid"
    return 0 < price < ONE or (sure and (price == ONE or (price == 0 and not deal.buys)))


def _money(facts: Facts, deal: Deal, level: Row) -> Iterator[Difference]:
    price, shares, rate = level["price"], level["shares"], deal.fill["fee_rate"]
    fee, worth = _up(rate * shares * price * (ONE - price), ONE**3), shares * price // ONE
    fee = fee if deal.buys else min(fee, worth)
    if level["fee"] != fee:
        yield differs(facts, LEVEL, level, "fee", fee, "rate · shares · p · (1 - p), rounded up")
    expected = _up(shares * price, ONE) + fee if deal.buys else worth - fee
    rest = level["amount"] - expected
    if not 0 <= rest <= (ROUNDING if deal.buys else 0):
        yield differs(facts, LEVEL, level, "amount", expected, "it is the shares' price and the fee")


def offered(deal: Deal) -> Offered | None:
    """What the fill rule reads from the quote, in prices of the side's own share.

    None for a rule that is not one of the four that come with the arena.
    """
    _, page, quote = deal.listed or (None, None, None)
    if deal.frozen is None or page is None or quote is None:
        return None
    yes = deal.fill["side"] == "YES"
    match deal.frozen.fill:
        case "mid":
            return _single(quote["mid"], yes)
        case "quote":
            return _single(quote["ask" if deal.buys == yes else "bid"], yes)
        case "spread":
            half = max(page["tick"], CENT) * (1 if deal.buys else -1)
            return {price + half: None for price in _single(quote["mid"], yes)}
        case "book":
            return _book(parsed(quote["book"]), "asks" if deal.buys == yes else "bids", yes)
    return None


def _single(price: int | None, yes: bool) -> Offered:
    return {} if price is None else {price if yes else ONE - price: None}


def _book(book: Any, side: str, yes: bool) -> Offered:
    found: dict[int, int | None] = {}
    levels = book.get(side) if isinstance(book, dict) else None
    for level in levels if isinstance(levels, list) else ():
        if isinstance(level, list) and len(level) == 2 and all(type(value) is int for value in level):
            price = level[0] if yes else ONE - level[0]
            found[price] = (found.get(price) or 0) + level[1]
    return found


def _up(value: int, by: int) -> int:
    return -(-value // by)
