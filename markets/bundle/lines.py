"""Lines of a bundle's files, each tried by reading it back: it must say just what was meant."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from markets.bundle import rows
from markets.bundle.mistakes import Unmeant, shown
from markets.canonical import stamp
from markets.millionths import decimal
from markets.model import Level, Market, Quote, Resolution

Row = dict[str, object]
T = TypeVar("T")


def page_line(market: Market, at: datetime) -> Row:
    """The line of `markets.jsonl` for a market's page as it read at an instant."""
    venue, _, own = market.id.partition(":")
    row: Row = {
        "venue": venue,
        "id": own,
        "question": market.question,
        "rules": market.rules,
        "category": market.category,
        "event": market.event_id,
        "open": stamp(market.opens_at),
        "close": stamp(market.closes_at),
        "seen": stamp(at),
        "tick": str(decimal(market.tick)),
        "fee_rate": str(decimal(market.fee_rate)),
        "min_shares": str(decimal(market.min_shares)),
    }
    return _the_same(row, rows.page(row).market, market)


def price_line(quote: Quote) -> Row:
    """The row of `prices.csv` for a quote."""
    venue, _, own = quote.market_id.partition(":")
    row: Row = {"venue": venue, "id": own, "date": stamp(quote.at), "kind": "seen"}
    prices = {"prob_yes": quote.mid, "bid": quote.bid, "ask": quote.ask, "last": quote.last}
    row |= {name: "" if value is None else str(decimal(value)) for name, value in prices.items()}
    row["volume"] = str(decimal(quote.volume))
    made = rows.quote(row)
    booked = rows.with_book(made, rows.book(book_line(quote))) if quote.bids or quote.asks else made
    return _the_same(row, booked, quote)


def book_line(quote: Quote) -> Row:
    """The line of `books.jsonl` for a quote that has a book."""
    venue, _, own = quote.market_id.partition(":")
    sides = {"bids": _levels(quote.bids), "asks": _levels(quote.asks)}
    return {"venue": venue, "id": own, "at": stamp(quote.at), **sides}


def _levels(levels: Iterable[Level]) -> list[list[str]]:
    return [[str(decimal(level.price)), str(decimal(level.shares))] for level in levels]


def end_line(end: Resolution) -> Row:
    """The row of `resolutions.csv` for how a market ended. Its source is kept on one line."""
    end = replace(end, source=" ".join(end.source.split()))
    payout = rows.REFUND if end.payout is None else str(decimal(end.payout))
    row: Row = {
        "market": end.market_id,
        "version": str(end.version),
        "known_at": stamp(end.known_at),
        "payout": payout,
        "source": end.source,
    }
    return _the_same(row, rows.end(row), end)


def _the_same(row: Row, read_back: T, meant: T) -> Row:
    if read_back != meant:
        raise Unmeant(shown(row), "what reads back as the same")
    return row
