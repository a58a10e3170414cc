"""A recording in memory, ordered by when things became known, and the mistakes found in one."""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from markets.model import Market, MarketId, Quote, Resolution

T = TypeVar("T")
MOST = 100
"""How many mistakes are kept; further ones are only counted."""


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
        """Return the market as its page read at an instant."""
        return _latest(self.seen, self.pages, at)

    def quote(self, at: datetime) -> Quote | None:
        """Return the newest quote known at an instant."""
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
        """Return when the first price of all became known."""
        return min((record.known[0] for record in self.markets.values() if record.known), default=None)

    @property
    def last_price(self) -> datetime | None:
        """Return when the last price of all became known."""
        return max((record.known[-1] for record in self.markets.values() if record.known), default=None)

    @property
    def last_end(self) -> datetime | None:
        """Return when the newest resolution of all became known."""
        ends = (record.ends[-1] for record in self.markets.values() if record.ends)
        return max((end.known_at for end in ends), default=None)


def _latest(times: Sequence[datetime], things: Sequence[T], at: datetime) -> T | None:
    place = bisect_right(times, at)
    if not place:
        return None
    return things[place - 1]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake. Lines count from 1; line 0 stands for the file as a whole."""

    file: str
    line: int
    wrong: str
    meant: str

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place = f"{place}:{self.line}"
        return f"{place}: found {self.wrong}, expected {self.meant}"


class BadBundleValue(ValueError):
    """A value other than the one that is expected in its place."""

    def __init__(self, wrong: str, meant: str):
        super().__init__(f"found {wrong}, expected {meant}")
        self.wrong = wrong
        self.meant = meant


@dataclass(slots=True)
class Mistakes:
    """The mistakes found so far: the first ones, and the count of all."""

    kept: list[Mistake] = field(default_factory=list)
    count: int = 0

    def add(self, file: str, line: int, wrong: str, meant: str) -> None:
        """Count a mistake, and keep it if there is room."""
        self.count += 1
        if len(self.kept) < MOST:
            self.kept.append(Mistake(file, line, wrong, meant))


def shown_value(value: object) -> str:
    """Return a value as a mistake quotes it: on one line, short, without invisible characters."""
    if value is None:
        return "nothing"
    whole = json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in whole[:80])
    if len(text) > 60:
        return f"{text[:59]}…"
    return text
