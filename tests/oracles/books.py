"""What a book gives, worked out slowly in fractions: written from the rules in words, apart from the engine.

Dollars, shares and prices are exact here, and nothing is ever rounded. The engine rounds against
the agent, so it may give a little less than this and never more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

Levels = Sequence[tuple[Fraction, Fraction]]
"""Prices and shares of one side of a book, in any order; a price may come more than once."""

WORST = Fraction(3, 100)
WIDE = Fraction(10, 100)
APART = Fraction(5, 100)


@dataclass(frozen=True)
class Book:
    """The book of YES shares with all that its market says about trading in it."""

    bids: Levels
    asks: Levels
    mid: Fraction | None = None
    rate: Fraction = Fraction(0)
    least: Fraction = Fraction(0)


@dataclass(frozen=True)
class Walk:
    """What was got, price by price; `cash` is paid on a purchase and received on a sale, fees in it."""

    levels: Levels
    cash: Fraction
    left: Fraction
    beyond: Fraction | None
    """The next price, when it was out of reach: None where there was none."""
    reach: Fraction

    @property
    def shares(self) -> Fraction:
        return sum((shares for _, shares in self.levels), Fraction(0))


def faults(book: Book) -> set[str]:
    """Return everything that forbids trading on a book; nothing for a good one."""
    if not book.bids and not book.asks:
        return {"no_book"}
    levels = [*book.bids, *book.asks]
    found = {"bad_price" for price, _ in levels if price <= 0 or price >= 1}
    found |= {"bad_book" for _, shares in levels if shares <= 0}
    if not book.bids or not book.asks:
        return found | {"one_sided"}
    bid = max(price for price, _ in book.bids)
    ask = min(price for price, _ in book.asks)
    if bid > ask:
        found.add("crossed")
    if ask - bid > WIDE:
        found.add("wide")
    if book.mid is not None and abs((bid + ask) / 2 - book.mid) > APART:
        found.add("gap")
    return found


def buy(book: Book, side: str, dollars: Fraction, limit: Fraction | None = None) -> Walk:
    """Spend dollars, cheapest shares first, up to 3 cents over the best price or the limit."""
    sellers = book.asks if side == "YES" else [(1 - price, shares) for price, shares in book.bids]
    queue = _one_a_price(sellers)
    reach = queue[0][0] + WORST
    if limit is not None and limit < reach:
        reach = limit
    taken = []
    spent = Fraction(0)
    beyond = None
    for price, shares in queue:
        if price > reach:
            beyond = price
            break
        each = price + _fee(price, book.rate)
        got = min(shares, (dollars - spent) / each)
        if got > 0:
            taken.append((price, got))
            spent += got * each
    return Walk(taken, spent, dollars - spent, beyond, reach)


def sell(book: Book, side: str, shares: Fraction, limit: Fraction | None = None) -> Walk:
    """Sell shares, to the highest bidder first, down to 3 cents under the best price or the limit."""
    buyers = book.bids if side == "YES" else [(1 - price, shares) for price, shares in book.asks]
    queue = _one_a_price(buyers)[::-1]
    reach = queue[0][0] - WORST
    if limit is not None and limit > reach:
        reach = limit
    taken = []
    got = Fraction(0)
    rest = shares
    beyond = None
    for price, wanted in queue:
        if price < reach:
            beyond = price
            break
        sold = min(wanted, rest)
        if sold > 0:
            taken.append((price, sold))
            got += sold * (price - _fee(price, book.rate))
            rest -= sold
    return Walk(taken, got, rest, beyond, reach)


def refusal(book: Book, walked: Walk) -> str | None:
    """Return why the result of a walk is no fill, if it is none."""
    if walked.shares == 0:
        return "unfilled"
    return "under_min_shares" if walked.shares < book.least else None


def _fee(price: Fraction, rate: Fraction) -> Fraction:
    """Return the fee on one share."""
    return rate * price * (1 - price)


def _one_a_price(levels: Iterable[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return the levels from the lowest price up, those of one price merged."""
    found: dict[Fraction, Fraction] = {}
    for price, shares in levels:
        found[price] = found.get(price, Fraction(0)) + shares
    return sorted(found.items())
