"""Profit by lot, by market, and in all: what went in, what came out, and what is still held."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass

from markets.millionths import ONE
from markets.model import MarketId
from portfolio.account import lot_key
from portfolio.model import Entry, LotKey


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

    A lot that was closed and opened again is one life. A correction gives shares back: they are
    counted as settled once, however often the venue changes its mind.
    """

    bought: int
    sold: int
    settled: int
    shares: int
    money: Profit

    @property
    def average_cost(self) -> int | None:
        """What a share that is still held cost on average, fees included; None where none is."""
        return average(self.money.cost, self.shares)


def average(cost: int, shares: int) -> int | None:
    """What one share cost on average, to the nearest millionth, a half rounded up. It is for display.

    The ledger keeps cost and shares, and nothing is ever worked out from their rounded quotient.

    >>> average(1_000 * ONE, 1_875 * ONE)
    533333
    """
    return (2 * cost * ONE + shares) // (2 * shares) if shares else None


def by_lot(entries: Iterable[Entry], values: Mapping[LotKey, int]) -> dict[LotKey, LotProfit]:
    """The profit of every lot that a ledger ever held, by market and side.

    `entries` are the whole ledger. `values` says what each lot that is still held is worth; it is a
    `KeyError` to leave one out.
    """
    lots = defaultdict[LotKey, list[Entry]](list)
    for entry in entries:
        if entry.kind != "deposit":
            lots[lot_key(entry)].append(entry)
    return {key: _life(lots[key], key, values) for key in sorted(lots)}


def _life(entries: list[Entry], key: LotKey, values: Mapping[LotKey, int]) -> LotProfit:
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


def by_market(lots: Mapping[LotKey, LotProfit]) -> dict[MarketId, Profit]:
    """The profit of every market, both sides together."""
    found = defaultdict[MarketId, Profit](Profit)
    for (market_id, _), lot in lots.items():
        found[market_id] += lot.money
    return dict(found)


def in_all(lots: Iterable[LotProfit]) -> Profit:
    """The profit of all these lots together: that of the account, for all of a ledger's."""
    return sum((lot.money for lot in lots), Profit())
