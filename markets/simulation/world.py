"""A whole season, and what of it may be seen at an instant."""

from dataclasses import replace
from datetime import UTC, date, datetime

from markets.model import Listing, Market, MarketId
from markets.simulation.book import TICK, quote
from markets.simulation.evidence import INTRODUCTION
from markets.simulation.life import Life, Story
from markets.simulation.questions import questions
from markets.simulation.season import Event, drawn_by, plan
from markets.simulation.settings import Chance, Settings

World = dict[MarketId, Life]
"""All markets of a season, in the order in which they are listed."""


def build(settings: Settings, chance: Chance) -> World:
    """Every market of the season, its days yet to be worked out."""
    lives: World = {}
    for event in plan(settings, chance):
        story = Story(event, settings, chance)
        for place, market in enumerate(_markets(event, settings, chance)):
            lives[market.id] = Life(market, story, place)
    return lives


def listing(life: Life, at: datetime, settings: Settings, chance: Chance) -> Listing:
    """The market as its page reads at an instant, with the evidence of the days before."""
    today = min(at, life.market.closes_at).astimezone(UTC).date()
    rules = "\n".join((life.market.rules, "", INTRODUCTION, *life.said(today)))
    page = replace(life.market, rules=rules)
    if _unquoted(life, today, settings, chance):
        return Listing(page, None)
    return Listing(page, quote(life, at, settings, chance))


def _unquoted(life: Life, day: date, settings: Settings, chance: Chance) -> bool:
    """Whether nobody says a price for a market on a day."""
    rate = settings.unquoted_rate
    return rate > 0 and chance(f"{drawn_by(life.market.id)}/unquoted", day).random() < rate


def _markets(event: Event, settings: Settings, chance: Chance) -> list[Market]:
    rng = chance(f"{drawn_by(event.id)}/words", event.opens_at.date())
    category, texts = questions(rng, event.markets, event.closes_at, event.family)
    return [
        Market(
            id=market,
            event_id=event.id,
            question=question,
            rules=rules,
            category=category,
            opens_at=event.opens_at,
            closes_at=event.closes_at,
            tick=TICK,
            fee_rate=settings.fee_rate,
        )
        for market, (question, rules) in zip(event.market_ids, texts, strict=True)
    ]
