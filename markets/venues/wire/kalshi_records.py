"""Kalshi's records and their conversion to ours. All pure: `markets/venues/wire/kalshi_requests.py` asks.

Prices count only as `*_dollars` text and sizes only as `*_fp` text; whole cents are a thing of the past.
What all markets of an event have in common stands in its record, fees in that of its series. The order
book holds bids only, on YES and on NO: a bid for NO is an offer of YES. A market has ended once its result
is final and has a value in dollars.
"""

import re
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, PlainValidator

from markets.millionths import ONE, millionths
from markets.model import Level, Market, MarketId, Quote, Resolution
from markets.past import PastMarket
from markets.venues.wire.fields import (
    Amount,
    AnyAmount,
    DescriptiveText,
    Instant,
    MaybeAmount,
    MaybeText,
    Name,
    RejectedRecord,
    WireRecord,
    amount,
    member,
    mid_price,
    offered_price,
    read_record,
    shown_value,
    waiting,
    with_levels,
)

USUAL_FEE = 70_000
"""0.07 · p · (1 − p) a contract: the general table of the venue's fee schedule, which a series multiplies."""


class KalshiEvent(WireRecord):
    """What the markets of an event have in common."""

    event_ticker: Name
    series_ticker: Name
    category: DescriptiveText = ""
    fee_type_override: str | None = None
    fee_multiplier_override: float | None = None


def _tags(value: object) -> str:
    """Return the tags of a series, joined with commas."""
    if not isinstance(value, list):
        return ""
    tags = (tag for tag in value if isinstance(tag, str))
    return ",".join(tag.strip() for tag in tags if "," not in tag and tag.isprintable())


class KalshiSeries(WireRecord):
    """The recurring question that events belong to; its fees are theirs."""

    ticker: Name
    category: DescriptiveText = ""
    fee_type: str
    fee_multiplier: float
    tags: Annotated[str, PlainValidator(_tags)] = ""


def nested_markets(raw: object) -> list[object]:
    """Return the markets nested in an event."""
    inner = member(raw, "markets")
    if not isinstance(inner, list | None):
        raise RejectedRecord("market", "malformed", f"its markets are {shown_value(inner)}")
    return inner or []


def fee_rate(event: KalshiEvent, series: KalshiSeries | None) -> int:
    """Return a taker's fee rate, for rate · p · (1 − p): the event's, its series', or the usual one."""
    fee_type = event.fee_type_override or (series.fee_type if series else "quadratic")
    multiplier = event.fee_multiplier_override
    if multiplier is None:
        multiplier = series.fee_multiplier if series else 1.0

    if not fee_type.startswith("quadratic") or not 0 <= multiplier <= 10:
        words = f"fees {shown_value(fee_type)} times {multiplier:g} aren't known"
        raise RejectedRecord("market", "unknown_fee", f"{words}: using the general ones")
    return millionths(Decimal(USUAL_FEE) * Decimal(repr(multiplier)) / ONE)


_GAME = re.compile(r"[0-9]{2}[A-Z]{3}[0-9]{2}(?:[0-9]{4})?[A-Z]{3}[A-Z0-9]*")
"""The part of an event's ticker that names a game: day, maybe hour, and teams."""
_DAY = re.compile(r"([0-9]{2}[A-Z]{3}[0-9]{2})(?:H?[0-9]{2,6})?")
_ASSET = re.compile(r"(?:KX)?([A-Z0-9]+?)(?:DUD|15M|[DHW])*")
"""How a series is called whose prices are asked for by the day, hour or quarter of an hour.

Every such letter at its end is left out: KXETH and KXETHD are one asset, whose name ends in one itself.
"""
_MONTH = re.compile(r"[0-9]{2}[A-Z]{3}")
_YEAR = re.compile(r"(?:20)?([0-9]{2})")
_MEETING = re.compile(r"(?:KX)?(?:FED(?:DECISION|COMBO)?|FOMC[A-Z]*)")
_CUTS = re.compile(r"(?:KX)?(?:RATE|LARGE|EMER|ZERO)(?:CUTS?|RATE)(?:COUNT)?")
"""Series about a decision of the Federal Reserve at one meeting, and about its cuts within a year."""

STATUSES = frozenset(
    ("initialized", "inactive", "active", "closed", "determined", "disputed", "amended", "finalized")
)
"""The states of a market, from announced to paid."""
_TICKS = {"linear_cent": 10_000, "deci_cent": 1_000, "tapered_deci_cent": 1_000}
_FINEST = 100
_COARSEST = 100_000


class KalshiPriceRange(WireRecord):
    """The tick that holds within a range of prices."""

    step: Amount


class KalshiPage(WireRecord):
    """A market's page."""

    ticker: Name
    event_ticker: Name
    market_type: str
    status: str
    title: MaybeText = ""
    yes_sub_title: MaybeText = ""
    rules_primary: MaybeText = ""
    rules_secondary: MaybeText = ""
    opens_at: Instant = Field(validation_alias=AliasChoices("open_time", "created_time"))
    close_time: Instant
    notional_value_dollars: Amount = ONE
    price_level_structure: str = ""
    price_ranges: list[KalshiPriceRange] | None = None


class KalshiBestPrices(WireRecord):
    """The best prices at some time. A side that nobody offers is sent as a price of 0 or 1."""

    yes_bid_dollars: MaybeAmount = None
    yes_ask_dollars: MaybeAmount = None
    yes_bid_size_fp: MaybeAmount = None
    yes_ask_size_fp: MaybeAmount = None
    last_price_dollars: MaybeAmount = None


class KalshiPrices(KalshiBestPrices):
    """The prices on a market's page."""

    volume_fp: AnyAmount = None


def left_out(raw: object) -> str:
    """Return why a market is excluded: it combines others, or isn't yes or no; empty if it isn't."""
    if member(raw, "mve_collection_ticker"):
        return "combination"
    if member(raw, "market_type") == "scalar":
        return "not yes or no"
    return ""


def page(raw: object) -> KalshiPage | None:
    """Return a market's page; None where the market is excluded."""
    if left_out(raw):
        return None

    record = read_record(KalshiPage, raw, "market")
    if record.market_type != "binary":
        raise RejectedRecord("market", "not_binary", f"its type is {shown_value(record.market_type)}")
    if record.status not in STATUSES:
        raise RejectedRecord("market", "unknown_status", f"its status is {shown_value(record.status)}")
    if record.notional_value_dollars != ONE:
        words = f"a contract pays {record.notional_value_dollars / ONE:g} dollars"
        raise RejectedRecord("market", "not_a_dollar", words)
    return record


def event_unseen(page: KalshiPage) -> KalshiEvent:
    """Return what a market's own page tells about its event."""
    return KalshiEvent(event_ticker=page.event_ticker, series_ticker=page.event_ticker.partition("-")[0])


def market(page: KalshiPage, event: KalshiEvent, rate: int, series: KalshiSeries | None = None) -> Market:
    """Return a market of an event; a subtitle tells apart markets that share a title."""
    subtitle = page.yes_sub_title
    if subtitle == page.title:
        subtitle = ""
    question = " — ".join(filter(None, (page.title, subtitle)))
    if not question:
        raise RejectedRecord("market", "no_question", "it has neither a title nor a subtitle")

    steps = [piece.step for piece in page.price_ranges or () if _FINEST <= piece.step <= _COARSEST]
    return Market(
        id=MarketId(f"kalshi:{page.ticker}"),
        event_id=f"kalshi:{page.event_ticker}",
        question=question,
        rules="\n\n".join(filter(None, (page.rules_primary, page.rules_secondary))) or question,
        category=event.category or "other",
        opens_at=page.opens_at,
        closes_at=page.close_time,
        tick=min(steps, default=_TICKS.get(page.price_level_structure, 10_000)),
        fee_rate=rate,
        story=story_of_event(page.event_ticker),
        tags=",".join(filter(None, (event.series_ticker, series.tags if series else ""))),
    )


def story_of_event(event: str) -> str:
    """Return the game, the asset's day or the bank's meeting of an event, or "" if it has none.

    >>> story_of_event("KXNFLSPREAD-26NOV22KCDEN") == story_of_event("KXNFLGAME-26NOV22KCDEN")
    True
    >>> story_of_event("KXBTC15M-26JUL250215")
    'kalshi:BTC-26JUL25'
    >>> eth, ethd, btcd = map(story_of_event, ("KXETH-26JUL2502", "KXETHD-26JUL2502", "KXBTCD-26JUL2502"))
    >>> eth == ethd != btcd
    True
    >>> story_of_event("KXFOMCDISSENTCOUNT-26SEP"), story_of_event("KXNEWPOPE-70")
    ('kalshi:FED-26SEP', '')
    """
    series, _, suffix = event.partition("-")
    if _GAME.fullmatch(suffix):
        return f"kalshi:game:{suffix}"

    month = _MONTH.match(suffix)
    if month is not None and _MEETING.fullmatch(series):
        return f"kalshi:FED-{month[0]}"

    year = _YEAR.match(suffix)
    if year is not None and _CUTS.fullmatch(series):
        return f"kalshi:FED-{year[1]}"

    day = _DAY.fullmatch(suffix)
    asset = _ASSET.fullmatch(series)
    if day is not None and asset is not None:
        return f"kalshi:{asset[1]}-{day[1]}"
    return ""


def quote(raw: object, ticker: str, at: datetime) -> Quote:
    """Return the prices on a market's page."""
    prices = read_record(KalshiPrices, raw, "quote")
    return quote_of(prices, ticker, at, prices.volume_fp)


def quote_of(prices: KalshiBestPrices, ticker: str, at: datetime, volume: int | None = None) -> Quote:
    """Return the quote that these prices make up."""
    if prices.yes_bid_dollars is None or prices.yes_ask_dollars is None:
        raise RejectedRecord("quote", "no_price", "it lacks a bid or an ask in dollars")

    bid = offered_price(prices.yes_bid_dollars)
    ask = offered_price(prices.yes_ask_dollars)
    offered_price(prices.last_price_dollars)
    if prices.yes_bid_size_fp == 0:
        bid = None
    if prices.yes_ask_size_fp == 0:
        ask = None

    return Quote(
        market_id=MarketId(f"kalshi:{ticker}"),
        at=at,
        bid=bid,
        ask=ask,
        mid=mid_price(bid, ask),
        last=prices.last_price_dollars or None,
        volume=volume,
    )


FIGURES = {"volume_24h": ("volume_24h_fp",), "open_interest": ("open_interest_fp",)}
"""The other figures on a market's page, which no longer states liquidity."""


def is_trading(page: KalshiPage, at: datetime) -> bool:
    """Tell whether a market can be traded: it may be paused, or have closed early."""
    return page.status == "active" and page.opens_at <= at < page.close_time


def quote_with_book(quote: Quote, raw: object) -> Quote:
    """Return the quote with the levels of a book: an ask for YES is a dollar less a bid for NO.

    An empty book where the page has prices contradicts it, and isn't believed.
    """
    book = member(raw, "orderbook_fp")
    bids = _levels(book, "yes_dollars")
    asks = [Level(ONE - level.price, level.shares) for level in _levels(book, "no_dollars")]
    has_price = quote.bid is not None or quote.ask is not None
    if has_price and not bids and not asks:
        raise RejectedRecord("quote", "empty_book", "its book is empty, though its page has prices")
    return with_levels(quote, bids, asks)


def _levels(book: object, side: str) -> list[Level]:
    """Return one side as sent, without levels of no size."""
    if not isinstance(book, dict) or not isinstance(book.get(side, ""), list | None):
        raise RejectedRecord("quote", "bad_book", f"its book has no list of {side}")
    return [level for level in map(_book_level, book[side] or []) if level.shares]


def _book_level(pair: object) -> Level:
    if not isinstance(pair, list) or len(pair) != 2:
        raise RejectedRecord("quote", "bad_book", f"a level of its book is {shown_value(pair)}")

    try:
        level = Level(amount(pair[0]), amount(pair[1]))
    except ValueError as error:
        raise RejectedRecord("quote", "bad_book", f"a level of its book: {error}") from None

    if not 0 < level.price < ONE:
        raise RejectedRecord("quote", "bad_book", f"its book has a level at {level.price / ONE:g} dollars")
    return level


class KalshiPast(WireRecord):
    """When a market may close at the latest, and how much of it was traded."""

    can_close_early: bool | None = None
    latest_expiration_time: Instant | None = None
    volume_fp: AnyAmount = None


def past_market(raw: object, page: KalshiPage, market: Market, at: datetime) -> PastMarket:
    """Return a market of the past; if it could close early, only its latest close was known in advance."""
    past = read_record(KalshiPast, raw, "market")
    latest_close = past.latest_expiration_time
    planned_close = page.close_time
    if past.can_close_early and latest_close:
        planned_close = max(planned_close, latest_close)

    stopped = None
    if page.status not in ("initialized", "inactive", "active") or page.close_time <= at:
        stopped = min(page.close_time, at)
    return PastMarket(replace(market, closes_at=planned_close), past.volume_fp or 0, stopped, raw=raw)


RESULTS = frozenset(("", "yes", "no", "scalar", "void"))
"""The possible results: none yet, a side, a value in between, or void with a refund."""


class KalshiEnding(WireRecord):
    """A market's progress towards settlement, and what it paid."""

    ticker: Name
    status: str
    result: MaybeText = ""
    settlement_value_dollars: MaybeAmount = None
    settlement_ts: Annotated[Instant | None, BeforeValidator(lambda value: value or None)] = None


def resolution(raw: object, at: datetime) -> Resolution | None:
    """Return a market's resolution once it is final; None before, if nothing is wrong."""
    ending = read_record(KalshiEnding, raw, "resolution")
    if ending.status in ("disputed", "amended"):
        raise waiting("disputed", f"its result is {ending.status}")
    if ending.status not in STATUSES:
        raise waiting("unknown_status", f"its status is {shown_value(ending.status)}")
    if ending.status != "finalized":
        return None
    if ending.result not in RESULTS:
        raise waiting("unknown_result", f"its result is {shown_value(ending.result)}")

    return Resolution(
        market_id=MarketId(f"kalshi:{ending.ticker}"),
        version=1,
        known_at=min(ending.settlement_ts or at, at),
        payout=_yes_payout(ending),
        source=f"kalshi: finalized, {ending.result or 'no word'}",
    )


def _yes_payout(ending: KalshiEnding) -> int | None:
    """Return what a YES contract paid; None where all stakes were refunded."""
    value = ending.settlement_value_dollars
    result = ending.result
    if result == "void":
        return None
    if value is None:
        raise waiting("no_value", "it is finalized without a value in dollars")
    if value > ONE or {"yes": ONE, "no": 0}.get(result, value) != value:
        words = f"its result is {shown_value(result)}, its value {value / ONE:g} dollars"
        raise waiting("contradiction", words)
    return value
