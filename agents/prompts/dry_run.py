"""A dry run of a template on a made-up round, which finds its mistakes before any model is called."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain
from typing import Any

from agents.model import (
    HISTORY_DAYS,
    MOST_ENDED,
    Article,
    Context,
    Forecast,
    PastForecast,
    Prompt,
    Stage,
    View,
)
from agents.prompts.context import MOST_NAMED
from agents.prompts.prompt import PromptContext, PromptPart, prompt_facts, render
from agents.prompts.sandbox import FILTERS
from agents.prompts.template import BadTemplate, compile_template
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote, Snapshot
from portfolio.model import Holdings, Lot, Mark
from portfolio.rules import REALISTIC

NOW = datetime(2026, 1, 4, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TemplateFault:
    """A fault of a template with its line; the unknown name, and the known ones."""

    line: int
    words: str
    name: str = ""
    known: tuple[str, ...] = ()


def sample_prompt(text: str, *, prices: bool = True, stage: Stage = "final") -> Prompt:
    """Return the prompt of a template in a made-up round with everything that a round may hold."""
    return render(text, _sample_context(prices, 2).view, prices=prices, stage=stage)


def with_context(view: View, context: Context) -> View:
    """Return the view with as much as this context admits, in texts of usual length."""
    at = view.snapshot.at
    days = [at - timedelta(days=days) for days in HISTORY_DAYS]
    history: dict[MarketId, tuple[Quote, ...]] = {}
    siblings: dict[str, tuple[Listing, ...]] = {}
    past: dict[MarketId, tuple[PastForecast, ...]] = {}

    for listing in view.snapshot:
        market = listing.market
        others = []
        for index in range(MOST_NAMED):
            other = replace(market, id=MarketId(f"{market.id}/{index}"))
            others.append(replace(listing, market=other))
        siblings[market.event_id] = tuple(others)
        past[market.id] = _past_forecasts_on(listing, at - timedelta(days=7))
        if listing.quote:
            history[market.id] = tuple(replace(listing.quote, at=day) for day in days)

    ended = chain.from_iterable(list(past.values())[:MOST_ENDED])
    return replace(
        view,
        history=history if context.history else {},
        siblings=siblings if context.siblings else None,
        past=past if context.past else {},
        ended=tuple(replace(forecast, outcome=1) for forecast in ended) if context.past else (),
    )


def _past_forecasts_on(listing: Listing, at: datetime) -> tuple[PastForecast, ...]:
    market = listing.market
    stages: tuple[Stage, ...] = ("blind", "final")
    past = []
    for stage in stages:
        forecast = Forecast(market.id, 0.41, stage, _REASON)
        past.append(PastForecast(forecast, 1, at, market.question, 400_000))
    return tuple(past)


@lru_cache(maxsize=64)
def template_fault(
    text: str, *, prices: bool = True, markets: int = 40, money: bool = True
) -> TemplateFault | None:
    """Return why the template can't be used for a round of this many markets, or None if it can.

    It is filled in with everything that a round may hold, with a market and no more, and without any; where
    there is no `money`, without an account.
    """
    full = _sample_context(prices, markets)
    if not money:
        rules = REALISTIC.model_copy(update={"money": False})
        full = replace(full, view=replace(full.view, rules=rules, holdings=Holdings(cash=0)))

    facts = prompt_facts(full)
    try:
        template = compile_template(text)
        for name, line in template.needed.items():
            if name not in facts:
                return TemplateFault(line, f'there is no variable "{name}"', name, tuple(facts))
        smaller_rounds = (prompt_facts(_bare_context(full, markets)) for markets in (1, 0))
        for facts_of_round in (facts, *smaller_rounds):
            for block in template.blocks or ("user",):
                template.filled(block, facts_of_round)
    except BadTemplate as error:
        return _described_fault(error, facts)

    return None


def _described_fault(error: BadTemplate, facts: Mapping[str, Any]) -> TemplateFault:
    if not error.name:
        return TemplateFault(error.line, error.words)
    if error.words.startswith("No filter"):
        return TemplateFault(error.line, f'there is no filter "{error.name}"', error.name, FILTERS)
    known_names = tuple(sorted({*facts, *_keys_of_items(facts)}))
    return TemplateFault(error.line, f'there is no "{error.name}" here', error.name, known_names)


def _keys_of_items(value: Any) -> Iterator[str]:
    """Yield the keys of all items in lists: the facts of a market, a position or an article."""
    for inner in value.values():
        if isinstance(inner, dict):
            yield from inner
        if not isinstance(inner, list):
            continue

        for item in inner:
            yield from item
            yield from _keys_of_items(item)


def _sample_context(prices: bool, markets: int) -> PromptContext:
    """Return a part of a made-up round with everything that a prompt may show."""
    listings = [_listing(MarketId(f"example:{number}")) for number in range(markets + 1)]
    shown = listings[1:]
    gone = listings[0]
    first = shown[0].market.id
    account = Holdings(
        cash=9_000 * ONE,
        lots={(market, "YES"): Lot(1_000 * ONE, 400 * ONE) for market in (first, gone.market.id)},
    )
    view = View(
        snapshot=Snapshot(NOW, tuple(shown), (gone,)),
        holdings=account,
        mark=Mark(NOW, account.cash, 820 * ONE, 800 * ONE, 800 * ONE, 0, 0, 0),
        rules=REALISTIC,
        seed=1,
        evidence={listing.market.id: (_ARTICLE,) for listing in listings},
    )
    view = with_context(view, Context())
    before = tuple(Forecast(listing.market.id, 0.5, "blind") for listing in shown)
    part = PromptPart(1, 2, tuple(listing.market.id for listing in shown), committed=ONE)

    return PromptContext(view, prices, before, part, longest=8)


def _bare_context(full: PromptContext, markets: int) -> PromptContext:
    """Return the same round without anything optional: quotes, fees, positions, articles, parts."""
    listings = full.view.snapshot.shown[:markets]
    shown = tuple(Listing(replace(listing.market, fee_rate=0), None) for listing in listings)
    snapshot = Snapshot(NOW, shown)
    without_context = with_context(full.view, Context(history=False, siblings=False, past=False))
    view = replace(without_context, snapshot=snapshot, holdings=Holdings(cash=ONE), evidence={})
    return PromptContext(view, full.prices)


def _listing(market_id: MarketId) -> Listing:
    market = Market(
        id=market_id,
        event_id=market_id,
        question="Will it rain?",
        rules="YES if it rains. " * 10,
        category="Weather",
        opens_at=NOW - timedelta(days=30),
        closes_at=NOW + timedelta(days=30),
        fee_rate=ONE // 50,
    )
    return Listing(market, Quote(market_id, NOW, 400_000, 420_000, 410_000, volume=50_000 * ONE))


_REASON = "in 20 such years it rained on 7 of these days; for: the wind has turned; against: no cloud so far"
_ARTICLE = Article("example.org", "https://example.org/rain", "Rain", "It may rain. " * 10, NOW, NOW)
