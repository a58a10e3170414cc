"""Markets as a list: which are asked for, and the table of them."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from markupsafe import Markup

from arena.record.queries.market_history import read_event_questions, read_price_lines
from arena.record.queries.markets import (
    BEGINNING,
    ForecastSpread,
    ListedMarket,
    MarketInterest,
    ShowingRound,
    read_forecast_spreads,
    read_last_shown,
    read_listed_markets,
    read_market_interest,
    read_newest_instant,
    was_any_shown,
)
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.world import QuoteRow
from arena.scores.slices import CATEGORIES
from dashboard.html import HtmlCell, html_table, number, picture, tag, time, venue_cells, words
from dashboard.pages import Address, in_app, way
from dashboard.record import NULLS
from dashboard.svg import CHOSEN, SMALL, Scale, interval, sparkline
from dashboard.words import money, outcome, percent
from markets.millionths import ONE
from markets.model import MarketId
from markets.venue import venue_page

Status = Literal["open", "waiting", "resolved"]
Order = Literal["shown", "closes", "volume", "apart"]

MOST = 50
"""So many rows a page has."""

WEIGHED, COMPARED = 250, 100
"""Among so many, those shown last, are the most traded and the first to close looked for, and those where
agents disagree most."""

INSTANTS, BACK = 20, timedelta(days=30)
"""At so many instants a sparkline looks at the price, over so long a time."""


@dataclass(frozen=True, slots=True)
class MarketFilter:
    """What the list is to hold: `status` is one of `Status` or nothing at all; `page` counts from 1."""

    search: str = ""
    status: str = ""
    category: str = ""
    event: str = ""
    order: Order = "shown"
    page: int = 1


@dataclass(frozen=True, slots=True)
class FilterMenu:
    """What the list can be narrowed to; `about` is what a market of the event asks, if one is named."""

    is_empty: bool
    categories: tuple[str, ...]
    about: str | None


@dataclass(frozen=True, slots=True)
class MarketLine:
    """A market in the list. Prices are in millionths, `prices` oldest first."""

    market: ListedMarket
    status: Status
    price: int | None
    volume: int | None
    shown: ShowingRound
    interest: MarketInterest
    spread: ForecastSpread | None
    prices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MarketList:
    """A page of a list, and on how many markets its pages are.

    If it is `whole` those are all that are as asked for; else the newest of them. `more` follow on a page.
    """

    lines: tuple[MarketLine, ...]
    markets: int
    whole: bool
    more: bool = False


@dataclass(frozen=True, slots=True)
class MarketMatch:
    """A market that is as asked for."""

    market: ListedMarket
    status: Status
    shown: ShowingRound


Quotes = Mapping[str, Any]
Matches = Mapping[MarketId, MarketMatch]


def read_menu(connection: Connection, event: str) -> FilterMenu:
    """What can be chosen beside words to search for."""
    categories = CATEGORIES.read(connection)
    return FilterMenu(
        is_empty=not was_any_shown(connection),
        categories=() if categories is None else categories.value,
        about=read_event_questions(connection, [event]).get(event) if event else None,
    )


def read_market_list(connection: Connection, asked: MarketFilter) -> MarketList:
    """The markets that are as asked for, the first of them with all their figures."""
    start, order = MOST * (asked.page - 1), SORTED.get(asked.order)
    enough = max(ENOUGH.get(asked.order, 0), start + MOST)
    matching, whole = _matching(connection, asked, enough)
    chosen = list(matching) if order is None else order(connection, matching)
    lines = market_lines(connection, [matching[id] for id in chosen[start : start + MOST]])
    more = len(chosen) > start + MOST or (order is None and not whole)
    return MarketList(tuple(lines), len(chosen), whole, more)


def _matching(
    connection: Connection, asked: MarketFilter, enough: int
) -> tuple[dict[MarketId, MarketMatch], bool]:
    """The markets that are as asked for, those shown last first, and whether there are no others."""
    found, now = dict[MarketId, MarketMatch](), read_newest_instant(connection, BEGINNING)
    for shown in read_last_shown(connection):
        for match in _of_some(connection, shown, asked, now):
            found[match.market.id] = match
        if len(found) > enough:
            return dict(list(found.items())[:enough]), False
    return found, True


def _of_some(
    connection: Connection, shown: Mapping[MarketId, ShowingRound], asked: MarketFilter, now: datetime
) -> list[MarketMatch]:
    listed = read_listed_markets(connection, list(shown))
    all_ = [MarketMatch(market, _status(market, now), shown[market.id]) for market in listed]
    return [match for match in all_ if _matches(match, asked)]


def _status(market: ListedMarket, now: datetime) -> Status:
    if market.ended:
        return "resolved"
    return "waiting" if market.closes_at <= now else "open"


def _matches(match: MarketMatch, asked: MarketFilter) -> bool:
    market, question = match.market, match.market.question.casefold()
    return (
        asked.status in ("", match.status)
        and asked.category in ("", market.category)
        and asked.event in ("", market.event_id)
        and all(word in question for word in asked.search.casefold().split())
    )


def _by_volume(connection: Connection, matching: Matches) -> list[MarketId]:
    quotes = _quotes(connection, list(matching))
    volumes = {id: quote.volume for id, quote in quotes.items() if quote.volume is not None}
    return sorted(matching, key=lambda id: (-volumes.get(id, -1), id))


def _by_spread(connection: Connection, matching: Matches) -> list[MarketId]:
    spreads = read_forecast_spreads(connection, {id: match.shown for id, match in matching.items()}, NULLS)
    apart = {id: spread.high - spread.low for id, spread in spreads.items() if spread.agents > 1}
    return sorted(apart, key=lambda id: (-apart[id], id))


def _by_closing(_: Connection, matching: Matches) -> list[MarketId]:
    return sorted(matching, key=lambda id: (matching[id].market.closes_at, id))


ENOUGH: Mapping[Order, int] = {"closes": WEIGHED, "volume": WEIGHED, "apart": COMPARED}
"""From so many markets an order is made, those shown last."""
SORTED: Mapping[Order, Callable[[Connection, Matches], list[MarketId]]] = {
    "closes": _by_closing,
    "volume": _by_volume,
    "apart": _by_spread,
}
"""Other orders than that in which markets are found."""


def all_markets(connection: Connection) -> list[MarketMatch]:
    """Every market that was shown, those shown last first."""
    return list(_matching(connection, MarketFilter(), sys.maxsize)[0].values())


def market_lines(connection: Connection, chosen: Sequence[MarketMatch]) -> list[MarketLine]:
    """These markets with all their figures."""
    ids = [match.market.id for match in chosen]
    quotes, interest = _quotes(connection, ids), read_market_interest(connection, ids)
    spreads = read_forecast_spreads(connection, {match.market.id: match.shown for match in chosen}, NULLS)
    now = read_newest_instant(connection, BEGINNING)
    ends = {match.market.id: min(match.market.closes_at, now) for match in chosen}
    prices = read_price_lines(connection, ends, BACK, INSTANTS)
    return [
        MarketLine(
            match.market,
            match.status,
            _price(quotes.get(match.market.id)),
            quotes[match.market.id].volume if match.market.id in quotes else None,
            match.shown,
            interest.get(match.market.id, MarketInterest(0, 0)),
            spreads.get(match.market.id),
            tuple(prices.get(match.market.id, ())),
        )
        for match in chosen
    ]


def _quotes(connection: Connection, ids: Sequence[MarketId]) -> Quotes:
    return newest_rows(connection, QuoteRow, ids, "at", "mid", "last", "volume")


def _price(quote: Any) -> int | None:
    """The mid; where there is none, the last trade."""
    if quote is None:
        return None
    price: int | None = quote.last if quote.mid is None else quote.mid
    return price


COLUMNS = {
    "question": words("Question", "What the market asks, by its newest page."),
    "price": number("Price ¢", "%.1f", "What YES costs now, in cents: the mid, else the last trade."),
    "trend": picture("30 days", "The price over the last 30 days before now, or before the market closed."),
    "median": number("Median %", "%.0f", "The median of what agents stated in the newest round."),
    "range": picture(
        "Agents and price",
        "Bar: from the lowest to the highest agent. Point: their median. Line: the price.",
    ),
    "spread": number(
        "Spread pp",
        "%.0f",
        "Between the lowest and the highest probability that agents stated in the newest round, in points "
        "of percent; without agents that hold no opinion (market, constant, random, favourite).",
    ),
    "status": words("Status", "Open; closed while the result is awaited; or how it resolved."),
    "closes": time("Closes", "When the market closes, in UTC.", "day"),
    "held": number("Positions", "localized", "Open positions: an agent's on one side, in each cohort."),
    "trades": number("Trades", "localized", "Purchases and sales of all agents in all cohorts."),
    "venue": words("Venue", "Leads to what the venue itself says of the market."),
    "volume": number("Volume $", "compact", "What everyone has traded at the venue, in dollars."),
}
"""The columns of the list. Related markets have some of them, and one is there for known venues alone."""
LISTED = tuple(key for key in COLUMNS if key != "venue")


def market_table(
    lines: Sequence[MarketLine], keys: Sequence[str] = LISTED, address: Address = in_app
) -> Markup:
    """Markets, a row each, which leads to its page."""
    rows = [_row(line) for line in lines]
    data: dict[str, list[object]] = {key: [row[key] for row in rows] for key in keys}
    markets = (line.market for line in lines)
    data |= venue_cells(venue_page(x.id, x.event_id, x.slug, x.event_slug) for x in markets)
    hrefs = [address(way("market", market=line.market.id)) for line in lines]
    return html_table(data, COLUMNS, "Markets: one row each", hrefs, sortable=True)


def _row(line: MarketLine) -> dict[str, object]:
    market, spread = line.market, line.spread
    several = spread if spread is not None and spread.agents > 1 else None
    return {
        "question": market.question,
        "price": percent(line.price),
        "trend": sparkline(line.prices, CHOSEN[0]),
        "median": percent(spread.median) if spread else None,
        "range": _range(spread, line.price),
        "spread": percent(several.high - several.low) if several else None,
        "status": status_cell(line.status, market),
        "closes": market.closes_at,
        "held": line.interest.held,
        "trades": line.interest.trades,
        "volume": money(line.volume),
    }


def _range(spread: ForecastSpread | None, price: int | None) -> Markup | None:
    """What agents say, from none to certain, around the price."""
    if spread is None or price is None:
        return None
    low, middle, high = (value - price for value in (spread.low, spread.median, spread.high))
    return interval(middle, low, high, CHOSEN[0], Scale(-price, ONE - price, 7, SMALL[0] - 7))


def status_cell(status: Status, market: ListedMarket) -> HtmlCell:
    """How a market stands, in a word: how it resolved, once it has."""
    said = outcome(market.ended, market.payout) or {"waiting": "closed"}.get(status, status)
    said = f"paid {said}" if said.endswith("¢") else said
    return HtmlCell(tag(said, said.lower()), said)
