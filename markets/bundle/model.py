"""A recording as it is held: every market's pages, prices and ends, in the order they became known."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from markets.model import Market, MarketId, Quote, Resolution

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Recording:
    """All that is recorded of one market. `seen` and `known` say from when a page and a quote count.

    It is `daily` where a price or the end bears a date only.
    """

    seen: tuple[datetime, ...]
    pages: tuple[Market, ...]
    known: tuple[datetime, ...]
    quotes: tuple[Quote, ...]
    ends: tuple[Resolution, ...]
    daily: bool = False

    def page(self, at: datetime) -> Market | None:
        """The market as its page read by then."""
        return _latest(self.seen, self.pages, at)

    def quote(self, at: datetime) -> Quote | None:
        """The newest quote known by then."""
        return _latest(self.known, self.quotes, at)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Bundle:
    """A whole recording, markets in the order of their ids.

    `content` is the hash of what it says, in whatever order its lines stand, and `files` that of its files.
    """

    markets: Mapping[MarketId, Recording]
    content: str
    files: str

    @property
    def first_price(self) -> datetime | None:
        """When the first price of all became known."""
        return min((record.known[0] for record in self.markets.values() if record.known), default=None)

    @property
    def last_price(self) -> datetime | None:
        """When the last price of all became known."""
        return max((record.known[-1] for record in self.markets.values() if record.known), default=None)

    @property
    def last_end(self) -> datetime | None:
        """When the last that is recorded of how a market ended became known."""
        ends = (record.ends[-1] for record in self.markets.values() if record.ends)
        return max((end.known_at for end in ends), default=None)


def _latest(times: Sequence[datetime], things: Sequence[T], at: datetime) -> T | None:
    place = bisect_right(times, at)
    return things[place - 1] if place else None
