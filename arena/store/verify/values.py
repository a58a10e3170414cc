"""Marks worked out again from the ledger and the quotes of their snapshot.

A lot is worth its shares at the mid, or at the last trade where there is no mid, or its cost where there
is neither; sold at once it brings its shares at the bid, or nothing. The price of a NO share is 1 less
that of a YES share. A lot is stale without a mid, or if its quote is older than the cohort's rules allow. The
age of a mark is that of the oldest quote that prices a lot.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from arena.store.verify.frozen import ONE, Frozen
from arena.store.verify.parts import Row, moment
from arena.store.verify.played import Listed

Key = tuple[str, str]


class Price(NamedTuple):
    """What a snapshot says of a market: a price, both ends, its age in seconds, whether a mark is stale."""

    price: int | None
    bid: int | None
    ask: int | None
    age: int
    stale: bool


NOTHING = Price(None, None, None, 0, True)


@dataclass(slots=True)
class Held:
    """What a ledger comes to at some time: cash, what was realised, and lots of shares and their cost."""

    cash: int = 0
    realised: int = 0
    lots: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """One more entry."""
        key = row["market_id"], row["side"]
        shares, cost = self.lots.pop(key, (0, 0))
        self.cash, self.realised = self.cash + row["cash"], self.realised + row["realised"]
        if shares + row["shares"]:
            self.lots[key] = shares + row["shares"], cost + row["cost"]


def prices_of(places: Iterable[Listed], snapshot: Row, frozen: Frozen | None) -> dict[str, Price]:
    """What a snapshot says of each market's price."""
    found = dict[str, Price]()
    for item, _, quote in places:
        if quote is not None:
            age, mid = _age(item, snapshot), quote["mid"]
            aged = frozen is not None and age.total_seconds() > frozen.max_quote_age
            price = quote["last"] if mid is None else mid
            seconds = age // timedelta(seconds=1)
            stale = aged or mid is None
            found[item["market_id"]] = Price(price, quote["bid"], quote["ask"], seconds, stale)
    return found


def _age(item: Row, snapshot: Row) -> timedelta:
    """How old a quote was at its snapshot."""
    quoted, at = moment(item["quoted_at"] or ""), moment(snapshot["taken_at"])
    return at - quoted if quoted and at else timedelta()


def valued(held: Held, prices: Mapping[str, Price]) -> dict[str, int | str]:
    """What a mark of these holdings must say."""
    value = liquidation = costs = stale = age = 0
    for (market, side), (shares, cost) in held.lots.items():
        price, bid, ask, past, is_stale = prices.get(market, NOTHING)
        if side != "YES":
            price, bid = None if price is None else ONE - price, None if ask is None else ONE - ask
        if price is None:
            value += cost
        else:
            value += shares * price // ONE
            age = max(age, past)
        liquidation += 0 if bid is None else shares * bid // ONE
        stale += is_stale
        costs += cost
    return {
        "cash": held.cash,
        "value": value,
        "liquidation": liquidation,
        "cost": costs,
        "realised": held.realised,
        "stale": stale,
        "age": age,
    }
