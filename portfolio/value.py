"""What holdings are worth at a snapshot: at the mid for the curve, at the bid for who must sell.

This is the loop, lot by lot. `portfolio.marks` values many accounts at once, to the same millionth.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from markets.model import MarketId, Quote, Snapshot
from portfolio.model import Holdings, Lot, LotKey, Mark, Side
from portfolio.money import worth
from portfolio.sides import mirrored

Stale = Literal["", "no_price", "last_trade", "old"]
"""Why a price can't be relied on: there is none, it is that of the last trade, or its quote is too old."""

NOTHING, SECOND = timedelta(), timedelta(seconds=1)


class Price(NamedTuple):
    """What one share of a side counts as, None where nothing is known, and what it brings at once.

    `age` is that of the quote, in whole seconds; None where nothing is known.
    """

    value: int | None
    bid: int
    age: int | None
    stale: Stale


@dataclass(frozen=True, slots=True)
class Valued:
    """A lot at a snapshot. Without a price its value is its cost, and it has no age."""

    market_id: MarketId
    side: Side
    shares: int
    cost: int
    price: int | None
    value: int
    liquidation: int
    age: int | None
    stale: Stale


def mark(holdings: Holdings, snapshot: Snapshot, max_age: timedelta | None = None) -> Mark:
    """Value every lot at one snapshot: the sum of what `valued` says of each."""
    lots = valued(holdings, snapshot, max_age)
    return Mark(
        at=snapshot.at,
        cash=holdings.cash,
        value=sum(lot.value for lot in lots),
        liquidation=sum(lot.liquidation for lot in lots),
        cost=sum(lot.cost for lot in lots),
        realised=holdings.realised,
        stale=sum(lot.stale != "" for lot in lots),
        age=max((lot.age for lot in lots if lot.age is not None), default=0),
    )


def valued(holdings: Holdings, snapshot: Snapshot, max_age: timedelta | None = None) -> list[Valued]:
    """Every lot with its price, how old that is, and why it is stale if it is.

    A lot is worth its shares at the mid; where the quote has none, at the last trade. The snapshot
    carries the last known quote of what is held, with the time it was true; a quote older than
    `max_age`, or one without a mid, makes the lot stale. A price of 0 is a price. A lot for which there
    is no price at all is valued at its cost, and is stale. The liquidation value is at the bid, before
    fees and whatever the depth: 0 where nobody bids.
    """
    quotes = quotes_of(snapshot)
    return [
        _valued(key, lot, price_of(quotes.get(key[0]), key[1], snapshot.seen_at, max_age))
        for key, lot in holdings.lots.items()
    ]


def quotes_of(snapshot: Snapshot) -> dict[MarketId, Quote | None]:
    """The quote of each market; of a market that is listed twice, the first."""
    return {listing.market.id: listing.quote for listing in reversed(tuple(snapshot))}


def price_of(quote: Quote | None, side: Side, at: datetime, max_age: timedelta | None) -> Price:
    """The price of a share of one side by a quote that is looked at later.

    >>> from datetime import UTC
    >>> seen = datetime(2026, 1, 4, tzinfo=UTC)
    >>> quote = Quote(MarketId("sim:1"), seen, bid=400_000, ask=420_000, mid=410_000)
    >>> price_of(quote, "NO", seen + 90 * SECOND, 60 * SECOND)
    Price(value=590000, bid=580000, age=90, stale='old')
    """
    if quote is None:
        return Price(None, 0, None, "no_price")
    value, bid = (quote.price, quote.bid) if side == "YES" else (mirrored(quote.price), mirrored(quote.ask))
    if value is None:
        return Price(None, bid or 0, None, "no_price")
    past = at - quote.at
    if quote.mid is None:
        stale: Stale = "last_trade"
    else:
        stale = "old" if max_age is not None and past > max_age else ""
    return Price(value, bid or 0, past // SECOND if past > NOTHING else 0, stale)


def _valued(key: LotKey, lot: Lot, price: Price) -> Valued:
    value = lot.cost if price.value is None else worth(lot.shares, price.value)
    liquidation = worth(lot.shares, price.bid)
    return Valued(*key, lot.shares, lot.cost, price.value, value, liquidation, price.age, price.stale)
