"""Gamma's records of Polymarket's markets, and what they are to us: their pages.

All pure: the asking is in `markets/wire/polymarket_asking.py`.
"""

import re
from datetime import datetime
from functools import lru_cache

from markets.millionths import ONE, decimal
from markets.model import Market, MarketId
from markets.wire.fields import NEVER, Name, Some, Text, Unfit, instant, shown
from markets.wire.polymarket_fields import Events, Figure, Gamma, Pair, Schedule, Slugs, When, side

PREFIX = "polymarket:"
USUAL_FEE = 50_000
"""The rate where a market charges a fee but doesn't say which."""
FINEST, COARSEST = 100, 100_000
PLACEHOLDER = re.compile(
    r"(?:Other|(?:Person|Individual|Candidate|Nominee|Player|Team|Club|Country|Party|Company|Organization"
    r"|Artist|Album|Song|Movie|Film|Show|Model|Option|Outcome|Placeholder) [A-Z]{1,2})"
)
CATEGORIES = {
    "sports": "sports",
    "esports": "sports",
    "crypto": "crypto",
    "weather": "weather",
    "economy": "economy",
    "finance": "finance",
    "business": "finance",
    "tech": "tech",
    "ai": "tech",
    "science": "science",
    "pop-culture": "culture",
    "culture": "culture",
    "geopolitics": "geopolitics",
    "elections": "politics",
    "politics": "politics",
    "world": "world",
}
"""Our category by a market's tags: the first of these that it has."""


class Page(Gamma):
    """A market's page."""

    id: Name
    question: Text
    outcomes: Pair
    closed: bool
    active: bool | None = None
    archived: bool | None = None
    accepting_orders: bool | None = None
    enable_order_book: bool | None = None
    description: Some = ""
    category: Some = ""
    start_date: When = None
    created_at: str | None = None
    end_date: When = None
    order_price_min_tick_size: Figure = None
    order_min_size: Figure = None
    fees_enabled: bool | None = None
    fee_schedule: Schedule = None
    tags: Slugs = ()
    events: Events = None
    group_item_title: Some = ""
    neg_risk_other: bool | None = None


def unplayable(page: Page) -> Unfit | None:
    """Why a market is none that we play at all: it isn't yes or no, or stands for what isn't named yet."""
    try:
        side(page.outcomes, "yes")
    except ValueError as error:
        return Unfit("market", "not_yes_no", str(error))
    if page.neg_risk_other or (
        page.events and page.events.augmented and PLACEHOLDER.fullmatch(page.group_item_title.strip())
    ):
        title = page.group_item_title or page.question
        return Unfit("market", "placeholder", f"{shown(title)} only holds a place")
    return None


def trading(page: Page) -> bool:
    """Whether a market can be traded on. `active` stays true after its end, so it alone says little."""
    wanted = (page.active, page.accepting_orders, page.enable_order_book)
    return not page.closed and not page.archived and False not in wanted


def fee_rate(page: Page) -> int:
    """The rate of our fee, rate · p · (1 − p); what the order book calls the base fee is something else."""
    if page.fees_enabled is False:
        return 0
    fees = page.fee_schedule
    if fees is None or fees.rate is None:
        return USUAL_FEE
    if fees.exponent not in (None, ONE) or fees.rate > ONE:
        raise Unfit(
            "market", "unknown_fee", "its fees are of a kind that isn't known: the usual ones are taken"
        )
    return fees.rate


def market(page: Page, rate: int) -> Market:
    """A market of an event; one without an event is its own."""
    tick = page.order_price_min_tick_size
    if not page.question.strip():
        raise Unfit("market", "no_question", "its question is empty")
    if tick is not None and not FINEST <= tick <= COARSEST:
        raise Unfit("market", "bad_tick", f"its prices go in steps of {decimal(tick)} dollars")
    return Market(
        id=MarketId(f"{PREFIX}{page.id}"),
        event_id=f"{PREFIX}{page.events.event if page.events else f'alone-{page.id}'}",
        question=page.question,
        rules=page.description or page.question,
        category=category(page),
        opens_at=page.start_date or _made_at(page),
        closes_at=page.end_date or NEVER,
        tick=tick or 10_000,
        fee_rate=rate,
        min_shares=page.order_min_size or 0,
    )


def _made_at(page: Page) -> datetime:
    try:
        return instant(page.created_at)
    except ValueError:
        raise Unfit("market", "no_open_time", "it doesn't say since when it is open") from None


def category(page: Page) -> str:
    """The category by its tags; old pages have one in words of their own."""
    return _by_tags(page.tags) or page.category.lower() or "other"


@lru_cache(maxsize=4096)
def _by_tags(tags: tuple[str, ...]) -> str | None:
    return next((ours for tag, ours in CATEGORIES.items() if tag in tags), None)
