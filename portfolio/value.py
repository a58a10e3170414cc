"""What holdings are worth at a snapshot, and what each lot has earned.

This is the loop, lot by lot; `portfolio.marks` values many accounts at once, to the same millionth.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from markets.millionths import ONE
from markets.model import MarketId, Quote, Snapshot
from portfolio.ledger import lot_key
from portfolio.model import Entry, Holdings, Lot, LotKey, Mark, Side
from portfolio.money import worth
from portfolio.quotes import mirror_price

StaleReason = Literal["", "no_price", "last_trade", "old"]
"""Why a price can't be relied on: there is none, it is that of the last trade, or its quote is too old."""

NOTHING, SECOND = timedelta(), timedelta(seconds=1)


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
    """Value every lot at one snapshot: the sum of what `lot_values` says of each."""
    lots = lot_values(holdings, snapshot, max_age)
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


def lot_values(holdings: Holdings, snapshot: Snapshot, max_age: timedelta | None = None) -> list[LotValue]:
    """Every lot with its price, how old that is, and why it is stale if it is.

    A lot is worth its shares at the mid, where the quote has none at the last trade, without any price its
    cost. A quote older than `max_age`, or one without a mid, makes it stale. A price of 0 is a price. The
    liquidation value is at the bid, before fees and whatever the depth.
    """
    quotes = quotes_of(snapshot)
    return [
        _lot_value(key, lot, price_of(quotes.get(key[0]), key[1], snapshot.seen_at, max_age))
        for key, lot in holdings.lots.items()
    ]


def quotes_of(snapshot: Snapshot) -> dict[MarketId, Quote | None]:
    """The quote of each market; of a market that is listed twice, the first."""
    return {listing.market.id: listing.quote for listing in reversed(tuple(snapshot))}


def price_of(quote: Quote | None, side: Side, at: datetime, max_age: timedelta | None) -> SharePrice:
    """The price of a share of one side by a quote that is looked at later."""
    if quote is None:
        return SharePrice(None, 0, None, "no_price")
    value, bid = (
        (quote.price, quote.bid) if side == "YES" else (mirror_price(quote.price), mirror_price(quote.ask))
    )
    if value is None:
        return SharePrice(None, bid or 0, None, "no_price")
    past = at - quote.at
    if quote.mid is None:
        stale: StaleReason = "last_trade"
    else:
        stale = "old" if max_age is not None and past > max_age else ""
    return SharePrice(value, bid or 0, past // SECOND if past > NOTHING else 0, stale)


def _lot_value(key: LotKey, lot: Lot, price: SharePrice) -> LotValue:
    value = lot.cost if price.value is None else worth(lot.shares, price.value)
    liquidation = worth(lot.shares, price.bid)
    return LotValue(*key, lot.shares, lot.cost, price.value, value, liquidation, price.age, price.stale)


@dataclass(frozen=True, slots=True)
class Profit:
    """Money that went into lots, came out of them, and stands in them.

    `received` is from sales, settlements and refunds, less what corrections took back; `released` is
    the cost that was given up for it; `cost` and `value` are of the shares that are still held.
    `paid` is always `released` + `cost`, and `realised` is `received` − `released`.
    """

    paid: int = 0
    received: int = 0
    released: int = 0
    realised: int = 0
    cost: int = 0
    value: int = 0

    @property
    def unrealised(self) -> int:
        """What would be realised if the shares were worth their value."""
        return self.value - self.cost

    @property
    def total(self) -> int:
        """Realised or not."""
        return self.realised + self.unrealised

    def __add__(self, other: "Profit") -> "Profit":
        return Profit(*map(sum, zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class LotProfit:
    """The life of a lot: shares bought, sold, settled and still held, and the money behind them.

    One that was opened again is one life; shares that a correction gives back count as settled once.
    """

    bought: int
    sold: int
    settled: int
    shares: int
    money: Profit

    @property
    def average_cost(self) -> int | None:
        """What a share that is still held cost on average, fees included; None where none is."""
        return average_price(self.money.cost, self.shares)


def average_price(cost: int, shares: int) -> int | None:
    """What one share cost on average, a half rounded up: for display, nothing is worked out from it."""
    return (2 * cost * ONE + shares) // (2 * shares) if shares else None


def profit_by_lot(entries: Iterable[Entry], values: Mapping[LotKey, int]) -> dict[LotKey, LotProfit]:
    """The profit of every lot of a whole ledger; `values` says what each that is still held is worth."""
    lots = defaultdict[LotKey, list[Entry]](list)
    for entry in entries:
        if entry.kind != "deposit":
            lots[lot_key(entry)].append(entry)
    return {key: _lot_profit(lots[key], key, values) for key in sorted(lots)}


def _lot_profit(entries: list[Entry], key: LotKey, values: Mapping[LotKey, int]) -> LotProfit:
    bought = [entry for entry in entries if entry.kind == "buy"]
    sold = [entry for entry in entries if entry.kind == "sell"]
    ended = [entry for entry in entries if entry.kind not in ("buy", "sell")]
    shares = sum(entry.shares for entry in entries)
    money = Profit(
        paid=-sum(entry.cash for entry in bought),
        received=sum(entry.cash for entry in sold + ended),
        released=-sum(entry.cost for entry in sold + ended),
        realised=sum(entry.realised for entry in entries),
        cost=sum(entry.cost for entry in entries),
        value=values[key] if shares else 0,
    )
    return LotProfit(
        bought=sum(entry.shares for entry in bought),
        sold=-sum(entry.shares for entry in sold),
        settled=-sum(entry.shares for entry in ended),
        shares=shares,
        money=money,
    )
