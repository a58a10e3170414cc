"""A short visit to a venue behind the local server: one question, what it answers, what it sets aside."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from markets.venue import QuarantinedRecord, Venue
from markets.venues.kalshi import Kalshi
from markets.venues.kalshi import Settings as KalshiSettings
from markets.venues.manifold import Manifold
from markets.venues.manifold import Settings as ManifoldSettings
from markets.venues.wire.http import HttpClient

T = TypeVar("T")
V = TypeVar("V", bound=Venue)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What a venue said, and what it made nothing of."""

    said: T
    aside: list[QuarantinedRecord]

    @property
    def codes(self) -> list[tuple[str, str]]:
        """Which record was set aside, and by which code."""
        return [(item.record, item.code) for item in self.aside]


class Line:
    """A client in an event loop of its own, which venues come to use one after the other."""

    def __init__(self, url: str):
        self.url, self._runner = url, asyncio.Runner()
        self.http = HttpClient(url, per_second=1e6, timeout=5.0, attempts=2, sleep=at_once)

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self.http.close())
        self._runner.close()

    def kalshi(self, question: Callable[[Kalshi], Awaitable[T]], **settings: Any) -> Answer[T]:
        """What a Kalshi that knows nothing yet answers."""
        made = KalshiSettings(url=self.url, **settings)
        return self._visit(lambda aside: Kalshi(made, self.http, aside.append), question)

    def manifold(self, question: Callable[[Manifold], Awaitable[T]], **settings: Any) -> Answer[T]:
        """What Manifold answers."""
        made = ManifoldSettings(url=self.url, **settings)
        return self._visit(lambda aside: Manifold(made, self.http, aside.append), question)

    def _visit(
        self, make: Callable[[list[QuarantinedRecord]], V], question: Callable[[V], Awaitable[T]]
    ) -> Answer[T]:
        aside: list[QuarantinedRecord] = []

        async def asked() -> T:
            return await question(make(aside))

        return Answer(self._runner.run(asked()), aside)


def kalshi(url: str, question: Callable[[Kalshi], Awaitable[T]], **settings: Any) -> Answer[T]:
    """What Kalshi answers from there, without a pause between two attempts."""
    with Line(url) as line:
        return line.kalshi(question, **settings)


def manifold(url: str, question: Callable[[Manifold], Awaitable[T]], **settings: Any) -> Answer[T]:
    """What Manifold answers from there, without a pause between two attempts."""
    with Line(url) as line:
        return line.manifold(question, **settings)


async def at_once(_seconds: float) -> None:
    """A wait that takes no time."""
    await asyncio.sleep(0)
