"""Small builders, so that a test reads as a sentence. Prices and dollars are given as text."""

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from markets.millionths import millionths
from markets.model import Level, Listing, Market, MarketId, Quote, Resolution, Snapshot
from markets.venue import Venue
from portfolio.ledger import fold, open_account
from portfolio.matching import OrderMatch, find_offers, match_levels
from portfolio.model import Action, Bet, Holdings, Rejection, Sale, Side
from portfolio.rules import Rules

NOW = datetime(2026, 1, 4, 12, tzinfo=UTC)
RAIN = MarketId("sim:rain")

Levels = Iterable[tuple[str, str]]
Result = TypeVar("Result")


def result_of(awaited: Awaitable[Result]) -> Result:
    """Return the result of a coroutine, or of another awaitable."""

    async def wait() -> Result:
        return await awaited

    return asyncio.run(wait())


def usd(amount: str | int) -> int:
    """Return dollars, shares or a price in millionths: `usd("0.40")`, `usd(500)`."""
    return millionths(amount)


def a_market(market_id: str = RAIN, **changes: Any) -> Market:
    """Return a market that opened a month ago and closes in a month."""
    market = Market(
        id=MarketId(market_id),
        event_id=f"{market_id}:event",
        question=f"Will {market_id} happen?",
        rules="YES if it happens.",
        category="weather",
        opens_at=NOW - timedelta(days=30),
        closes_at=NOW + timedelta(days=30),
    )
    return replace(market, **changes)


def a_quote(
    bid: str | None = "0.40",
    ask: str | None = "0.42",
    mid: str | None = None,
    *,
    market: str = RAIN,
    at: datetime = NOW,
    bids: Levels = (),
    asks: Levels = (),
    last: str | None = None,
    volume: str | None = None,
) -> Quote:
    """Return a quote, whose mid is halfway between bid and ask unless it is given."""
    figures = (bid, ask, mid, last, volume)
    below, above, middle, traded, known = (None if figure is None else usd(figure) for figure in figures)
    if middle is None and below is not None and above is not None:
        middle = (below + above) // 2
    prices = {"bid": below, "ask": above, "mid": middle, "last": traded}
    return Quote(MarketId(market), at, **prices, volume=known, bids=_levels(bids), asks=_levels(asks))


def quote_of(listing: Listing) -> Quote:
    """Return the quote of a listing that has one."""
    assert listing.quote is not None
    return listing.quote


def a_listing(
    bid: str | None = "0.40",
    ask: str | None = "0.42",
    mid: str | None = None,
    *,
    market: str = RAIN,
    at: datetime = NOW,
    bids: Levels = (),
    asks: Levels = (),
    last: str | None = None,
    volume: str | None = None,
    **changes: Any,
) -> Listing:
    """Return a market with a quote; other keywords change the market: `fee_rate`, `tick`, `closes_at` …"""
    quote = a_quote(bid, ask, mid, market=market, at=at, bids=bids, asks=asks, last=last, volume=volume)
    return Listing(a_market(market, **changes), quote)


def a_price(mid: str, market: str = RAIN, *, at: datetime = NOW, **changes: Any) -> Listing:
    """Return a market of which only a price is known: no bid, no ask, no book."""
    return a_listing(None, None, mid, market=market, at=at, **changes)


def a_book(bids: Levels, asks: Levels, market: str = RAIN, *, at: datetime = NOW, **changes: Any) -> Listing:
    """Return a market with a book, whose bid, ask and mid are those of its best levels."""
    below = _levels(bids)
    above = _levels(asks)
    bid = max(level.price for level in below)
    ask = min(level.price for level in above)
    quote = Quote(MarketId(market), at, bid, ask, (bid + ask) // 2, bids=below, asks=above)
    return Listing(a_market(market, **changes), quote)


def a_snapshot(*shown: Listing, held: Iterable[Listing] = (), at: datetime = NOW) -> Snapshot:
    """Return the snapshot of an instant, with one usual listing unless others are given."""
    held = tuple(held)
    return Snapshot(at, shown if shown or held else (a_listing(),), held)


def both_at(price: str) -> Snapshot:
    """Return the snapshot of two markets at one price: the usual one, and sim:sun."""
    return a_snapshot(a_price(price), a_price(price, "sim:sun"))


def a_resolution(payout: str | None, market: str = RAIN, version: int = 1, at: datetime = NOW) -> Resolution:
    """Return how a market ended: "1", "0", a fraction, or None for a refund."""
    return Resolution(MarketId(market), version, at, None if payout is None else usd(payout))


def a_bet(
    amount: str | int, side: Side = "YES", market: str = RAIN, limit: str | None = None, reason: str = ""
) -> Bet:
    """Return an order to spend this many dollars."""
    return Bet(MarketId(market), side, usd(amount), None if limit is None else usd(limit), reason)


def a_sale(
    shares: str | int | None = None,
    side: Side = "YES",
    market: str = RAIN,
    *,
    fraction: str | None = None,
    limit: str | None = None,
) -> Sale:
    """Return an order to sell: this many shares, a fraction, or all of it."""
    some, part, least = (None if size is None else usd(size) for size in (shares, fraction, limit))
    return Sale(MarketId(market), side, some, part, least)


def an_account(bankroll: str | int = 10_000, at: datetime = NOW) -> Holdings:
    """Return the holdings of an entrant that has just been given a bankroll."""
    return fold([open_account(usd(bankroll), at)])


def _levels(levels: Levels) -> tuple[Level, ...]:
    return tuple(Level(usd(price), usd(shares)) for price, shares in levels)


async def listed(venue: Venue, at: datetime) -> list[Listing]:
    """Return what a venue has on offer at an instant."""
    return list((await venue.catalogue(at)).listings)


def match_listing(
    action: Action, size: int, side: Side, listing: Listing, rules: Rules, limit: int | None = None
) -> OrderMatch | Rejection:
    """Buy for `size` dollars, or sell `size` shares, as far as prices and the limit allow."""
    offers = find_offers(action, side, listing, rules)
    if isinstance(offers, Rejection):
        return offers
    return match_levels(size, offers, limit)
