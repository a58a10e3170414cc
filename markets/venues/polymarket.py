"""Polymarket, which has real dollars. It is read without a key and without a wallet.

Every market of two outcomes is a question, of which YES is the outcome of that name, or else the first.
Placeholders for outcomes that an event may still get are left out. Books are read for chosen
markets only. A share's fee is rate · p · (1 − p), at the rate on the market's page.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from pydantic import Field

from markets.model import NEVER, Listing, Market, MarketId, Quote, Resolution
from markets.past import PastMarket, PastRequest, PastSelection
from markets.registry import PYTHON_ONLY
from markets.venue import EVERY_MARKET, Catalogue, CatalogueFilter, Report, VenueSettings, ignore_report
from markets.venues.wire import polymarket_records as wire
from markets.venues.wire import polymarket_requests as asking
from markets.venues.wire.fields import (
    RecordSorter,
    RejectedRecord,
    check_volume,
    label,
    own_names,
    read_record,
    with_figures,
)
from markets.venues.wire.http import HttpClient, KeptAnswers, Sleep
from markets.venues.wire.paging import AskPage, CatalogueReader, new_records
from markets.venues.wire.polymarket_prices import (
    FIGURES,
    NO_WORD,
    VOLUMES,
    confirm_resolution,
    past_market,
    past_quote,
    quote,
    quote_with_book,
    resolution,
)
from markets.venues.wire.polymarket_prices import yes_token as token_of

__all__ = ["Polymarket", "Settings", "stamp", "venue"]

stamp = "live"

UNTOLD = frozenset({"min_open_interest"})
"""Keys of a rule for figures that the venue's lists do not have."""


class Settings(VenueSettings):
    """How Polymarket is read."""

    url: str = Field("https://gamma-api.polymarket.com", exclude=True)
    """The service with the markets."""
    book_url: str = Field("https://clob.polymarket.com", exclude=True)
    """The service with books and prices."""
    per_second: float = Field(5.0, gt=0, exclude=True)
    """The most requests per second to each of the two."""
    pages: int = Field(1_000, gt=0, exclude=True, json_schema_extra=PYTHON_ONLY)
    """The most pages of a catalogue to read: one that has more is incomplete, and nothing is made of it."""


class Polymarket:
    """Polymarket as it is now. Both services are asked how a market ended, until they have agreed once.

    If the oracle's word is missing, the order book is asked each time.
    """

    stamp = stamp

    def __init__(self, settings: Settings, gamma: HttpClient, clob: HttpClient, report: Report):
        self._pages = settings.pages
        self._gamma = gamma
        self._clob = clob
        self._sorter = RecordSorter("polymarket", ("id", "conditionId"), report)
        self._reader = CatalogueReader("id", self._sorter)
        self._agreed: dict[str, int | None] = {}
        self._seen_closed_at: dict[str, datetime] = {}
        self._past_raws: asking.Raw = {}
        self._past_points: dict[str, list[object]] = {}

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return every market that can be traded on, with its best prices but without its book."""
        offered = partial(self._offered, at=at, figures=wanted.figures)
        wanted = self._reader.resumed_filter(wanted, at)
        lists = await asking.open_lists(self._gamma, self._sorter, wanted)
        return await self._reader.read(lists, offered, wanted, at, self._pages)

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return markets with their prices and books while they trade, in the order asked for."""
        names = own_names(wire.PREFIX, markets)
        raws = await asking.records(self._gamma, self._sorter, names, first="open")
        market_by_name = {}
        trading_records = {}
        for name, raw in raws.items():
            page = self._playable(raw)
            market = None if page is None else self._market(page, raw, at)
            if page is None or market is None:
                continue

            market_by_name[name] = market
            if wire.is_trading(page):
                trading_records[name] = raw

        books = await self._books(trading_records)
        listings = []
        for name, market in market_by_name.items():
            price = None
            if name in trading_records:
                price = self._priced(raws[name], at, books.get(name))
            listings.append(Listing(market, price))
        return listings

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return what those of some markets paid that are final."""
        names = own_names(wire.PREFIX, markets)
        raws = await asking.records(self._gamma, self._sorter, names, first="closed")
        return await self._confirmed(raws, at)

    async def _confirmed(self, raws: asking.Raw, at: datetime) -> list[Resolution]:
        """Return how markets ended by their records, unless the order book contradicts."""
        resolution_by_name: dict[str, Resolution] = {}
        for name, raw in raws.items():
            end = self._end(name, raw, at)
            if end is not None:
                resolution_by_name[name] = end

        unconfirmed = {}
        for name, end in resolution_by_name.items():
            if end.source == NO_WORD or self._agreed.get(name) != end.payout:
                unconfirmed[name] = raws[name]
        book_pages = await asking.book_pages(self._clob, self._sorter, unconfirmed)

        for name, raw in unconfirmed.items():
            end = self._sorter.make_or_report(
                raw, confirm_resolution, resolution_by_name[name], raw, book_pages.get(name)
            )
            if end is None:
                del resolution_by_name[name]
                continue
            if end is not resolution_by_name[name]:
                self._agreed[name] = end.payout
            resolution_by_name[name] = end
        return list(resolution_by_name.values())

    def _end(self, name: str, raw: object, at: datetime) -> Resolution | None:
        """Return how a market ended by its page, and remember when it was first seen closed."""
        seen_closed_at = None
        if isinstance(raw, dict) and raw.get("closed") is True:
            seen_closed_at = self._seen_closed_at.setdefault(name, at)
        return self._sorter.make_or_report(raw, resolution, raw, at, seen_closed_at)

    async def past_markets(self, request: PastRequest) -> PastSelection:
        """Return the markets that are wanted of those that were open at some time."""
        selection = PastSelection(request)
        add = partial(self._add_past, selection)

        if request.slugs:
            raws = await asking.market_slugs(self._gamma, request.slugs)
            for slug in set(request.slugs) - {label(raw, "slug") for raw in raws}:
                self._sorter.report_fault(
                    RejectedRecord("market", "missing", "the venue has no such market"), slug
                )
            add(raws)

        for event in request.events:
            names = await asking.event_markets(self._gamma, event)
            raws_by_name = await asking.records(self._gamma, self._sorter, names, first="closed")
            add(raws_by_name.values())

        tags: list[str | None] = [await asking.tag_number(self._gamma, slug) for slug in request.tags]
        if not tags and not request.named:
            tags = [None]
        for tag in tags:
            for closed in (True, False):
                await self._add_list(partial(asking.past_markets, self._gamma, request, closed, tag), add)
        return selection

    async def _add_list(self, ask: AskPage, add: Callable[[Iterable[object]], bool]) -> None:
        """Add the markets of a list until what follows has too little volume."""
        async for raws in new_records(ask, "id", self._sorter, self._pages):
            if add(raws):
                return

    def _add_past(self, selection: PastSelection, raws: Iterable[object]) -> bool:
        """Add records to a selection, and tell whether all that follows has too little volume.

        That can be told only if the volumes fall, as was asked.
        """
        past_or_reasons = []
        volumes = []
        for raw in raws:
            past = self._sorter.make_or_report(raw, self._past, raw)
            if past is not None:
                past_or_reasons.append(past)
            if isinstance(past, PastMarket):
                volumes.append(past.volume)

        selection.add(past_or_reasons)
        is_sorted = volumes == sorted(volumes, reverse=True)
        if not volumes or not is_sorted:
            return False

        # The largest of this page is too small, and so is all that follows.
        return selection.is_too_small(volumes[0])

    def _past(self, raw: object) -> PastMarket | str:
        """Return a past market, or why it is left out."""
        page = read_record(wire.PolymarketPage, raw, "market")
        fault = wire.unplayable(page)
        if fault is not None:
            return _reason(fault)

        market = self._market(page, raw, NEVER)
        if market is None:
            return "unusable"
        return past_market(raw, market)

    async def completed(self, markets: Sequence[PastMarket], request: PastRequest) -> list[PastMarket]:
        """Return past markets with how they ended by both services, and read their prices, many at once."""
        by_id = {past.market.id: past for past in markets}
        raws = {}
        spans = {}
        for market_id, past in by_id.items():
            raws[market_id.removeprefix(wire.PREFIX)] = past.raw
            token = self._sorter.make_or_report(past.raw, token_of, past.raw)
            if token:
                spans[token] = past.in_time(request)

        self._past_raws |= raws
        ends = {end.market_id: end for end in await self._confirmed(raws, request.at)}
        self._past_points = await asking.histories(self._clob, spans, request.hours)
        return [replace(past, end=ends.get(market_id)) for market_id, past in by_id.items()]

    async def history(self, market: MarketId, start: datetime, end: datetime, hours: int = 1) -> list[Quote]:
        """Return a market's prices between two instants, one for each so many hours."""
        names = own_names(wire.PREFIX, [market])
        raws = {name: self._past_raws[name] for name in names if name in self._past_raws}
        if not raws:
            raws = await asking.records(self._gamma, self._sorter, names, first="open")

        quotes: list[Quote] = []
        for name, raw in raws.items():
            token = self._sorter.make_or_report(raw, token_of, raw)
            if not token:
                continue

            points = self._past_points.pop(token, None)
            if points is None:
                points = await asking.history(self._clob, token, start, end, hours)
            quotes += self._sorter.make_all(points, past_quote, name)

        within = (quote for quote in quotes if start <= quote.at <= end)
        return sorted(within, key=lambda quote: quote.at)

    async def close(self) -> None:
        """Close all connections."""
        await self._gamma.close()
        await self._clob.close()

    def _offered(self, raw: object, at: datetime, figures: bool) -> Iterable[Listing | str]:
        """Yield a market with the prices on its page, or why it is not on offer."""
        page = self._page(raw)
        if page is None:
            return

        fault = wire.unplayable(page)
        if fault is not None:
            yield _reason(fault)
            return
        if not wire.is_trading(page):
            yield "not trading"
            return

        market = self._market(page, raw, at)
        if market is None:
            return

        price = self._page_quote(raw, at)
        mid = None
        if price is not None:
            mid = price.mid
            if figures:
                price = with_figures(price, raw, wire.figure, FIGURES)

        reason = wire.left_out(page, mid, at)
        if not reason and market.opens_at > at:
            reason = "not open yet"
        yield reason or Listing(market, price)

    def _page(self, raw: object) -> wire.PolymarketPage | None:
        """Return what a market's record holds; None if it can't be read."""
        return self._sorter.make_or_report(raw, read_record, wire.PolymarketPage, raw, "market")

    def _playable(self, raw: object) -> wire.PolymarketPage | None:
        """Return the page of a market that was asked for; None, which is reported, if it can't be played."""
        page = self._page(raw)
        if page is None:
            return None

        fault = wire.unplayable(page)
        if fault is not None:
            self._sorter.report_fault(fault, label(raw, "id"), raw)
            return None
        return page

    def _market(self, page: wire.PolymarketPage, raw: object, at: datetime) -> Market | None:
        """Return a market by its page; None if it makes no sense."""
        rate = self._sorter.make_or_report(raw, wire.fee_rate, page)
        if rate is None:
            rate = wire.USUAL_FEE
        return self._sorter.make_or_report(raw, wire.market, page, rate, at)

    async def _books(self, raws: asking.Raw) -> asking.Raw:
        """Return the books of markets. Those without one are reported."""
        tokens = {}
        for name, raw in raws.items():
            token = self._sorter.make_or_report(raw, token_of, raw)
            if token:
                tokens[name] = token

        books = await asking.books(self._clob, list(tokens.values()))
        by_name: asking.Raw = {}
        for name, token in tokens.items():
            if token in books:
                by_name[name] = books[token]
            else:
                self._sorter.report_fault(
                    RejectedRecord("quote", "no_book", "the venue shows no book of it"), name
                )
        return by_name

    def _page_quote(self, raw: object, at: datetime) -> Quote | None:
        """Return the prices on a market's page. A volume that makes no sense is reported."""
        price = self._sorter.make_or_report(raw, quote, raw, at)
        if price is not None and price.volume is None:
            self._sorter.make_or_report(raw, check_volume, raw, wire.figure, *VOLUMES)
        return price

    def _priced(self, raw: object, at: datetime, book: object) -> Quote | None:
        """Return the prices on a market's page, and of its book if that was read."""
        page = self._page_quote(raw, at)
        if page is None or book is None:
            return page

        price, fault = quote_with_book(page, book)
        if fault is not None:
            self._sorter.report_fault(fault, label(raw, "id"), book)
        return price


def _reason(fault: RejectedRecord) -> str:
    """Return why a market is left out, in words."""
    return fault.code.replace("_", " ")


def venue(
    settings: Settings,
    report: Report = ignore_report,
    sleep: Sleep = asyncio.sleep,
    answers: KeptAnswers | None = None,
) -> Polymarket:
    """Return Polymarket as a venue. What is among the answers is not asked."""
    client = partial(HttpClient, per_second=settings.per_second, sleep=sleep, answers=answers)
    return Polymarket(settings, client(settings.url), client(settings.book_url), report)
