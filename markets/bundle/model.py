"""A recording as it is held, in the order in which things became known; and what may be wrong in one."""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from markets.model import Market, MarketId, Quote, Resolution

T = TypeVar("T")
MOST = 100
"""How many mistakes are kept. The others are counted."""


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


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake. Lines count from 1; line 0 stands for the file as a whole."""

    file: str
    line: int
    wrong: str
    meant: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: found {self.wrong}, expected {self.meant}"


class BadBundleValue(ValueError):
    """What was found isn't what is meant there."""

    def __init__(self, wrong: str, meant: str):
        super().__init__(f"found {wrong}, expected {meant}")
        self.wrong, self.meant = wrong, meant


@dataclass(slots=True)
class Mistakes:
    """The mistakes met so far: the first ones, and how many there are."""

    kept: list[Mistake] = field(default_factory=list)
    count: int = 0

    def add(self, file: str, line: int, wrong: str, meant: str) -> None:
        """Note one more."""
        self.count += 1
        if len(self.kept) < MOST:
            self.kept.append(Mistake(file, line, wrong, meant))


def shown_value(value: object) -> str:
    """A value as a mistake quotes it: on one line, not too long, and nothing in it that can't be seen."""
    if value is None:
        return "nothing"
    whole = json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in whole[:80])
    return text if len(text) <= 60 else f"{text[:59]}…"
