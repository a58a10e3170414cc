"""All lots of many accounts valued at once, to the same millionth as `portfolio.value.mark` one by one.

Where a sum might leave 64 bits, or a price is not from 0 to 1, the columns hold Python's own integers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from markets.millionths import ONE
from markets.model import MarketId, Quote, Snapshot
from portfolio.model import Holdings, Lot, LotKey, Mark
from portfolio.value import price_of, quotes_of

Column = NDArray[Any]
Name = TypeVar("Name")
Quotes = Mapping[MarketId, Quote | None]
SHARES_OF: Callable[[Lot], int] = attrgetter("shares")
COST_OF: Callable[[Lot], int] = attrgetter("cost")
BLOCK = 1 << 15
"""Lots valued in one pass: few enough to stay in the processor's cache."""
SAFE = 1 << 62
"""An account whose shares and costs add up to less than this can't leave 64 bits at any price."""


@dataclass(frozen=True, slots=True)
class PositionColumns:
    """The lots of many accounts as columns, account after account.

    `keys` are the lots' markets and sides, `slot` says which of them each lot is. A run is a stretch of
    lots of one account within one block: `runs` are their first lots, `first` the first run of each
    account that holds anything, `holders` which accounts those are, `paid` what the lots of each account
    cost. `wide` if shares times a price may leave 64 bits.
    """

    keys: tuple[LotKey, ...]
    slot: Column
    shares: Column
    cost: Column
    runs: Column
    first: Column
    holders: Column
    paid: Column
    wide: bool


class PriceColumns(NamedTuple):
    """The price of a share of each key at a snapshot, in columns; 0 where `missing`."""

    value: Column
    bid: Column
    stale: Column
    age: Column
    missing: Column


def mark_all(
    accounts: Mapping[Name, Holdings], snapshot: Snapshot, max_age: timedelta | None = None
) -> dict[Name, Mark]:
    """The mark of every account at one snapshot, each the same as that of `mark`."""
    return mark_at(accounts, snapshot.at, quotes_of(snapshot), max_age, snapshot.seen_at)


def mark_at(
    accounts: Mapping[Name, Holdings],
    at: datetime,
    quotes: Quotes,
    max_age: timedelta | None = None,
    seen_at: datetime | None = None,
) -> dict[Name, Mark]:
    """The mark of every account at a decision time, by quotes that were looked at then or a little later."""
    positions = position_columns(accounts.values())
    seen = value_columns(positions, price_columns(seen_at or at, quotes, positions.keys, max_age))
    rows = zip(accounts.items(), *(column.tolist() for column in (*seen, positions.paid)), strict=True)
    return {
        name: Mark(at, account.cash, value, liquidation, cost, account.realised, stale, age)
        for (name, account), value, liquidation, stale, age, cost in rows
    }


def price_columns(
    at: datetime, quotes: Quotes, keys: Sequence[LotKey], max_age: timedelta | None = None
) -> PriceColumns:
    """What a share of each market and side is worth by the quotes that were known at an instant."""
    seen = [price_of(quotes.get(market), side, at, max_age) for market, side in keys]
    return PriceColumns(
        value=_price_column([price.value or 0 for price in seen]),
        bid=_price_column([price.bid for price in seen]),
        stale=np.array([price.stale != "" for price in seen], np.bool_),
        age=np.array([price.age or 0 for price in seen], np.int64),
        missing=np.array([price.value is None for price in seen], np.bool_),
    )


class ValueColumns(NamedTuple):
    """What the lots of each account come to, in the order of the accounts: as in `Mark`."""

    value: Column
    liquidation: Column
    stale: Column
    age: Column


def value_columns(positions: PositionColumns, prices: PriceColumns) -> ValueColumns:
    """Every account's lots at the prices of one snapshot."""
    starts = range(0, max(len(positions.slot), 1), BLOCK)
    blocks = [_block_values(positions, prices, start) for start in starts]
    columns = (np.concatenate(column) for column in zip(*blocks, strict=True))
    whose = positions.first, positions.holders, len(positions.paid)
    together = (np.add, np.add, np.add, np.maximum)
    return ValueColumns(
        *(by_account(how, column, *whose) for how, column in zip(together, columns, strict=True))
    )


def _block_values(
    positions: PositionColumns, prices: PriceColumns, start: int
) -> tuple[Column, Column, Column, Column]:
    """Value, liquidation, stale lots and highest age of each run in the block that starts here."""
    block = slice(start, start + BLOCK)
    slot, shares = positions.slot[block], positions.shares[block]
    low, high = np.searchsorted(positions.runs, (start, start + BLOCK))
    runs = positions.runs[low:high] - start
    value = _value_of(shares, prices.value.take(slot), positions.wide)
    if prices.missing.any():
        value = np.where(prices.missing.take(slot), positions.cost[block], value)
    liquidation = _value_of(shares, prices.bid.take(slot), positions.wide)
    return (
        np.add.reduceat(value, runs),
        np.add.reduceat(liquidation, runs),
        np.add.reduceat(prices.stale.take(slot), runs, dtype=np.int64),
        np.maximum.reduceat(prices.age.take(slot), runs),
    )


def _value_of(shares: Column, price: Column, wide: bool) -> Column:
    """As `portfolio.money.worth`. Whole shares and the rest apart have no product over 64 bits."""
    values: Column
    if wide:
        whole, rest = np.divmod(shares, ONE)
        values = whole * price + rest * price // ONE
    else:
        values = shares * price // ONE
    return values


def _price_column(prices: list[int]) -> Column:
    """Prices in 64 bits if each is one of a share: from 0 to 1."""
    fits = not prices or (min(prices) >= 0 and max(prices) <= ONE)
    return np.array(prices, np.int64 if fits else np.object_)


def position_columns(accounts: Iterable[Holdings]) -> PositionColumns:
    """The lots of accounts in columns, to be valued at as many snapshots as wanted."""
    held = [account.lots for account in accounts]
    lots = [lot for account in held for lot in account.values()]
    keys = tuple(dict.fromkeys(chain.from_iterable(held)))
    place = dict(zip(keys, range(len(keys)), strict=True))
    slot = np.fromiter(map(place.__getitem__, chain.from_iterable(held)), np.intp, len(lots))
    shares, cost, wide = _sizes(held, lots)
    counts = np.fromiter(map(len, held), np.intp, len(held))
    holders = np.flatnonzero(counts)
    starts = (np.cumsum(counts) - counts)[holders]
    begins = np.zeros(len(lots), np.bool_)
    begins[starts] = begins[::BLOCK] = True
    runs = np.flatnonzero(begins)
    first = np.searchsorted(runs, starts)
    paid = by_account(np.add, cost, starts, holders, len(held))
    return PositionColumns(keys, slot, shares, cost, runs, first, holders, paid, wide)


def by_account(ufunc: np.ufunc, column: Column, first: Column, holders: Column, accounts: int) -> Column:
    """A column brought together account by account; 0 for who holds nothing."""
    totals = np.zeros(accounts, column.dtype)
    if len(holders):
        totals[holders] = ufunc.reduceat(column, first)
    return totals


def _sizes(held: Sequence[Mapping[LotKey, Lot]], lots: Sequence[Lot]) -> tuple[Column, Column, bool]:
    """The shares and costs of all lots, in 64 bits if no account can leave them; and whether wide."""
    most = max((_size(SHARES_OF, each.values()) + _size(COST_OF, each.values()) for each in held), default=0)
    kind = np.int64 if most < SAFE else np.object_
    shares = np.fromiter(map(SHARES_OF, lots), kind, len(lots))
    cost = np.fromiter(map(COST_OF, lots), kind, len(lots))
    return shares, cost, most < SAFE and bool(np.abs(shares).max(initial=0) > SAFE // ONE)


def _size(figure: Callable[[Lot], int], lots: Iterable[Lot]) -> int:
    return sum(map(abs, map(figure, lots)))
