"""The lots of many accounts as columns, built once and valued at as many snapshots as wanted.

Whole numbers stay whole numbers: where a sum might leave 64 bits, the columns hold Python's own integers,
which is slower and as right.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markets.millionths import ONE
from portfolio.model import Holdings, Lot, LotKey

Column = NDArray[Any]
SHARES: Callable[[Lot], int] = attrgetter("shares")
COST: Callable[[Lot], int] = attrgetter("cost")

BLOCK = 1 << 15
"""Lots valued in one pass: few enough to stay in the processor's cache."""
SAFE = 1 << 62
"""An account whose shares and costs add up to less than this can't leave 64 bits at any price."""


@dataclass(frozen=True, slots=True)
class Positions:
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


def positions_of(accounts: Iterable[Holdings]) -> Positions:
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
    runs = _runs(starts, len(lots))
    first = np.searchsorted(runs, starts)
    paid = by_account(np.add, cost, starts, holders, len(held))
    return Positions(keys, slot, shares, cost, runs, first, holders, paid, wide)


def by_account(ufunc: np.ufunc, column: Column, first: Column, holders: Column, accounts: int) -> Column:
    """A column brought together account by account; 0 for who holds nothing."""
    found = np.zeros(accounts, column.dtype)
    if len(holders):
        found[holders] = ufunc.reduceat(column, first)
    return found


def _runs(starts: Column, lots: int) -> Column:
    """The first lots of accounts and of blocks, in order."""
    begins = np.zeros(lots, np.bool_)
    begins[starts] = begins[::BLOCK] = True
    return np.flatnonzero(begins)


def _sizes(held: Sequence[Mapping[LotKey, Lot]], lots: Sequence[Lot]) -> tuple[Column, Column, bool]:
    """The shares and costs of all lots, in 64 bits if no account can leave them; and whether wide."""
    most = max((_size(SHARES, each.values()) + _size(COST, each.values()) for each in held), default=0)
    kind = np.int64 if most < SAFE else np.object_
    shares = np.fromiter(map(SHARES, lots), kind, len(lots))
    cost = np.fromiter(map(COST, lots), kind, len(lots))
    return shares, cost, most < SAFE and bool(np.abs(shares).max(initial=0) > SAFE // ONE)


def _size(figure: Callable[[Lot], int], lots: Iterable[Lot]) -> int:
    return sum(map(abs, map(figure, lots)))
