"""Parsers for the lines of each file of a bundle, and for the single values in them."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from markets.bundle.files import ENDS, PRICES
from markets.bundle.model import BadBundleValue, shown_value
from markets.distributions import check_form_text, form_of, read_outcome
from markets.millionths import ONE, millionths
from markets.model import NEVER, Level, Market, MarketId, Quote, Resolution
from markets.venue import UNWRITABLE

COLUMNS = {
    PRICES: (("venue", "id", "date", "prob_yes"), ("kind", "bid", "ask", "last", "volume")),
    ENDS: (("market", "version", "known_at", "payout"), ("source", "answer")),
}
"""The required and the optional columns of each table."""
REFUND = "refund"
EMPTY = ("", "N/A")
"""Texts that stand for a missing value."""
UNSORTED = "unsorted"
TICK = 10_000
MOST_LEVELS = 10_000
DATE = re.compile(r"\d{4}-\d\d-\d\d")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)")
NUMBER = re.compile(r"-?\d{1,12}(\.\d{1,40})?(e[+-]?\d{1,2})?", re.IGNORECASE)
NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)
OWN_ID = re.compile(r"[!-~]{1,200}")
MOST_TEXT = 100_000
MOST_MONEY = 10**12 * ONE
YEARS = range(1970, 2200)
DAY = timedelta(days=1)
INSTANT = 'a date such as "2026-01-31", or an instant such as "2026-01-31T12:00:00Z"'
Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class BundlePage:
    """A market as a line describes it, and from when on; None where that was always known.

    Where it names no event, markets of one `background` may be one.
    """

    market: Market
    seen: datetime | None
    background: str


def page(record: Record) -> BundlePage:
    """Return the page in a line of `markets.jsonl`."""
    opens_at = moment(record, "open")
    closes_at = closing(record)
    if opens_at >= closes_at:
        raise BadBundleValue(
            f"open {shown_value(record['open'])} with close {shown_value(record['close'])}",
            "open before close",
        )

    question = text_or_empty(record, "question")
    background = text(record, "background")
    tick = has_value(record, "tick", price)
    market = Market(
        id=market_id(record),
        event_id=text(record, "event"),
        question=question,
        rules=_rules(record, background, question),
        category=text(record, "category") if "category" in record else UNSORTED,
        opens_at=opens_at,
        closes_at=closes_at,
        tick=tick or TICK,
        fee_rate=has_value(record, "fee_rate", price) or 0,
        min_shares=has_value(record, "min_shares", amount) or 0,
        story=text(record, "story"),
        slug=text(record, "slug"),
        event_slug=text(record, "event_slug"),
        tags=text(record, "tags"),
        form=form_text(record),
    )

    return BundlePage(market, moment(record, "seen") if record.get("seen") else None, background.strip())


def form_text(record: Record) -> str:
    """Return the form of a question that isn't yes or no, which a line has as an object; else nothing."""
    value = record.get("form")
    if value in (None, ""):
        return ""

    try:
        canonical_text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return check_form_text(canonical_text).text
    except (TypeError, ValueError) as error:
        raise BadBundleValue(f"form {shown_value(value)}: {error}", "the form of a question") from error


def _rules(record: Record, background: str, question: str) -> str:
    if "rules" in record:
        return text(record, "rules")

    more = (text(record, key) for key in ("market_resolution_criteria", "resolution_criteria"))
    return "\n\n".join(part for part in (background, *more) if part.strip() not in EMPTY) or question


def end_within(record: Record) -> Resolution | None:
    """Return the resolution in a line of `markets.jsonl`, if it holds one."""
    resolved = record.get("resolved", False)
    if resolved is not True:
        if resolved is not False or record.get("resolution") is not None:
            wrong = (
                f"resolved {shown_value(resolved)} with resolution {shown_value(record.get('resolution'))}"
            )
            raise BadBundleValue(wrong, "resolved true where there is a resolution, else false")
        return None
    market = market_id(record)
    known_at = known_from(record, "resolution_date")
    form = form_text(record)
    if not form:
        return Resolution(market, 1, known_at, _payout(record, "resolution"))

    answer = str(record.get("resolution", ""))
    if answer == REFUND:
        answer = ""
    return with_answer(Resolution(market, 1, known_at, None, answer=answer), form)


def end(record: Record) -> Resolution:
    """Return the resolution in a row of `resolutions.csv`."""
    venue, _, own_id = text_or_empty(record, "market").partition(":")
    market = market_id({"venue": venue, "id": own_id})
    version = text_or_empty(record, "version")
    if not (version.isascii() and version.isdigit() and len(version) <= 4):
        raise BadBundleValue(f"version {shown_value(version)}", "a whole number from 1 on")

    known_at = known_from(record, "known_at")
    payout = _payout(record, "payout")
    return Resolution(market, int(version), known_at, payout, text(record, "source"), text(record, "answer"))


def with_answer(end: Resolution, form: str) -> Resolution:
    """Return a resolution with its answer in canonical form; only a yes-or-no question has a payout."""
    if not form and end.answer:
        raise BadBundleValue(f"answer {shown_value(end.answer)}", "none, for a market of yes or no")
    if form and end.payout is not None:
        raise BadBundleValue("a payout of a question that is not of yes or no", f"{REFUND}, and an answer")
    if not end.answer:
        return end

    try:
        return replace(end, answer=read_outcome(form_of(form), end.answer))
    except ValueError as error:
        raise BadBundleValue(f"answer {shown_value(end.answer)}", "what its question can come to") from error


def _payout(record: Record, key: str) -> int | None:
    if record.get(key) == REFUND:
        return None
    try:
        return price(record, key)
    except BadBundleValue as error:
        raise BadBundleValue(error.wrong, f'{error.meant}, or "{REFUND}"') from error


def quote(record: Record) -> Quote:
    """Return the quote in a row of `prices.csv`; its mid may be missing where it has other prices."""
    mid, bid, ask, last = (has_value(record, key, price) for key in ("prob_yes", "bid", "ask", "last"))
    if (mid, bid, ask, last) == (None,) * 4:
        raise BadBundleValue(f"prob_yes {shown_value(record.get('prob_yes'))}", "a number from 0 to 1")

    at = known_from(record, "date")
    return Quote(market_id(record), at, bid, ask, mid, last, has_value(record, "volume", amount))


def book(record: Record) -> Quote:
    """Return the book in a line of `books.jsonl`, best levels first, and the prices that it implies."""
    market = market_id(record)
    at = known_from(record, "at")
    bids = tuple(sorted(_levels(record, "bids"), key=lambda level: -level.price))
    asks = tuple(sorted(_levels(record, "asks"), key=lambda level: level.price))
    bid = bids[0].price if bids else None
    ask = asks[0].price if asks else None
    mid = None if bid is None or ask is None else (bid + ask) // 2

    return Quote(market, at, bid, ask, mid, bids=bids, asks=asks)


def _levels(record: Record, key: str) -> list[Level]:
    levels = record.get(key)
    if not isinstance(levels, list) or len(levels) > MOST_LEVELS:
        raise BadBundleValue(f"{key} {shown_value(levels)}", f"a list of at most {MOST_LEVELS:,} levels")
    return [_level(key, level) for level in levels]


def _level(key: str, level: Any) -> Level:
    found = f"{key} with {shown_value(level)}"
    if not isinstance(level, list) or len(level) != 2:
        raise BadBundleValue(found, 'a price and a number of shares, such as ["0.40", "120"]')

    fields = {"price": level[0], "shares": level[1]}
    parsed = Level(price(fields, "price"), amount(fields, "shares"))
    if not 0 < parsed.price < ONE or not 0 < parsed.shares <= MOST_MONEY:
        raise BadBundleValue(found, "a price between 0 and 1, and shares above 0")
    return parsed


def with_book(priced: Quote, booked: Quote) -> Quote:
    """Merge a price with the book of the same instant; a price without bid and ask takes the book's."""
    if priced.bid is None and priced.ask is None:
        mid = booked.mid if priced.mid is None else priced.mid
        priced = replace(priced, bid=booked.bid, ask=booked.ask, mid=mid)
    return replace(priced, bids=booked.bids, asks=booked.asks)


def moment(record: Record, key: str) -> datetime:
    """Return an instant; a date counts as its first moment in UTC."""
    return _instant(record, key, timedelta())


def closing(record: Record) -> datetime:
    """Return when a market closes; NEVER for a year beyond those that a bundle may hold."""
    value = str(record.get("close"))
    try:
        is_beyond_allowed_years = (
            DATE.match(value) is not None and date.fromisoformat(value[:10]).year > YEARS[-1]
        )
    except ValueError:
        is_beyond_allowed_years = False

    if is_beyond_allowed_years:
        return NEVER
    return moment(record, "close")


def bears_date(record: Record, key: str) -> bool:
    """Tell whether a value is a date without a time."""
    return DATE.fullmatch(str(record.get(key))) is not None


def known_from(record: Record, key: str) -> datetime:
    """Return when a value becomes known: at its instant, or for a date at the end of that day."""
    return _instant(record, key, DAY)


def _instant(record: Record, key: str, after_date: timedelta) -> datetime:
    value = record.get(key)
    try:
        if isinstance(value, str) and DATE.fullmatch(value):
            instant = datetime.combine(date.fromisoformat(value), time(), UTC) + after_date
        elif isinstance(value, str) and TIMESTAMP.fullmatch(value):
            instant = datetime.fromisoformat(value).astimezone(UTC)
        else:
            raise ValueError
    except (ValueError, OverflowError) as error:
        raise _bad_value(key, value, INSTANT) from error

    if instant.year not in YEARS:
        raise _bad_value(key, value, f"a year from {YEARS[0]} to {YEARS[-1]}")
    return instant


def price(record: Record, key: str) -> int:
    """Return a price or a probability, from 0 to 1."""
    return _number(record, key, ONE, "a number from 0 to 1")


def amount(record: Record, key: str) -> int:
    """Return an amount of dollars or shares, from 0 on."""
    return _number(record, key, MOST_MONEY, "a number from 0 to a trillion")


def has_value(record: Record, key: str, reader: Callable[[Record, str], int]) -> int | None:
    """Return an optional number; None if it is missing."""
    if record.get(key) in (None, ""):
        return None
    return reader(record, key)


def _number(record: Record, key: str, most: int, meant: str) -> int:
    value = record.get(key)
    text = str(value) if isinstance(value, int | Decimal | str) and not isinstance(value, bool) else ""
    number = -1
    if NUMBER.fullmatch(text):
        number = millionths(text)

    if not 0 <= number <= most:
        raise _bad_value(key, value, meant)
    return number


def text(record: Record, key: str) -> str:
    """Return an optional text; empty if it is missing."""
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MOST_TEXT or UNWRITABLE.search(value):
        raise _bad_value(
            key, value, f"a text of at most {MOST_TEXT:,} characters that can be written as UTF-8"
        )
    return value


def text_or_empty(record: Record, key: str) -> str:
    """Return a required text."""
    value = text(record, key)
    if not value.strip():
        raise _bad_value(key, record.get(key), "a text")
    return value


def market_id(record: Record) -> MarketId:
    """Return the id of the market that a line is about, from its `venue` and its `id` there."""
    venue = record.get("venue")
    own_id = record.get("id")
    if not isinstance(venue, str) or not NAME.fullmatch(venue):
        raise _bad_value("venue", venue, "a venue's name in letters, digits or . _ -")
    if not isinstance(own_id, str) or not OWN_ID.fullmatch(own_id):
        raise _bad_value("id", own_id, "a market's id at its venue, up to 200 characters without spaces")
    return MarketId(f"{venue}:{own_id}")


def _bad_value(key: str, value: object, meant: str) -> BadBundleValue:
    return BadBundleValue(f"{key} {shown_value(value)}", meant)
