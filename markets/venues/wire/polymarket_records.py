"""Polymarket's records of markets as Gamma sends them, and their conversion to ours. All pure.

Gamma writes numbers as text, lists as text, and outcomes in any order;
`markets/venues/wire/polymarket_requests.py` asks.
"""

import json
import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, ConfigDict, PlainValidator
from pydantic.alias_generators import to_camel

from markets.millionths import ONE, decimal, millionths
from markets.model import NEVER, Market, MarketId
from markets.stories import dated_subject
from markets.venues.wire.fields import (
    DescriptiveText,
    MaybeText,
    Name,
    RejectedRecord,
    Text,
    WireRecord,
    instant,
    is_name,
    number,
    reader_with_default,
    shown_value,
)

LONGEST_LIST = 1_000
"""The most characters of a list of two that is sent as text."""
_WRITTEN = frozenset({int, float, str})
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,40})?")


def figure(value: object) -> int:
    """Return a number, sent as such or as text, in millionths."""
    if type(value) in _WRITTEN:
        return _figure(value)
    return number(value)


@lru_cache(maxsize=4_096, typed=True)  # prices and steps; volumes are all different
def _figure(value: object) -> int:
    if isinstance(value, str):
        if not _DECIMAL.fullmatch(value):
            raise ValueError(f"{shown_value(value)} is not a number of at least 0")
        return millionths(value)
    return number(value)


def texts(value: object) -> tuple[str, ...]:
    """Return a list of texts, which on this wire mostly comes as text itself."""
    if isinstance(value, str):
        return _parse_list(value)
    return _check_texts(value)


@lru_cache(maxsize=4096)
def _parse_list(text: str) -> tuple[str, ...]:
    try:
        return _check_texts(json.loads(text) if len(text) <= LONGEST_LIST else None)
    except (ValueError, RecursionError):
        raise ValueError(f"{shown_value(text)} is not a list of strings") from None


def _check_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{shown_value(value)} is not a list of strings")
    return tuple(value)


def slugs(value: object) -> tuple[str, ...]:
    """Return the slugs of a market's tags."""
    named = (tag.get("slug") for tag in _records(value))
    return tuple([slug for slug in named if isinstance(slug, str)])


class PolymarketEvent(NamedTuple):
    """What a market is about; an augmented event may get more outcomes, `game` is a contest on the field."""

    event: str
    augmented: bool
    title: str
    game: str
    slug: str = ""


def event_of_market(value: object) -> PolymarketEvent | None:
    """Return the event of a market: the first of them, if it has several."""
    events = _records(value)
    if not events:
        return None

    name = events[0].get("id")
    if not isinstance(name, str) or not is_name(name):
        raise ValueError(f"{shown_value(name)} is not a valid event id")

    augmented = any(event.get("negRiskAugmented") is True for event in events)
    title = events[0].get("title")
    if not isinstance(title, str):
        title = ""
    game = game_name(events[0].get("gameId"))
    slug = slug_of(events[0].get("slug"))
    return PolymarketEvent(name, augmented, title, game, slug)


def slug_of(value: object) -> str:
    """Return a slug, or "" if the value isn't one."""
    if isinstance(value, str) and is_name(value):
        return value
    return ""


def game_name(value: object) -> str:
    """Return the venue's id of a game, or "" if the value isn't one."""
    if type(value) is int:
        return str(value)
    return slug_of(value)


class PolymarketFees(NamedTuple):
    """A taker's fee: rate · (p · (1 − p)) ^ exponent a share."""

    rate: int | None
    exponent: int | None


def fees(value: object) -> PolymarketFees | None:
    """Return the fees of a market, where it states them."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"{shown_value(value)} is not a record")
    return PolymarketFees(_maybe_figure(value.get("rate")), _maybe_figure(value.get("exponent")))


def _records(value: object) -> list[dict[str, object]]:
    if value is None:
        return []
    if not isinstance(value, list) or not set(map(type, value)) <= {dict}:
        raise ValueError(f"{shown_value(value)} is not a list of records")
    return value


def _maybe_figure(value: object) -> int | None:
    if value is None or value == "":
        return None
    return figure(value)


def _maybe_instant(value: object) -> datetime | None:
    if value is None or value == "":
        return None
    return instant(value)


# plain validators: pydantic's second check would dominate the time for thousands of records
Figure = Annotated[int | None, PlainValidator(_maybe_figure)]
"""A number that may be missing."""
AnyFigure = Annotated[int | None, PlainValidator(reader_with_default(_maybe_figure, None))]
"""A number on which no price depends; unknown where it is missing or makes no sense."""
When = Annotated[datetime | None, PlainValidator(_maybe_instant)]
"""A time that may be missing."""
AnyTime = Annotated[datetime | None, PlainValidator(reader_with_default(_maybe_instant, None))]
"""A time on which little depends; unknown where it is missing or makes no sense."""
Texts = Annotated[tuple[str, ...], PlainValidator(texts)]
Pair = Annotated[tuple[str, str], BeforeValidator(texts)]
"""The names of a market's two outcomes."""
Slugs = Annotated[tuple[str, ...], PlainValidator(reader_with_default(slugs, ()))]
Events = Annotated[PolymarketEvent | None, PlainValidator(event_of_market)]
Schedule = Annotated[PolymarketFees | None, PlainValidator(fees)]


class GammaRecord(WireRecord):
    """A record of Gamma's, whose names are written likeThis."""

    model_config = ConfigDict(alias_generator=to_camel)


@lru_cache(maxsize=4096)
def yes_place(outcomes: tuple[str, str]) -> int:
    """Return the index of the outcome YES: the one of that name, else the first."""
    first, second = side_names(outcomes)
    if not first or not second or first == second:
        raise ValueError(f"its outcomes are {shown_value(', '.join(outcomes))}: they can't be told apart")
    return int((first, second) == ("no", "yes"))


def side_names(outcomes: tuple[str, str]) -> tuple[str, str]:
    """Return the names of two outcomes, normalized for comparison."""
    return outcomes[0].strip().casefold(), outcomes[1].strip().casefold()


def question_of(question: str, outcomes: tuple[str, str]) -> str:
    """Return the question; where the outcomes have names, with what YES and NO stand for."""
    sides = _named_sides(outcomes)
    if not sides:
        return question
    return f"{question.strip()} {sides}"


@lru_cache(maxsize=4096)
def _named_sides(outcomes: tuple[str, str]) -> str:
    if set(side_names(outcomes)) == {"yes", "no"}:
        return ""
    return f"(YES: {outcomes[0].strip()}, NO: {outcomes[1].strip()})"


PREFIX = "polymarket:"
USUAL_FEE = 50_000
"""The rate of a market that charges a fee without stating it."""
FINEST = 100
COARSEST = 100_000
DECIDED = 5_000
"""After its nominal end, a market with a price this near to 0 or a dollar counts as decided."""
RESOLVING = frozenset({"proposed", "disputed", "challenged", "resolved", "settled"})
"""The oracle's states of a market that is being resolved."""
WEEK = timedelta(days=7)
PLACEHOLDER = re.compile(
    r"(?:Other|(?:Person|Individual|Candidate|Nominee|Player|Team|Club|Country|Party|Company|Organization"
    r"|Artist|Album|Song|Movie|Film|Show|Model|Option|Outcome|Placeholder) [A-Z]{1,2})"
)
CATEGORIES = {
    "sports": "sports", "esports": "sports", "crypto": "crypto", "weather": "weather", "economy": "economy",
    "finance": "finance", "business": "finance", "tech": "tech", "ai": "tech", "science": "science",
    "pop-culture": "culture", "culture": "culture", "geopolitics": "geopolitics", "elections": "politics",
    "politics": "politics", "world": "world",
}  # fmt: skip
"""Our category by tag; the first of these tags that a market has counts."""


class PolymarketPage(GammaRecord):
    """A market's page."""

    id: Name
    question: Text
    outcomes: Pair
    closed: bool
    active: bool | None = None
    archived: bool | None = None
    accepting_orders: bool | None = None
    enable_order_book: bool | None = None
    description: MaybeText = ""
    category: DescriptiveText = ""
    start_date: When = None
    created_at: str | None = None
    end_date: When = None
    order_price_min_tick_size: Figure = None
    order_min_size: Figure = None
    fees_enabled: bool | None = None
    fee_schedule: Schedule = None
    tags: Slugs = ()
    events: Events = None
    slug: Annotated[str, PlainValidator(slug_of)] = ""
    game_id: Annotated[str, PlainValidator(game_name)] = ""
    group_item_title: MaybeText = ""
    neg_risk_other: bool | None = None
    uma_resolution_status: MaybeText = ""


def unplayable(page: PolymarketPage) -> RejectedRecord | None:
    """Return why a market can't be played, or None: its outcomes are ambiguous, or it is a placeholder."""
    try:
        yes_place(page.outcomes)
    except ValueError as error:
        return RejectedRecord("market", "bad_outcomes", str(error))

    is_augmented = page.events is not None and page.events.augmented
    is_unnamed = is_augmented and PLACEHOLDER.fullmatch(page.group_item_title.strip())
    if page.neg_risk_other or is_unnamed:
        title = page.group_item_title or page.question
        return RejectedRecord("market", "placeholder", f"{shown_value(title)} is only a placeholder")
    return None


def left_out(page: PolymarketPage, mid: int | None, at: datetime) -> str:
    """Return why an open market is not on offer, or "" if it is.

    Past its nominal end and without doubt in its price it is decided, though the venue still calls it open.
    """
    if not is_trading(page):
        return "not trading"
    if page.uma_resolution_status.casefold() in RESOLVING:
        return "being resolved"

    is_past_nominal_end = page.end_date is not None and page.end_date <= at
    if is_past_nominal_end and mid is not None and not DECIDED < mid < ONE - DECIDED:
        return "decided"
    return ""


def is_trading(page: PolymarketPage) -> bool:
    """Tell whether a market can be traded; `active` stays true after its end, so it isn't enough."""
    wanted = (page.active, page.accepting_orders, page.enable_order_book)
    return not page.closed and not page.archived and False not in wanted


def fee_rate(page: PolymarketPage) -> int:
    """Return our fee rate, for rate · p · (1 − p); the order book's base fee is something else."""
    if page.fees_enabled is False:
        return 0

    fees = page.fee_schedule
    if fees is None or fees.rate is None:
        return USUAL_FEE
    if fees.exponent not in (None, ONE) or fees.rate > ONE:
        raise RejectedRecord("market", "unknown_fee", "its fee type is unknown: using the usual fees")
    return fees.rate


def expected_close(page: PolymarketPage, at: datetime) -> datetime:
    """Return when a market closes: at its nominal end, or whole weeks later while it still trades."""
    nominal = page.end_date
    if nominal is None or nominal > at or not is_trading(page):
        return nominal or NEVER
    return nominal + ((at - nominal) // WEEK + 1) * WEEK


def market(page: PolymarketPage, rate: int, at: datetime) -> Market:
    """Return a market of an event, as of an instant; one without an event is its own."""
    tick = page.order_price_min_tick_size
    if not page.question.strip():
        raise RejectedRecord("market", "no_question", "its question is empty")
    if tick is not None and not FINEST <= tick <= COARSEST:
        raise RejectedRecord("market", "bad_tick", f"its prices go in steps of {decimal(tick)} dollars")

    return Market(
        id=MarketId(prefixed(page.id)),
        event_id=prefixed(page.events.event) if page.events else f"{PREFIX}alone-{page.id}",
        question=question_of(page.question, page.outcomes),
        rules=page.description or page.question,
        category=category(page.tags) or page.category.lower() or "other",  # old pages have one in words
        opens_at=page.start_date or _created_at(page),
        closes_at=expected_close(page, at),
        tick=tick or 10_000,
        fee_rate=rate,
        min_shares=page.order_min_size or 0,
        story=story_of(page.events, page.game_id, page.end_date or NEVER),
        slug=page.slug,
        event_slug=page.events.slug if page.events else "",
        tags=_joined(page.tags),
    )


@lru_cache(maxsize=4096)
def prefixed(name: str) -> str:
    """Return our id of a record; cached, so markets of an event share one string."""
    return f"{PREFIX}{name}"


@lru_cache(maxsize=4096)
def _joined(tags: tuple[str, ...]) -> str:
    return ",".join(filter(is_name, tags))


def story_of(event: PolymarketEvent | None, game: str, ends_at: datetime) -> str:
    """Return the game of a market, else its event's title with its date; empty for a title without one."""
    if event is not None and not game:
        game = event.game
    if game:
        return f"{PREFIX}game:{game}"
    if event is None:
        return ""

    about = dated_subject(event.title.replace("___", "$1"), ends_at)
    if not about:
        return ""
    return f"{PREFIX}{about}"


def _created_at(page: PolymarketPage) -> datetime:
    try:
        return instant(page.created_at)
    except ValueError:
        raise RejectedRecord("market", "no_open_time", "it doesn't say when it opened") from None


@lru_cache(maxsize=4096)
def category(tags: tuple[str, ...]) -> str | None:
    """Return the category that these tags name, or None."""
    return next((ours for tag, ours in CATEGORIES.items() if tag in tags), None)
