"""Builders for what a mind sees and says."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from agents.model import Article, Ask, Call, CallError, Forecast, Prompt, View
from markets.model import Listing, MarketId, Snapshot
from portfolio.model import Holdings, Lot, Mark
from portfolio.rules import REALISTIC, Rules
from tests.builders import NOW, a_listing, a_snapshot, usd

THREE = ("sim:a", "sim:b", "sim:c")


def a_view(
    *listings: Listing,
    held: tuple[Listing, ...] = (),
    lots: Mapping[Any, Lot] | None = None,
    cash: str = "10000",
    rules: Rules = REALISTIC,
    seed: int = 7,
    stated: Mapping[str, tuple[Forecast, ...]] | None = None,
) -> View:
    """Return a view of three usual markets, m1 to m3, with nothing held, unless others are given."""
    shown = listings or tuple(a_listing(market=market) for market in THREE)
    snapshot: Snapshot = a_snapshot(*shown, held=held)
    account = Holdings(cash=usd(cash), lots=lots or {})
    mark = Mark(snapshot.at, account.cash, 0, 0, 0, 0, 0, 0)
    return View(snapshot, account, mark, rules, seed, stated=stated or {})


def a_lot(shares: str = "100", cost: str = "40") -> Lot:
    """Return shares with their cost."""
    return Lot(usd(shares), usd(cost))


def an_answer(**changes: Any) -> str:
    """Return a whole answer about the three usual markets; keywords replace its lists."""
    answer: dict[str, Any] = {
        "forecasts": [{"market": f"m{n}", "probability": n / 10, "reason": "so it seems"} for n in (1, 2, 3)],
        "bets": [{"market": "m1", "side": "NO", "amount": 120, "reason": "cheap"}],
        "sales": [],
    }
    return json.dumps(answer | changes)


def an_article(**changes: Any) -> Article:
    """Return an article published on the morning of the day before."""
    article = Article(
        source="example.org",
        url="https://example.org/1",
        title="Rain",
        text="It may rain.",
        published_at=NOW - timedelta(hours=28),
        fetched_at=NOW,
    )
    return replace(article, **changes)


def stated(market: str, probability: str) -> Forecast:
    """Return what an agent stated about a market."""
    return Forecast(MarketId(market), millionths=usd(probability))


def replies(*texts: str | CallError | Call) -> tuple[Ask, list[Prompt]]:
    """Return a model that gives these answers one after another, and the list of what it was asked."""
    asked: list[Prompt] = []
    left = list(texts)

    async def ask(prompt: Prompt) -> Call:
        asked.append(prompt)
        said = left.pop(0)
        if isinstance(said, Call):
            return said
        if isinstance(said, CallError):
            return Call(prompt, None, error=said)
        return Call(prompt, said, finish="stop")

    return ask, asked


async def nobody(prompt: Prompt) -> Call:
    """Fail, as the `ask` of agents that have no model."""
    raise AssertionError(f"this agent should ask nobody, and asked {prompt}")
