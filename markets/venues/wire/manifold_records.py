"""Manifold's records and their conversion to ours. All pure: `markets/venues/manifold.py` asks.

Times are milliseconds since 1970; numbers are sent as such.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from markets.ladders import event_of
from markets.millionths import ONE
from markets.model import NEVER, Market, MarketId, Quote, Resolution
from markets.past import PastMarket
from markets.stories import story_by_subject
from markets.venues.wire.fields import (
    AnyNumber,
    Chance,
    DescriptiveText,
    MaybeText,
    Moment,
    Name,
    RejectedRecord,
    Text,
    WireRecord,
    chance,
    is_name,
    label,
    member,
    read_record,
    shown_value,
    waiting,
)

OTHER_TYPES = {
    "BOUNTIED_QUESTION", "DATE", "FREE_RESPONSE", "MULTIPLE_CHOICE", "MULTI_NUMERIC", "NUMBER", "NUMERIC",
    "POLL", "PSEUDO_NUMERIC", "QUADRATIC_FUNDING", "STONK",
}  # fmt: skip
"""Types other than yes/no, some of which also have a probability and resolve to YES or MKT."""
PLAY_MONEY = "MANA"
MOVED_WITHIN = timedelta(minutes=1)
_PAYS = {"YES": ONE, "NO": 0, "CANCEL": None}


class ManifoldRecord(WireRecord):
    """A record whose names are written in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class ManifoldPage(ManifoldRecord):
    """A market's page. On a page of many markets there are no descriptions."""

    id: Name
    outcome_type: str
    token: str = PLAY_MONEY
    question: Text
    text_description: MaybeText = ""
    created_time: Moment
    close_time: Moment = NEVER
    is_resolved: bool
    slug: DescriptiveText = ""
    arena_tags: DescriptiveText = ""


class ManifoldPrice(ManifoldRecord):
    """What a YES share costs, and how much mana changed hands."""

    probability: Chance
    volume: AnyNumber = None


class ManifoldEnding(ManifoldRecord):
    """Whether and how a market ended. The probability counts only where it is what was paid."""

    id: Name
    outcome_type: str
    is_resolved: bool
    resolution: str | None = None
    resolution_time: Moment | None = None
    resolution_probability: object = None


class ManifoldTrade(ManifoldRecord):
    """A bet, as far as it tells where it left the price."""

    contract_id: Name
    created_time: Moment
    prob_after: Chance


def left_out(raw: object) -> str:
    """Return why a market is excluded: it isn't yes or no, or trades in cash; empty if it isn't."""
    if label(raw, "outcomeType") in OTHER_TYPES:
        return "not yes or no"
    if member(raw, "token") == "CASH":
        return "in cash"
    return ""


def page(raw: object) -> ManifoldPage | None:
    """Return a market's page; None where the market is excluded."""
    if left_out(raw):
        return None

    record = read_record(ManifoldPage, raw, "market")
    if record.outcome_type != "BINARY":
        raise RejectedRecord("market", "not_binary", f"its type is {shown_value(record.outcome_type)}")
    if record.token != PLAY_MONEY:
        raise RejectedRecord("market", "not_mana", f"its currency is {shown_value(record.token)}")
    if not record.question:
        raise RejectedRecord("market", "no_question", "it has no question")
    return record


def market(page: ManifoldPage) -> Market:
    """Return a market; the venue groups none, so each is an event of its own unless it is on a ladder."""
    name = MarketId(f"manifold:{page.id}")
    return Market(
        id=name,
        event_id=event_of(name, page.question),
        question=page.question,
        rules=page.text_description or page.question,
        category="other",
        opens_at=page.created_time,
        closes_at=page.close_time,
        story=story_by_subject(name, page.question, page.close_time),
        slug=page.slug if is_name(page.slug) else "",
        tags=page.arena_tags,
    )


class ManifoldPast(ManifoldRecord):
    """When a market was resolved, and how much mana changed hands."""

    resolution_time: Moment | None = None
    volume: AnyNumber = None


def past_market(raw: object, page: ManifoldPage, at: datetime) -> PastMarket:
    """Return a market of the past; where it resolved before its close, the planned close is unknown."""
    past = read_record(ManifoldPast, raw, "market")
    resolved_at = past.resolution_time if page.is_resolved else None
    was_close_moved = resolved_at is not None and page.close_time >= resolved_at - MOVED_WITHIN
    stopped = min(page.close_time, resolved_at or NEVER)

    market_then = market(page)
    if was_close_moved:
        market_then = replace(market_then, closes_at=NEVER)
    return PastMarket(market_then, past.volume or 0, stopped if stopped <= at else None)


def is_trading(page: ManifoldPage, at: datetime) -> bool:
    """Tell whether a market can be traded."""
    return not page.is_resolved and page.created_time <= at < page.close_time


def quote(raw: object, name: str, at: datetime) -> Quote:
    """Return the probability on a market's page as its price; the venue shows no offers."""
    price = read_record(ManifoldPrice, raw, "quote")
    return _mid_quote(name, at, price.probability, price.volume)


FIGURES = {"volume_24h": ("volume24Hours",), "liquidity": ("totalLiquidity",)}
"""The other figures on a market's page, which doesn't state open interest."""


def trade_quote(raw: object, name: str) -> Quote:
    """Return the price after a bet."""
    trade = read_record(ManifoldTrade, raw, "quote")
    if trade.contract_id != name:
        raise RejectedRecord("quote", "other_market", f"it is a bet on {trade.contract_id}")
    return _mid_quote(name, trade.created_time, trade.prob_after)


def _mid_quote(name: str, at: datetime, price: int, volume: int | None = None) -> Quote:
    return Quote(MarketId(f"manifold:{name}"), at, bid=None, ask=None, mid=price, last=price, volume=volume)


def resolution(raw: object, at: datetime) -> Resolution | None:
    """Return a market's resolution; None while it is open."""
    ending = read_record(ManifoldEnding, raw, "resolution")
    if ending.outcome_type != "BINARY":
        raise RejectedRecord("resolution", "not_binary", f"its type is {shown_value(ending.outcome_type)}")
    if not ending.is_resolved:
        if ending.resolution is not None:
            words = f"it has the resolution {shown_value(ending.resolution)} and isn't resolved"
            raise waiting("contradiction", words)
        return None

    return Resolution(
        market_id=MarketId(f"manifold:{ending.id}"),
        version=1,
        known_at=min(ending.resolution_time or at, at),
        payout=_yes_payout(ending),
        source=f"manifold: {ending.resolution}",
    )


def _yes_payout(ending: ManifoldEnding) -> int | None:
    """Return what a YES share paid; None where the market was cancelled and stakes refunded."""
    if ending.resolution in _PAYS:
        return _PAYS[ending.resolution]
    if ending.resolution != "MKT":
        raise waiting("unknown", f"its resolution is {shown_value(ending.resolution)}")
    if ending.resolution_probability is None:
        raise waiting("no_probability", "it paid a probability, and doesn't say which")

    try:
        return chance(ending.resolution_probability)
    except ValueError as error:
        raise waiting("bad_probability", f"what it paid: {error}") from None
