"""All lots of many accounts valued at once, to the same millionth as `portfolio.value.mark` one by one.

Each snapshot costs one table of prices and a few passes over the columns of lots. A price outside 0 and 1,
which no share has, is calculated with in Python's own integers, so that nothing can leave 64 bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

import numpy as np

from markets.millionths import ONE
from markets.model import MarketId, Quote, Snapshot
from portfolio.columns import BLOCK, Column, Positions, by_account, positions_of
from portfolio.model import Holdings, LotKey, Mark
from portfolio.value import price_of, quotes_of

Name = TypeVar("Name")
Quotes = Mapping[MarketId, Quote | None]


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a share of each key at a snapshot, in columns; 0 where `missing`."""

    value: Column
    bid: Column
    age: Column
    stale: Column
    missing: Column


@dataclass(frozen=True, slots=True)
class Worths:
    """What the lots of each account come to, in the order of the accounts: as in `Mark`."""

    value: Column
    liquidation: Column
    stale: Column
    age: Column


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
    positions = positions_of(accounts.values())
    seen = worths(positions, prices_at(seen_at or at, quotes, positions.keys, max_age))
    columns = (seen.value, seen.liquidation, positions.paid, seen.stale, seen.age)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {
        name: Mark(at, account.cash, value, liquidation, cost, account.realised, stale, age)
        for (name, account), (value, liquidation, cost, stale, age) in zip(
            accounts.items(), rows, strict=True
        )
    }


def prices_at(
    at: datetime, quotes: Quotes, keys: Sequence[LotKey], max_age: timedelta | None = None
) -> Prices:
    """What a share of each market and side is worth by the quotes that were known at an instant."""
    seen = [price_of(quotes.get(market), side, at, max_age) for market, side in keys]
    return Prices(
        value=_column([price.value or 0 for price in seen]),
        bid=_column([price.bid for price in seen]),
        age=np.array([price.age or 0 for price in seen], np.int64),
        stale=np.array([price.stale != "" for price in seen], np.bool_),
        missing=np.array([price.value is None for price in seen], np.bool_),
    )


def worths(positions: Positions, prices: Prices) -> Worths:
    """Every account's lots at the prices of one snapshot."""
    starts = range(0, max(len(positions.slot), 1), BLOCK)
    blocks = [_block(positions, prices, start) for start in starts]
    value, liquidation, stale, age = (np.concatenate(column) for column in zip(*blocks, strict=True))
    whose = positions.first, positions.holders, len(positions.paid)
    return Worths(
        value=by_account(np.add, value, *whose),
        liquidation=by_account(np.add, liquidation, *whose),
        stale=by_account(np.add, stale, *whose),
        age=by_account(np.maximum, age, *whose),
    )


def _block(positions: Positions, prices: Prices, start: int) -> tuple[Column, Column, Column, Column]:
    """Value, liquidation, stale lots and highest age of each run in the block that starts here."""
    block = slice(start, start + BLOCK)
    slot, shares = positions.slot[block], positions.shares[block]
    low, high = np.searchsorted(positions.runs, (start, start + BLOCK))
    runs = positions.runs[low:high] - start
    value = _worth(shares, prices.value.take(slot), positions.wide)
    if prices.missing.any():
        value = np.where(prices.missing.take(slot), positions.cost[block], value)
    liquidation = _worth(shares, prices.bid.take(slot), positions.wide)
    return (
        np.add.reduceat(value, runs),
        np.add.reduceat(liquidation, runs),
        np.add.reduceat(prices.stale.take(slot), runs, dtype=np.int64),
        np.maximum.reduceat(prices.age.take(slot), runs),
    )


def _worth(shares: Column, price: Column, wide: bool) -> Column:
    """As `portfolio.money.worth`. Whole shares and the rest apart have no product over 64 bits."""
    found: Column
    if wide:
        whole, rest = np.divmod(shares, ONE)
        found = whole * price + rest * price // ONE
    else:
        found = shares * price // ONE
    return found


def _column(prices: list[int]) -> Column:
    """Prices in 64 bits if each is one of a share: from 0 to 1."""
    fits = not prices or (min(prices) >= 0 and max(prices) <= ONE)
    return np.array(prices, np.int64 if fits else np.object_)
