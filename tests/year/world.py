"""The markets of a record that is made up, their prices, and the syncs that saw them.

Everything follows from places: markets are numbered from 0, and market m ends in week m % ENDS. What looks
like chance is a product of primes with the seed, so the same seed makes the same rows. A market has no more
than forty prices, which come and go: so five million quotes need no more than forty hashes for each market.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from markets.hashes import digest, timestamp_text
from markets.millionths import ONE

START = datetime(2026, 1, 4, tzinfo=UTC)
HOUR = 3_600
WEEK = 7 * 24 * 3_600
COHORTS, ENDS = 52, 64
"""Weeks of a record, and those in which markets can end."""
LEVELS = 40
CENT = 10_000
SHARES = 100 * ONE
RATE = 40_000
"""Prices of a market, what lies between two of them, the shares at each, the venue's fee."""
Line = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """How many agents play, how often a week they are marked, how many markets there are, quotes of each."""

    agents: int
    marks: int
    kinds: int
    quotes: int

    @property
    def markets(self) -> int:
        """Return how many markets there are."""
        return ENDS * self.kinds

    @property
    def step(self) -> int:
        """Return the seconds between two quotes of a market."""
        return COHORTS * WEEK // self.quotes


class YearPrice(NamedTuple):
    """A price, and what a quote with it says."""

    bid: int
    ask: int
    mid: int
    last: None
    volume: int
    book: str
    hash: str


@lru_cache(maxsize=4096)
def text(second: int) -> str:
    """Return the instant this many seconds after the start, as a record has it."""
    return timestamp_text(START + timedelta(seconds=second))


@dataclass(frozen=True)
class YearWorld:
    """All markets, and what is known of them at each second."""

    size: Size
    seed: int

    @cached_property
    def names(self) -> list[str]:
        """Return their ids."""
        return [f"year:{market:05}" for market in range(self.size.markets)]

    @cached_property
    def pages(self) -> list[Line]:
        """Return their pages, as rows of `market_version`."""
        return [self._page(market) for market in range(self.size.markets)]

    @cached_property
    def prices(self) -> list[list[YearPrice]]:
        """Return the prices that each may have."""
        return [[_price(name, 500_000 + level * CENT) for level in range(LEVELS)] for name in self.names]

    def _page(self, market: int) -> Line:
        said = {
            "event_id": f"event:{market // 2:05}",
            "question": f"Does the thing of number {market} come to pass before its week is over?",
            "rules": "If it does, as the papers have it, this market resolves to YES; else to NO.",
            "category": "made up",
            "opens_at": text(0),
            "closes_at": text(ends(market)),
            "tick": CENT,
            "fee_rate": RATE,
            "min_shares": 0,
        }
        name = self.names[market]
        return (market + 1, name, 1, text(0), *said.values(), digest(said | {"id": name}))

    def level(self, market: int, step: int) -> int:
        """Return the index of a market's price in its quote of that number."""
        return (market * 7919 + step * 104729 + self.seed * 15485863) % (100 * LEVELS) // 100

    def newest(self, second: int) -> int:
        """Return the number of the newest quotes."""
        return min(second // self.size.step, self.size.quotes - 1)

    def quotes(self) -> Iterator[Line]:
        """Yield every quote, as a row."""
        for step in range(self.size.quotes):
            at = text(step * self.size.step)
            first = step * self.size.markets + 1
            for market, (name, prices) in enumerate(zip(self.names, self.prices, strict=True)):
                yield (first + market, name, at, *prices[self.level(market, step)])

    def syncs(self) -> Iterator[Line]:
        """Yield an hourly reading of the catalogue; the first sees all markets come, and none ever goes."""
        named = zip(self.names, self.prices, strict=True)
        said = [[f'"{name}":"{price.hash}"' for price in prices] for name, prices in named]
        sightings = dict.fromkeys(self.names, 1)
        previous = ""
        seen = ""
        known = -1
        for number in range(1, COHORTS * WEEK // HOUR + 1):
            second = (number - 1) * HOUR
            if known != self.newest(second):
                known = self.newest(second)
                parts = (each[self.level(market, known)] for market, each in enumerate(said))
                seen = sha256(f"{{{','.join(parts)}}}".encode()).hexdigest()
            row = {
                "venue": "polymarket",
                "stamp": "live",
                "number": number,
                "at": text(second),
                "markets": self.size.markets,
                "seen": seen,
            }
            previous = digest(row | {"previous": previous, "sightings": sightings})
            sightings = {}
            yield (number, *row.values(), previous)

    def resolutions(self) -> Iterator[Line]:
        """Yield how the markets ended that did, as rows."""
        for market, name in enumerate(self.names):
            if ends(market) < COHORTS * WEEK:
                at = text(ends(market))
                row = {
                    "market_id": name,
                    "version": 1,
                    "known_at": at,
                    "learnt_at": at,
                    "payout": payout(market),
                    "source": "made up",
                }
                yield (*row.values(), digest(row))


def ends(market: int) -> int:
    """Return the second at which a market ends."""
    return market % ENDS * WEEK


def payout(market: int) -> int:
    """Return what a share of YES pays."""
    return market // ENDS % 2 * ONE


def _price(name: str, mid: int) -> YearPrice:
    bid = mid - CENT
    ask = mid + CENT
    volume = 20_000 * ONE
    book = {"asks": [[ask, SHARES]], "bids": [[bid, SHARES]]}
    sides = {side: [{"price": p, "shares": s} for p, s in levels] for side, levels in book.items()}
    said = {"market_id": name, "bid": bid, "ask": ask, "mid": mid, "last": None, "volume": volume}
    return YearPrice(
        bid, ask, mid, None, volume, json.dumps(book, separators=(",", ":")), digest(said | sides)
    )
