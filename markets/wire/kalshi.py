"""Kalshi's records, and what they are to us. All pure: the asking is in `markets/venues/kalshi.py`.

Prices count only as `*_dollars` text and sizes only as `*_fp` text; whole cents are a thing of the past.
"""

from datetime import datetime

from pydantic import AliasChoices, Field

from markets.millionths import ONE
from markets.model import Market, MarketId, Quote
from markets.wire.fields import Amount, Instant, Maybe, Name, Some, Unfit, Wire, read, shown
from markets.wire.kalshi_events import Event

STATUSES = frozenset(
    ("initialized", "inactive", "active", "closed", "determined", "disputed", "amended", "finalized")
)
"""The stations of a market's life, from announced to paid."""
_TICKS = {"linear_cent": 10_000, "deci_cent": 1_000, "tapered_deci_cent": 1_000}
_FINEST, _COARSEST = 100, 100_000


class PriceRange(Wire):
    """Between which prices which step holds."""

    step: Amount


class Page(Wire):
    """A market's page."""

    ticker: Name
    event_ticker: Name
    market_type: str
    status: str
    title: Some = ""
    yes_sub_title: Some = ""
    rules_primary: Some = ""
    rules_secondary: Some = ""
    opens_at: Instant = Field(validation_alias=AliasChoices("open_time", "created_time"))
    close_time: Instant
    notional_value_dollars: Amount = ONE
    price_level_structure: str = ""
    price_ranges: list[PriceRange] | None = None


class Prices(Wire):
    """The best prices on a market's page. A side that nobody offers is sent as a price of 0 or 1."""

    yes_bid_dollars: Maybe = None
    yes_ask_dollars: Maybe = None
    yes_bid_size_fp: Maybe = None
    yes_ask_size_fp: Maybe = None
    last_price_dollars: Maybe = None
    volume_fp: Maybe = None


def page(raw: object) -> Page | None:
    """A market's page; None for combinations of other markets and for what isn't yes or no."""
    if isinstance(raw, dict) and (raw.get("mve_collection_ticker") or raw.get("market_type") == "scalar"):
        return None
    found = read(Page, raw, "market")
    if found.market_type != "binary":
        raise Unfit("market", "not_binary", f"its type is {shown(found.market_type)}")
    if found.status not in STATUSES:
        raise Unfit("market", "unknown_status", f"its status is {shown(found.status)}")
    if found.notional_value_dollars != ONE:
        words = f"a contract pays {found.notional_value_dollars / ONE:g} dollars"
        raise Unfit("market", "not_a_dollar", words)
    return found


def event_unseen(found: Page) -> Event:
    """What a market's own page tells of its event."""
    return Event(event_ticker=found.event_ticker, series_ticker=found.event_ticker.partition("-")[0])


def market(found: Page, event: Event, rate: int) -> Market:
    """A market of an event. All markets of an event may share a title: the subtitle tells them apart."""
    subtitle = "" if found.yes_sub_title == found.title else found.yes_sub_title
    question = " — ".join(part for part in (found.title, subtitle) if part)
    if not question:
        raise Unfit("market", "no_question", "it has neither a title nor a subtitle")
    return Market(
        id=MarketId(f"kalshi:{found.ticker}"),
        event_id=f"kalshi:{found.event_ticker}",
        question=question,
        rules="\n\n".join(part for part in (found.rules_primary, found.rules_secondary) if part) or question,
        category=event.category or "other",
        opens_at=found.opens_at,
        closes_at=found.close_time,
        tick=tick(found),
        fee_rate=rate,
    )


def tick(found: Page) -> int:
    """The finest step of a market's prices; near 0 and 1 it may be finer than between."""
    steps = [step.step for step in found.price_ranges or ()]
    steps = [step for step in steps if _FINEST <= step <= _COARSEST]
    return min(steps, default=_TICKS.get(found.price_level_structure, 10_000))


def quote(raw: object, ticker: str, at: datetime) -> Quote:
    """The prices on a market's page."""
    prices = read(Prices, raw, "quote")
    if prices.yes_bid_dollars is None or prices.yes_ask_dollars is None:
        raise Unfit("quote", "no_price", "it lacks a bid or an ask in dollars")
    for price in (prices.yes_bid_dollars, prices.yes_ask_dollars, prices.last_price_dollars):
        if price is not None and price > ONE:
            raise Unfit("quote", "bad_price", f"a price of {price / ONE:g} dollars is over a dollar")
    bid = _offered(prices.yes_bid_dollars, prices.yes_bid_size_fp)
    ask = _offered(prices.yes_ask_dollars, prices.yes_ask_size_fp)
    if bid is not None and ask is not None and bid > ask:
        raise Unfit("quote", "crossed", f"its bid {bid / ONE:g} is over its ask {ask / ONE:g}")
    return Quote(
        market_id=MarketId(f"kalshi:{ticker}"),
        at=at,
        bid=bid,
        ask=ask,
        mid=None if bid is None or ask is None else (bid + ask) // 2,
        last=prices.last_price_dollars or None,
        volume=prices.volume_fp or 0,
    )


def _offered(price: int | None, size: int | None) -> int | None:
    return None if price is None or price in (0, ONE) or size == 0 else price


def trading(found: Page, at: datetime) -> bool:
    """Whether a market can be traded on: it may be paused, or have closed earlier than was planned."""
    return found.status == "active" and found.opens_at <= at < found.close_time
