"""What holdings are worth at a snapshot, and what each lot has earned.

The values of lots are worked out one by one here; `portfolio.marks` adds up those of many accounts at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from markets.millionths import ONE
from markets.model import MarketId, Quote, Snapshot
from portfolio.ledger import lot_key
from portfolio.model import Entry, Holdings, LotKey, Mark, Side
from portfolio.money import worth
from portfolio.quotes import mirror_price

StaleReason = Literal["", "no_price", "last_trade", "old"]
"""Why a price can't be relied on: there is none, it is that of the last trade, or its quote is too old."""

NO_TIME = timedelta()
SECOND = timedelta(seconds=1)


class SharePrice(NamedTuple):
    """What one share of a side counts as, None where nothing is known, and what it brings at once.

    `age` is that of the quote, in whole seconds; None where nothing is known.
    """

    value: int | None
    bid: int
    age: int | None
    stale: StaleReason


@dataclass(frozen=True, slots=True)
class LotValue:
    """A lot at a snapshot. Without a price its value is its cost, and it has no age."""

    market_id: MarketId
    side: Side
    shares: int
    cost: int
    price: int | None
    value: int
    liquidation: int
    age: int | None
    stale: StaleReason


def mark(holdings: Holdings, snapshot: Snapshot, max_age: timedelta | None = None) -> Mark:
    """Return what holdings are worth at one snapshot: the sum of their `lot_values`."""
    lots = lot_values(holdings, snapshot, max_age)
    return Mark(
        at=snapshot.at,
        cash=holdings.cash,
        value=sum(lot.value for lot in lots),
        liquidation=sum(lot.liquidation for lot in lots),
        cost=sum(lot.cost for lot in lots),
        realised=holdings.realised,
        stale=sum(lot.stale != "" for lot in lots),
        age=max((lot.age or 0 for lot in lots), default=0),
    )


def lot_values(holdings: Holdings, snapshot: Snapshot, max_age: timedelta | None = None) -> list[LotValue]:
    """Return every lot with its value and its price, how old that is, and why it is stale if it is.

    A lot is worth its shares at the mid, at the last trade where the quote has no mid, and its cost where
    there is no price at all. A quote older than `max_age`, or one without a mid, makes it stale. A price of 0
    is a price. The liquidation value is at the bid, before fees and whatever the depth.
    """
    quotes = quotes_of(snapshot)
    values = []

    for key, lot in holdings.lots.items():
        market_id, side = key
        price = price_of(quotes.get(market_id), side, snapshot.seen_at, max_age)

        # Rounded down like what a sale brings, so that shares never count for more than they would bring.
        value = lot.cost if price.value is None else worth(lot.shares, price.value)
        values.append(
            LotValue(
                market_id=market_id,
                side=side,
                shares=lot.shares,
                cost=lot.cost,
                price=price.value,
                value=value,
                liquidation=worth(lot.shares, price.bid),
                age=price.age,
                stale=price.stale,
            )
        )

    return values


def quotes_of(snapshot: Snapshot) -> dict[MarketId, Quote | None]:
    """Return the quote of each market; of a market that is listed twice, the first."""
    return {listing.market.id: listing.quote for listing in reversed(tuple(snapshot))}


def price_of(quote: Quote | None, side: Side, at: datetime, max_age: timedelta | None) -> SharePrice:
    """Return the price of a share of one side, by a quote that is looked at later."""
    if quote is None:
        return SharePrice(None, 0, None, "no_price")

    value = quote.price
    bid = quote.bid
    if side == "NO":
        value = mirror_price(quote.price)
        bid = mirror_price(quote.ask)
    if value is None:
        return SharePrice(None, bid or 0, None, "no_price")

    age = at - quote.at
    stale: StaleReason = ""
    if quote.mid is None:
        stale = "last_trade"
    elif max_age is not None and age > max_age:
        stale = "old"

    # A quote may be from shortly after; its age is none.
    seconds = age // SECOND if age > NO_TIME else 0
    return SharePrice(value, bid or 0, seconds, stale)


@dataclass(frozen=True, slots=True)
class Profit:
    """Money that went into lots, that came out of them, and that is still in them.

    `received` is from sales, settlements and refunds, less what corrections took back; `released` is the cost
    that was given up for it; `cost` and `value` are of the shares that are still held. `paid` is always
    `released` + `cost`, and `realised` is `received` − `released`.
    """

    paid: int = 0
    received: int = 0
    released: int = 0
    realised: int = 0
    cost: int = 0
    value: int = 0

    @property
    def unrealised(self) -> int:
        """Return what would be realised if the shares were sold for their value."""
        return self.value - self.cost

    @property
    def total(self) -> int:
        """Return the profit, realised or not."""
        return self.realised + self.unrealised

    def __add__(self, other: "Profit") -> "Profit":
        return Profit(
            paid=self.paid + other.paid,
            received=self.received + other.received,
            released=self.released + other.released,
            realised=self.realised + other.realised,
            cost=self.cost + other.cost,
            value=self.value + other.value,
        )


@dataclass(frozen=True, slots=True)
class LotProfit:
    """The life of a lot: shares bought, sold, settled and still held, and the money behind them.

    A lot that was closed and opened again is one; shares that a correction gives back count as settled once.
    """

    bought: int
    sold: int
    settled: int
    shares: int
    money: Profit

    @property
    def average_cost(self) -> int | None:
        """Return what a share that is still held cost on average, fees included; None if none is held."""
        return average_price(self.money.cost, self.shares)


def average_price(cost: int, shares: int) -> int | None:
    """Return what one share cost on average; None for no shares."""
    if not shares:
        return None

    # A half is rounded up, neither in favour of anybody nor against: the price is only shown, no money is
    # worked out from it.
    return (2 * cost * ONE + shares) // (2 * shares)


def profit_by_lot(entries: Iterable[Entry], values: Mapping[LotKey, int]) -> dict[LotKey, LotProfit]:
    """Return the profit of every lot of a whole ledger.

    `values` says what each lot that is still held is worth.
    """
    by_lot = defaultdict[LotKey, list[Entry]](list)
    for entry in entries:
        if entry.kind != "deposit":
            by_lot[lot_key(entry)].append(entry)

    return {key: _lot_profit(by_lot[key], key, values) for key in sorted(by_lot)}


def _lot_profit(entries: list[Entry], key: LotKey, values: Mapping[LotKey, int]) -> LotProfit:
    """Return the profit of one lot by all of its entries."""
    bought = 0
    sold = 0
    settled = 0
    paid = 0
    received = 0
    released = 0

    for entry in entries:
        if entry.kind == "buy":
            bought += entry.shares
            paid -= entry.cash
            continue

        received += entry.cash
        released -= entry.cost
        if entry.kind == "sell":
            sold -= entry.shares
        else:  # a settlement or a refund, or the reversal of one, which gives shares back
            settled -= entry.shares

    shares = bought - sold - settled
    money = Profit(
        paid=paid,
        received=received,
        released=released,
        realised=sum(entry.realised for entry in entries),
        cost=sum(entry.cost for entry in entries),
        value=values[key] if shares else 0,
    )
    return LotProfit(bought, sold, settled, shares, money)
