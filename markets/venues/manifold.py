"""Manifold, which has play money: its results are never mixed with those in dollars.

Its markets have a price but no book: rules that fill at the mid or at a spread around it work, and rules that
walk a book refuse. Nothing is charged. Markets that trade in cash rather than mana are left out.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from pydantic import Field

from markets.model import Listing, MarketId, Quote, Resolution
from markets.past import PastMarket, PastRequest, PastSelection
from markets.venue import (
    EVERY_MARKET,
    Catalogue,
    CatalogueFilter,
    Report,
    VenueError,
    VenueSettings,
    ignore_report,
)
from markets.venues.wire import manifold_records as wire
from markets.venues.wire import manifold_requests as asking
from markets.venues.wire.fields import RecordSorter, check_volume, number, own_names, with_figures
from markets.venues.wire.http import HttpClient, KeptAnswers, Sleep
from markets.venues.wire.paging import AskPage, CatalogueReader, new_records

__all__ = ["Manifold", "Settings", "stamp", "venue"]

stamp = "live"
PREFIX = "manifold:"
UNTOLD = frozenset({"not_tags", "min_open_interest"})
"""Keys of a rule for figures that the venue's lists do not have."""
WITHOUT_SIDES = True
"""Its prices have no bid and no ask, so a rule lets them in only with `price_only`."""
MOST_PAGES = 2_000
"""More pages of a thousand records than there are markets or bets."""


class Settings(VenueSettings):
    """How Manifold is read."""

    url: str = Field("https://api.manifold.markets", exclude=True)
    """The address of its API."""
    per_second: float = Field(5.0, gt=0, exclude=True)
    """The most requests per second."""
    newest: int = Field(20_000, gt=0, exclude=True)
    """How many of its newest markets to read."""


class Manifold:
    """Manifold as it is now; `at` is the time of reading. A catalogue has no descriptions."""

    stamp = stamp

    def __init__(self, settings: Settings, http: HttpClient, report: Report):
        self._newest = settings.newest
        self._http = http
        self._newest_markets = asking.NewestMarkets(http, settings.newest)
        self._sorter = RecordSorter("manifold", ("id",), report)
        self._reader = CatalogueReader("id", self._sorter)

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return the open ones among the newest markets, with their prices."""
        offered = partial(self._offered, at=at, figures=wanted.figures)
        lists = self._newest_markets.lists(self._sorter, wanted)
        catalogue = await self._reader.read(lists, offered, wanted, at, asking.most_pages(self._newest))

        if self._newest_markets.more:
            return replace(catalogue, limit=self._newest)
        return catalogue

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return markets with their prices, in the order asked for; closed ones have none."""
        raws = await asking.records(self._http, self._sorter, own_names(PREFIX, markets))
        return [self._listing(raw, page, at) for raw, page in self._pages(raws)]

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return how those of some markets ended that have."""
        raws = await asking.records(self._http, self._sorter, own_names(PREFIX, markets))
        return self._sorter.make_all(raws, wire.resolution, at)

    async def past_markets(self, request: PastRequest) -> PastSelection:
        """Return the markets that are wanted of those that were open at some time; a tag is a topic."""
        if request.events:
            hint = "name markets with --slug, topics with --tag"
            raise VenueError("no_events", "Manifold has no events", hint)

        selection = PastSelection(request)
        for slug in request.slugs:
            selection.add(self._past([await self._http.get(f"/v0/slug/{slug}")], request.at))

        lists: list[AskPage] = [partial(asking.topic_markets, self._http, tag) for tag in request.tags]
        if not lists and not request.named:
            lists = [partial(asking.every_market, self._http)]
        for ask in lists:
            async for raws in new_records(ask, "id", self._sorter, MOST_PAGES):
                selection.add(self._past(raws, request.at))
        return selection

    def _past(self, raws: Iterable[object], at: datetime) -> Iterable[PastMarket | str]:
        """Yield the past markets in records, or why one is left out."""
        for raw in raws:
            reason = wire.left_out(raw)
            if reason:
                yield reason
            for _, page in self._pages([raw]):
                yield self._sorter.make_or_report(raw, wire.past_market, raw, page, at) or "unusable"

    async def completed(self, markets: Sequence[PastMarket], request: PastRequest) -> list[PastMarket]:
        """Return past markets with their descriptions, and how they ended."""
        by_id = {past.market.id: past for past in markets}
        raws = await asking.records(self._http, self._sorter, own_names(PREFIX, by_id))

        completed = []
        for raw, page in self._pages(raws):
            market = wire.market(page)
            past = by_id.get(market.id)
            if past is not None:
                end = self._sorter.make_or_report(raw, wire.resolution, raw, request.at)
                market = replace(market, closes_at=past.market.closes_at)
                completed.append(replace(past, market=market, end=end))
        return completed

    async def history(self, market: MarketId, start: datetime, end: datetime, hours: int = 1) -> list[Quote]:
        """Return the price after each bet on a market from `start` to `end`, oldest first."""
        quotes: list[Quote] = []
        for name in own_names(PREFIX, [market]):
            raws = await asking.bets(self._http, self._sorter, name, start=start, end=end, pages=MOST_PAGES)
            quotes += self._sorter.make_all(reversed(raws), wire.trade_quote, name)

        within = (quote for quote in quotes if start <= quote.at <= end)
        return sorted(within, key=lambda quote: quote.at)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    def _pages(self, raws: Iterable[object]) -> Iterable[tuple[object, wire.ManifoldPage]]:
        """Yield the records that can be read, each with what it holds."""
        for raw in raws:
            page = self._sorter.make_or_report(raw, wire.page, raw)
            if page is not None:
                yield raw, page

    def _offered(self, raw: object, at: datetime, figures: bool) -> Iterable[Listing | str]:
        """Yield a market if it can be traded on, or why not."""
        reason = wire.left_out(raw)
        if reason:
            yield reason
            return

        for _, page in self._pages([raw]):
            if not wire.is_trading(page, at):
                yield "not trading"
                continue

            listing = self._listing(raw, page, at)
            if listing.quote is not None and figures:
                listing = replace(listing, quote=with_figures(listing.quote, raw, number, wire.FIGURES))
            yield listing

    def _listing(self, raw: object, page: wire.ManifoldPage, at: datetime) -> Listing:
        """Return a market, with its price while it trades."""
        if not wire.is_trading(page, at):
            return Listing(wire.market(page), None)

        quote = self._sorter.make_or_report(raw, wire.quote, raw, page.id, at)
        if quote is not None and quote.volume is None:
            self._sorter.make_or_report(raw, check_volume, raw, number, "volume")
        return Listing(wire.market(page), quote)


def venue(
    settings: Settings,
    report: Report = ignore_report,
    sleep: Sleep = asyncio.sleep,
    answers: KeptAnswers | None = None,
) -> Manifold:
    """Return Manifold as a venue. What is among the answers is not asked."""
    http = HttpClient(settings.url, per_second=settings.per_second, sleep=sleep, answers=answers)
    return Manifold(settings, http, report)
