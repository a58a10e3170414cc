"""A short visit to a venue behind the local server: one question, what it answers, what it sets aside."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from markets.venue import QuarantinedRecord, Report, Venue
from markets.venues.kalshi import Kalshi
from markets.venues.kalshi import Settings as KalshiSettings
from markets.venues.manifold import Manifold
from markets.venues.manifold import Settings as ManifoldSettings
from markets.venues.polymarket import Polymarket
from markets.venues.polymarket import Settings as PolymarketSettings
from markets.venues.wire.http import HttpClient
from tests.venue_server.polymarket import CLOB, GAMMA

T = TypeVar("T")
V = TypeVar("V", bound=Venue)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What a venue said, and what it made nothing of."""

    said: T
    aside: list[QuarantinedRecord]

    @property
    def codes(self) -> list[tuple[str, str]]:
        """Return which record was set aside, and by which code."""
        return [(item.record, item.code) for item in self.aside]


class Line:
    """Clients in an event loop of their own, which venues that know nothing yet come to use."""

    def __init__(self, url: str):
        self.url, self._runner = url, asyncio.Runner()
        self._client = cache(self._open)
        self._clients: list[HttpClient] = []

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        for http in self._clients:
            self._runner.run(http.close())
        self._runner.close()

    def kalshi(self, question: Callable[[Kalshi], Awaitable[T]], **settings: Any) -> Answer[T]:
        """Return what Kalshi answers."""
        made = KalshiSettings(url=self.url, **settings)
        http = self._client("")
        return self._visit(lambda report: Kalshi(made, http, report), question)

    def manifold(self, question: Callable[[Manifold], Awaitable[T]], **settings: Any) -> Answer[T]:
        """Return what Manifold answers."""
        made = ManifoldSettings(url=self.url, **settings)
        http = self._client("")
        return self._visit(lambda report: Manifold(made, http, report), question)

    def polymarket(self, question: Callable[[Polymarket], Awaitable[T]], **settings: Any) -> Answer[T]:
        """Return what Polymarket answers."""
        made = PolymarketSettings(**settings)
        gamma = self._client(GAMMA)
        clob = self._client(CLOB)
        return self._visit(lambda report: Polymarket(made, gamma, clob, report), question)

    def _open(self, root: str) -> HttpClient:
        self._clients.append(
            HttpClient(self.url + root, per_second=1e6, timeout=5.0, attempts=2, sleep=at_once)
        )
        return self._clients[-1]

    def _visit(self, make: Callable[[Report], V], question: Callable[[V], Awaitable[T]]) -> Answer[T]:
        aside: list[QuarantinedRecord] = []

        async def asked() -> T:
            return await question(make(aside.append))

        return Answer(self._runner.run(asked()), aside)


def kalshi(url: str, question: Callable[[Kalshi], Awaitable[T]], **settings: Any) -> Answer[T]:
    """Return what Kalshi answers from there, without a pause between two attempts."""
    with Line(url) as line:
        return line.kalshi(question, **settings)


def manifold(url: str, question: Callable[[Manifold], Awaitable[T]], **settings: Any) -> Answer[T]:
    """Return what Manifold answers from there."""
    with Line(url) as line:
        return line.manifold(question, **settings)


def polymarket(url: str, question: Callable[[Polymarket], Awaitable[T]], **settings: Any) -> Answer[T]:
    """Return what Polymarket answers from there."""
    with Line(url) as line:
        return line.polymarket(question, **settings)


async def at_once(_seconds: float) -> None:
    """Wait without taking time."""
    await asyncio.sleep(0)
