"""A venue's past: which of its markets are taken, and what could be known of them when.

A venue shows every page as it reads today: a close that was moved to the day of the result counts from then.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from markets.model import NEVER, Market, MarketId, Quote, Resolution

WEEK = timedelta(weeks=1)


@dataclass(frozen=True, slots=True)
class PastRequest:
    """Which markets are wanted, from when to when; `at` is when the venue was first asked.

    These are the markets of some slugs, events or tags, or all: of those the `top` by volume, unless they are
    named one by one. One price is taken for so many `hours`.
    """

    since: datetime
    until: datetime
    at: datetime
    hours: int = 6
    top: int = 1_000
    slugs: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def named(self) -> bool:
        """Tell whether only markets that are named are wanted, by themselves or by their event."""
        return bool(self.slugs or self.events) and not self.tags


@dataclass(frozen=True, slots=True)
class PastMarket:
    """A market as its page reads today, but for a close that nobody could know beforehand.

    `stopped` is when trading ended, None while it goes on; `raw` is what its venue needs to ask for more.
    """

    market: Market
    volume: int
    stopped: datetime | None
    end: Resolution | None = None
    raw: object = None

    def in_time(self, request: PastRequest) -> tuple[datetime, datetime]:
        """Return when it was open within the time wanted; if it wasn't, the end is not after the start."""
        end = min(self.stopped or request.until, request.until)
        return max(self.market.opens_at, request.since), end


@dataclass(slots=True)
class PastSelection:
    """The markets found so far that are wanted, and why others are not."""

    request: PastRequest
    markets: dict[MarketId, PastMarket] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, page: Iterable[PastMarket | str]) -> None:
        """Add the markets of a page of a list; count each text as the reason why one is left out."""
        for past in page:
            if isinstance(past, str):
                self.left_out[past] += 1
                continue

            start, end = past.in_time(self.request)
            if start < end:
                self.markets[past.market.id] = past
            else:
                self.left_out["not open at that time"] += 1

        most_markets = self.request.top
        if not self.request.named and len(self.markets) > most_markets:
            ranked = sorted(self.markets.values(), key=lambda past: (-past.volume, past.market.id))
            self.left_out["of less volume"] += len(ranked) - most_markets
            self.markets = {past.market.id: past for past in ranked[:most_markets]}

    def is_too_small(self, volume: int) -> bool:
        """Tell whether a market of this volume is too small to be among the top."""
        if self.request.named or len(self.markets) < self.request.top:
            return False
        return volume < min(past.volume for past in self.markets.values())


class PastVenue(Protocol):
    """A venue that shows its past."""

    async def past_markets(self, request: PastRequest) -> PastSelection:
        """Return the markets that are wanted, with what the venue's lists have of them."""

    async def completed(self, markets: Sequence[PastMarket], request: PastRequest) -> list[PastMarket]:
        """Return markets with what no list has, such as how they ended, without those no longer shown."""

    async def history(self, market: MarketId, start: datetime, end: datetime, hours: int = 1) -> list[Quote]:
        """Return a market's prices between two instants, about one for so many hours."""

    async def close(self) -> None:
        """Close all connections."""


def page_versions(past: PastMarket, request: PastRequest) -> list[tuple[datetime | None, Market]]:
    """Return the versions of a market's page with the close that was known then, and from when each counts.

    None means always. If a market traded on after its close, that was put off by whole weeks, as it is at a
    live venue. If it stopped sooner than planned, it is closed from then on.
    """
    market = past.market
    last_open_at = past.stopped or request.at
    close_then = market.closes_at
    if close_then <= market.opens_at:
        close_then = NEVER
    versions: list[tuple[datetime | None, Market]] = [(None, replace(market, closes_at=close_then))]

    while close_then < last_open_at:
        put_off_at = close_then
        close_then += WEEK
        version = replace(market, closes_at=close_then)
        if put_off_at <= request.since:
            versions = [(None, version)]
        else:
            versions.append((put_off_at, version))

    resolved_at = NEVER
    if past.end is not None:
        resolved_at = past.end.known_at
    if past.stopped is not None and past.stopped < min(close_then, resolved_at):
        versions.append((past.stopped, replace(market, closes_at=past.stopped)))
    return versions


def thinned(quotes: Iterable[Quote], hours: int) -> list[Quote]:
    """Return the last price of every so many hours that has one, in the order of time."""
    newest = {}
    for quote in sorted(quotes, key=lambda quote: quote.at):
        newest[-int(-quote.at.timestamp() // (hours * 3_600))] = quote
    return list(newest.values())
