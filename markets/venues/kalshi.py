"""Kalshi, which has real dollars. It is read without a key.

Its volume counts contracts of one dollar. Books are read for chosen markets only. A contract's fee is
0.07 · p · (1 − p), the general table of its fee schedule, times what the event or its series says.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from pydantic import Field

from markets.model import NEVER, Listing, MarketId, Quote, Resolution
from markets.past import PastMarket, PastRequest, PastSelection
from markets.registry import PYTHON_ONLY
from markets.venue import EVERY_MARKET, Catalogue, CatalogueFilter, Report, VenueSettings, ignore_report
from markets.venues.wire import kalshi_records as wire
from markets.venues.wire import kalshi_requests as asking
from markets.venues.wire.fields import (
    RecordSorter,
    amount,
    book_gap,
    check_volume,
    own_names,
    read_record,
    with_figures,
)
from markets.venues.wire.http import HttpClient, KeptAnswers, Sleep
from markets.venues.wire.kalshi_records import (
    USUAL_FEE,
    KalshiEvent,
    KalshiSeries,
    fee_rate,
    nested_markets,
    quote_with_book,
    resolution,
)
from markets.venues.wire.kalshi_requests import candle_end, candle_quote, candles
from markets.venues.wire.paging import CatalogueReader, new_records

__all__ = ["Kalshi", "Settings", "stamp", "venue"]

K = TypeVar("K", bound=str)

stamp = "live"
PREFIX = "kalshi:"
SERIES_KEPT = timedelta(days=1)
"""The list of all series is one page of 19 MB: it is read again only after this time."""
UNTOLD = frozenset({"min_liquidity"})
"""Keys of a rule for figures that the venue's lists do not have."""


class Settings(VenueSettings):
    """How Kalshi is read."""

    url: str = Field("https://external-api.kalshi.com/trade-api/v2", exclude=True)
    """The address of its API."""
    per_second: float = Field(10.0, gt=0, exclude=True)
    """The most requests per second."""
    pages: int = Field(500, gt=0, exclude=True, json_schema_extra=PYTHON_ONLY)
    """The most pages of a catalogue to read: one that has more is incomplete, and nothing is made of it."""


class Kalshi:
    """Kalshi as it is at the time of reading. Events and series are kept once they were read."""

    stamp = stamp

    def __init__(self, settings: Settings, http: HttpClient, report: Report):
        self._pages = settings.pages
        self._http = http
        self._sorter = RecordSorter("kalshi", ("ticker", "event_ticker"), report)
        self._reader = CatalogueReader("event_ticker", self._sorter)
        self._events: dict[str, KalshiEvent] = {}
        self._series: dict[str, KalshiSeries] = {}
        self._series_at = NEVER

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return every market that can be traded on, with its best prices but without its book."""
        offered = partial(self._of_event, at=at, figures=wanted.figures)
        if not self._series_at <= at < self._series_at + SERIES_KEPT:
            series = await asking.all_series(self._http, self._sorter)
            for raw in series:
                self._keep_series(raw)
            self._series_at = at if series else NEVER

        tags = {name: series.tags for name, series in self._series.items()}
        lists = await asking.open_lists(self._http, self._sorter, tags, wanted)
        return await self._reader.read(lists, offered, wanted, at, self._pages)

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return markets with their books, in the order asked for."""
        records_by_ticker = await asking.records(self._http, self._sorter, own_names(PREFIX, markets))
        pages = self._pages_of(records_by_ticker)
        await self._learn(pages.values())
        trading = [name for name, page in pages.items() if wire.is_trading(page, at)]
        books = await asking.books(self._http, self._sorter, trading)

        listings = []
        for name, page in pages.items():
            listing = self._listing(page, records_by_ticker[name], at, books.get(name))
            if listing is not None:
                listings.append(listing)
        return listings

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return what those of some markets paid that are final."""
        raws = await asking.records(self._http, self._sorter, own_names(PREFIX, markets))
        return self._sorter.make_all(raws.values(), resolution, at)

    async def past_markets(self, request: PastRequest) -> PastSelection:
        """Return the wanted markets of those that were open at some time; a tag is a series' ticker."""
        selection = PastSelection(request)
        if request.slugs:
            raws = await asking.records(self._http, self._sorter, request.slugs)
            selection.add(self._past(raws.values(), request.at))

        if request.events or request.tags or not request.slugs:
            for path, asked in await asking.past_lists(self._http, request):
                ask = partial(asking.past_page, self._http, path, asked)
                async for page in new_records(ask, "ticker", self._sorter, self._pages):
                    selection.add(self._past(page, request.at))
        return selection

    def _past(self, raws: Iterable[object], at: datetime) -> Iterable[PastMarket | str]:
        """Yield the past markets in records, or why one is left out."""
        for raw in raws:
            page = self._page(raw)
            if page is None:
                yield wire.left_out(raw) or "unusable"
                continue

            market = self._sorter.make_or_report(raw, wire.market, page, wire.event_unseen(page), 0)
            past = market and self._sorter.make_or_report(raw, wire.past_market, raw, page, market, at)
            yield past or "unusable"

    async def completed(self, markets: Sequence[PastMarket], request: PastRequest) -> list[PastMarket]:
        """Return past markets with their events' categories and fees, and how they ended."""
        pages = self._pages_of({past.market.id: past.raw for past in markets})
        await self._learn(pages.values())

        completed = []
        for past in markets:
            listing = self._listing(pages[past.market.id], past.raw, NEVER)
            end = self._sorter.make_or_report(past.raw, resolution, past.raw, request.at)
            if listing is not None:
                market = replace(listing.market, closes_at=past.market.closes_at)
                completed.append(replace(past, market=market, end=end))
        return completed

    async def history(self, market: MarketId, start: datetime, end: datetime, hours: int = 1) -> list[Quote]:
        """Return a market's prices between two instants: the last known of every so many hours."""
        quotes: dict[int, Quote] = {}
        for name in own_names(PREFIX, [market]):
            raws = await candles(self._http, self._sorter, name, start, end, hours)
            for raw in sorted(raws, key=candle_end, reverse=True):  # of hours: most of them need not be read
                window_number = -(-candle_end(raw) // (hours * 3_600))
                if window_number in quotes:
                    continue

                quote = self._sorter.make_or_report(raw, candle_quote, raw, name)
                if quote is not None and start <= quote.at < end and (quote.price or quote.bid or quote.ask):
                    quotes[window_number] = quote
        return sorted(quotes.values(), key=lambda quote: quote.at)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    def _of_event(self, raw: object, at: datetime, figures: bool) -> Iterable[Listing | str]:
        """Yield what can be traded on in an event, or why not. Nothing is made of one that can't be read."""
        if self._keep_event(raw) is None:
            return

        for inner in self._sorter.make_or_report(raw, nested_markets, raw) or ():
            reason = wire.left_out(inner)
            if reason:
                yield reason
                continue

            page = self._page(inner)
            if page is None:
                continue
            if not wire.is_trading(page, at):
                yield "not trading"
                continue

            listing = self._listing(page, inner, at)
            if listing is None:
                continue
            if listing.quote is not None and figures:
                listing = replace(listing, quote=with_figures(listing.quote, inner, amount, wire.FIGURES))
            yield listing

    def _page(self, raw: object) -> wire.KalshiPage | None:
        """Return what a market's record holds; None if it can't be read."""
        return self._sorter.make_or_report(raw, wire.page, raw)

    def _pages_of(self, raws: Mapping[K, object]) -> dict[K, wire.KalshiPage]:
        """Return what the records of markets hold, without those that can't be read."""
        pages = {}
        for name, raw in raws.items():
            page = self._page(raw)
            if page is not None:
                pages[name] = page
        return pages

    def _listing(
        self, page: wire.KalshiPage, raw: object, at: datetime, book: object = None
    ) -> Listing | None:
        """Return a market with its prices while it trades, and its book if that was read."""
        event = self._events.get(page.event_ticker) or wire.event_unseen(page)
        series = self._series.get(event.series_ticker)
        rate = self._sorter.make_or_report(event.model_dump(), fee_rate, event, series)
        if rate is None:
            rate = USUAL_FEE

        market = self._sorter.make_or_report(raw, wire.market, page, event, rate, series)
        if market is None:
            return None
        if not wire.is_trading(page, at):
            return Listing(market, None)

        quote = self._sorter.make_or_report(raw, wire.quote, raw, page.ticker, at)
        if quote is not None and quote.volume is None:
            self._sorter.make_or_report(raw, check_volume, raw, amount, "volume_fp")
        if quote is not None and book is not None:
            quote = self._with_book(quote, book)
        return Listing(market, quote)

    def _with_book(self, quote: Quote, raw: object) -> Quote:
        """Return a quote with its book. If they differ, it keeps the page's mid, which stops orders."""
        book = self._sorter.make_or_report(raw, quote_with_book, quote, raw)
        if book is None:
            return quote

        gap = book_gap(quote, book)
        if gap is None:
            return book
        self._sorter.report_fault(gap, quote.market_id.removeprefix(PREFIX), raw)
        return replace(book, mid=quote.mid)

    async def _learn(self, pages: Iterable[wire.KalshiPage]) -> None:
        """Ask for the events and series of markets that are not known from a catalogue."""
        unseen_event_of = {page.event_ticker: wire.event_unseen(page) for page in pages}
        missing_names = sorted(unseen_event_of.keys() - self._events.keys())
        for raw in await asking.records_one_by_one(
            self._http, self._sorter, "/events", "event", missing_names
        ):
            self._keep_event(raw)

        series = {self._events.get(name, unseen).series_ticker for name, unseen in unseen_event_of.items()}
        missing_names = sorted(series - self._series.keys())
        for raw in await asking.records_one_by_one(
            self._http, self._sorter, "/series", "series", missing_names
        ):
            self._keep_series(raw)

    def _keep_event(self, raw: object) -> KalshiEvent | None:
        """Keep an event and return it; None if it can't be read."""
        event = self._sorter.make_or_report(raw, read_record, KalshiEvent, raw, "market")
        if event is not None:
            self._events[event.event_ticker] = event
        return event

    def _keep_series(self, raw: object) -> None:
        """Keep a series, if it can be read."""
        series = self._sorter.make_or_report(raw, read_record, KalshiSeries, raw, "market")
        if series is not None:
            self._series[series.ticker] = series


def venue(
    settings: Settings,
    report: Report = ignore_report,
    sleep: Sleep = asyncio.sleep,
    answers: KeptAnswers | None = None,
) -> Kalshi:
    """Return Kalshi as a venue. What is among the answers is not asked."""
    http = HttpClient(settings.url, per_second=settings.per_second, sleep=sleep, answers=answers)
    return Kalshi(settings, http, report)
