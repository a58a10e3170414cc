"""What the list of markets asks of the record."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from arena.store.directory import (
    Interest,
    Listed,
    Shown,
    Spread,
    last_shown,
    read_directory,
    read_interest,
    read_spreads,
)
from arena.store.frame import Connection
from arena.store.lookup import newest
from arena.store.seen import BEGINNING, latest
from arena.store.tables import QUOTE
from dashboard.source import Source, ask, cached
from markets.model import MarketId

Status = Literal["open", "waiting", "resolved"]
Order = Literal["shown", "volume", "apart"]

MOST = 50
"""So many rows a list has at most: the words to search for make it shorter."""
COMPARED = 100
"""Among so many markets, those shown last, agents are compared to see where they disagree most."""
NULLS = ("market", "constant", "random", "favourite")
"""Kinds that hold no opinion: they would be far from all others on every market."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the list is to hold: `status` is one of `Status`, `unpriced` or nothing at all."""

    search: str = ""
    status: str = ""
    category: str = ""
    event: str = ""
    order: Order = "shown"


@dataclass(frozen=True, slots=True)
class Directory:
    """Every market that agents were shown, and the newest instant of the record."""

    markets: tuple[Listed, ...]
    now: datetime

    def status(self, market: Listed) -> Status:
        """How it stands with a market."""
        if market.ended:
            return "resolved"
        return "waiting" if market.closes_at <= self.now else "open"

    @property
    def categories(self) -> list[str]:
        """The categories that there are, those with most markets first."""
        counted = Counter(market.category for market in self.markets if market.category)
        return [name for name, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))]


@dataclass(frozen=True, slots=True)
class Line:
    """A market in the list. Prices are in millionths; `others` counts those of its event."""

    market: Listed
    status: Status
    others: int
    price: int | None
    volume: int | None
    shown: Shown | None
    interest: Interest
    spread: Spread | None


@dataclass(frozen=True, slots=True)
class Found:
    """The first lines of a list, and how many markets are so in all."""

    lines: tuple[Line, ...]
    markets: int


Quotes = Mapping[str, Any]


@cached
def directory(record: Source) -> Directory:
    """The markets that can be listed."""
    return ask(
        record,
        lambda connection: Directory(tuple(read_directory(connection)), latest(connection, BEGINNING)),
    )


@cached
def found(record: Source, asked: Asked) -> Found:
    """The markets that are as asked for, the first of them with all their figures."""
    known = directory(record)
    return ask(record, lambda connection: _read(connection, known, asked))


def _read(connection: Connection, known: Directory, asked: Asked) -> Found:
    matching = {market.id: market for market in known.markets if _matches(known, market, asked)}
    if asked.status == "unpriced":
        quotes = _quotes(connection, list(matching))
        matching = {id: market for id, market in matching.items() if _price(quotes.get(id)) is None}
    chosen = [matching[id] for id in ORDERS[asked.order](connection, matching)]
    return Found(tuple(_lines(connection, known, chosen)), len(matching))


def _matches(known: Directory, market: Listed, asked: Asked) -> bool:
    question = market.question.casefold()
    wanted = "" if asked.status == "unpriced" else asked.status
    return (
        (wanted or known.status(market)) == known.status(market)
        and not (asked.status == "unpriced" and market.ended)
        and asked.category in ("", market.category)
        and asked.event in ("", market.event_id)
        and all(word in question for word in asked.search.casefold().split())
    )


Matching = Mapping[MarketId, Listed]


def _by_shown(connection: Connection, matching: Matching) -> list[MarketId]:
    shown = list(last_shown(connection, matching, MOST))
    return [*shown, *(id for id in matching if id not in shown)][:MOST]


def _by_volume(connection: Connection, matching: Matching) -> list[MarketId]:
    quotes = _quotes(connection, list(matching))
    return sorted(matching, key=lambda id: (-(quotes[id].volume if id in quotes else -1), id))[:MOST]


def _by_spread(connection: Connection, matching: Matching) -> list[MarketId]:
    spreads = read_spreads(connection, last_shown(connection, matching, COMPARED), NULLS)
    apart = {id: spread.high - spread.low for id, spread in spreads.items() if spread.agents > 1}
    return sorted(apart, key=lambda id: (-apart[id], id))[:MOST]


ORDERS: Mapping[Order, Callable[[Connection, Matching], list[MarketId]]] = {
    "shown": _by_shown,
    "volume": _by_volume,
    "apart": _by_spread,
}


def _lines(connection: Connection, known: Directory, chosen: Sequence[Listed]) -> list[Line]:
    ids = [market.id for market in chosen]
    shown = last_shown(connection, set(ids), len(ids))
    quotes, interest = _quotes(connection, ids), read_interest(connection, ids)
    spreads = read_spreads(connection, shown, NULLS)
    events = Counter(market.event_id for market in known.markets)
    return [
        Line(
            market,
            known.status(market),
            events[market.event_id] - 1,
            _price(quotes.get(market.id)),
            quotes[market.id].volume if market.id in quotes else None,
            shown.get(market.id),
            interest.get(market.id, Interest(0, 0)),
            spreads.get(market.id),
        )
        for market in chosen
    ]


def _quotes(connection: Connection, ids: Sequence[MarketId]) -> Quotes:
    return newest(connection, QUOTE, ids, "at", "mid", "last", "volume")


def _price(quote: Any) -> int | None:
    """The mid; where there is none, the last trade."""
    if quote is None:
        return None
    price: int | None = quote.last if quote.mid is None else quote.mid
    return price
