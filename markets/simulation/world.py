"""A whole season, and what of it may be seen at an instant."""

from dataclasses import replace
from datetime import UTC, datetime

from markets.model import Listing, Market, MarketId
from markets.simulation.book import TICK, quote
from markets.simulation.evidence import INTRODUCTION
from markets.simulation.season import Event, drawn_by, plan
from markets.simulation.settings import Chance, Settings
from markets.simulation.walk import Life, event_walk, live
from markets.simulation.words import questions

World = dict[MarketId, Life]
"""All markets of a season, in the order in which they are listed."""


def build(settings: Settings, chance: Chance) -> World:
    """Every market of the season with all its days."""
    lives: World = {}
    for event in plan(settings, chance):
        shared = event_walk(event, settings, chance)
        for market in _markets(event, settings, chance):
            lives[market.id] = live(market, shared, settings, chance)
    return lives


def listing(life: Life, at: datetime, settings: Settings, chance: Chance) -> Listing:
    """The market as its page reads at an instant, with the evidence of the days before."""
    today = min(at, life.market.closes_at).astimezone(UTC).date()
    said = (day.said for day in life.days if day.said is not None and day.date < today)
    rules = "\n".join((life.market.rules, "", INTRODUCTION, *said))
    return Listing(replace(life.market, rules=rules), quote(life, at, settings, chance))


def _markets(event: Event, settings: Settings, chance: Chance) -> list[Market]:
    rng = chance(f"{drawn_by(event.id)}/words", event.opens_at.date())
    category, texts = questions(rng, event.markets, event.closes_at)
    return [
        Market(
            id=MarketId(f"{event.id}-{place}"),
            event_id=event.id,
            question=question,
            rules=rules,
            category=category,
            opens_at=event.opens_at,
            closes_at=event.closes_at,
            tick=TICK,
            fee_rate=settings.fee_rate,
        )
        for place, (question, rules) in enumerate(texts, start=1)
    ]
