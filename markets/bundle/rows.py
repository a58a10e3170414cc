"""What a line of each file says: a market's page and its end, a price, a book, an end of its own."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from markets.bundle.fields import (
    MOST_MONEY,
    Record,
    amount,
    given,
    known_from,
    market_id,
    moment,
    price,
    said,
    text,
)
from markets.bundle.mistakes import Unmeant, shown
from markets.millionths import ONE
from markets.model import Level, Market, Quote, Resolution

PRICE_COLUMNS = ("venue", "id", "date", "prob_yes")
MORE_PRICE_COLUMNS = ("kind", "bid", "ask", "last", "volume")
END_COLUMNS = ("market", "version", "known_at", "payout")
MORE_END_COLUMNS = ("source",)

REFUND = "refund"
EMPTY = ("", "N/A")
"""Texts that say that there is none."""
UNSORTED = "unsorted"
TICK = 10_000
MOST_LEVELS = 10_000


@dataclass(frozen=True, slots=True)
class Page:
    """A market as a line describes it, and from when on; None where that was always known.

    The market's event is what the line calls it. Where it is silent, markets of one `background` may be
    one event.
    """

    market: Market
    seen: datetime | None
    background: str


def page(record: Record) -> Page:
    """The page of a line of `markets.jsonl`."""
    opens_at, closes_at = moment(record, "open"), moment(record, "close")
    if opens_at >= closes_at:
        raise Unmeant(
            f"open {shown(record['open'])} with close {shown(record['close'])}", "open before close"
        )
    question, background = said(record, "question"), text(record, "background")
    tick = given(record, "tick", price)
    market = Market(
        id=market_id(record),
        event_id=text(record, "event"),
        question=question,
        rules=text(record, "rules") if "rules" in record else _rules(record, background) or question,
        category=text(record, "category") if "category" in record else UNSORTED,
        opens_at=opens_at,
        closes_at=closes_at,
        tick=tick or TICK,
        fee_rate=given(record, "fee_rate", price) or 0,
        min_shares=given(record, "min_shares", amount) or 0,
    )
    return Page(market, moment(record, "seen") if record.get("seen") else None, background.strip())


def _rules(record: Record, background: str) -> str:
    more = (text(record, key) for key in ("market_resolution_criteria", "resolution_criteria"))
    return "\n\n".join(part for part in (background, *more) if part.strip() not in EMPTY)


def end_within(record: Record) -> Resolution | None:
    """The end that a line of `markets.jsonl` tells, if it tells one."""
    resolved = record.get("resolved", False)
    if resolved is not True:
        if resolved is not False or record.get("resolution") is not None:
            wrong = f"resolved {shown(resolved)} with resolution {shown(record.get('resolution'))}"
            raise Unmeant(wrong, "resolved true where there is a resolution, else false")
        return None
    return Resolution(
        market_id(record), 1, known_from(record, "resolution_date"), _payout(record, "resolution")
    )


def end(record: Record) -> Resolution:
    """The end that a line of `resolutions.csv` tells."""
    venue, _, own = said(record, "market").partition(":")
    market, version = market_id({"venue": venue, "id": own}), said(record, "version")
    if not (version.isascii() and version.isdigit() and len(version) <= 4):
        raise Unmeant(f"version {shown(version)}", "a whole number from 1 on")
    known_at, payout = known_from(record, "known_at"), _payout(record, "payout")
    return Resolution(market, int(version), known_at, payout, text(record, "source"))


def _payout(record: Record, key: str) -> int | None:
    if record.get(key) == REFUND:
        return None
    try:
        return price(record, key)
    except Unmeant as error:
        raise Unmeant(error.wrong, f'{error.meant}, or "{REFUND}"') from error


def quote(record: Record) -> Quote:
    """The price that a line of `prices.csv` tells. Its mid may be left out where there are others."""
    mid, bid, ask, last = (given(record, key, price) for key in ("prob_yes", "bid", "ask", "last"))
    if (mid, bid, ask, last) == (None, None, None, None):
        raise Unmeant(f"prob_yes {shown(record.get('prob_yes'))}", "a number from 0 to 1")
    known = known_from(record, "date")
    return Quote(market_id(record), known, bid, ask, mid, last, given(record, "volume", amount) or 0)


def book(record: Record) -> Quote:
    """The book of a line of `books.jsonl`, best first, with the prices that follow from it."""
    market, at = market_id(record), known_from(record, "at")
    bids = tuple(sorted(_levels(record, "bids"), key=lambda level: -level.price))
    asks = tuple(sorted(_levels(record, "asks"), key=lambda level: level.price))
    bid, ask = (bids[0].price if bids else None), (asks[0].price if asks else None)
    mid = None if bid is None or ask is None else (bid + ask) // 2
    return Quote(market, at, bid, ask, mid, bids=bids, asks=asks)


def _levels(record: Record, key: str) -> list[Level]:
    levels = record.get(key)
    if not isinstance(levels, list) or len(levels) > MOST_LEVELS:
        raise Unmeant(f"{key} {shown(levels)}", f"a list of at most {MOST_LEVELS:,} levels")
    return [_level(key, level) for level in levels]


def _level(key: str, level: Any) -> Level:
    if not isinstance(level, list) or len(level) != 2:
        raise Unmeant(f"{key} with {shown(level)}", 'a price and a number of shares, such as ["0.40", "120"]')
    pair = {"price": level[0], "shares": level[1]}
    found = Level(price(pair, "price"), amount(pair, "shares"))
    if not 0 < found.price < ONE or not 0 < found.shares <= MOST_MONEY:
        raise Unmeant(f"{key} with {shown(level)}", "a price between 0 and 1, and shares above 0")
    return found


def with_book(priced: Quote, booked: Quote) -> Quote:
    """A price and the book of the same instant as one quote. A price without bid and ask has the book's."""
    if priced.bid is None and priced.ask is None:
        mid = booked.mid if priced.mid is None else priced.mid
        priced = replace(priced, bid=booked.bid, ask=booked.ask, mid=mid)
    return replace(priced, bids=booked.bids, asks=booked.asks)
