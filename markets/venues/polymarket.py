"""Polymarket: real dollars, read without a key and without a wallet.

Every market of two outcomes is a question, of which YES is the outcome of that name, and else the first. Of
an event that may still get outcomes, the places held for them are left out. Books are read for chosen
markets only. A share's fee is rate · p · (1 − p), at the rate on the market's page.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from pydantic import Field

from markets.garbage_collection import gc_paused
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
    read,
    with_figures,
)
from markets.venues.wire.http import AnswerStore, HttpClient, Sleep
from markets.venues.wire.paging import AskPage, CatalogueReader, new_records
from markets.venues.wire.polymarket_prices import (
    FIGURES,
    NO_WORD,
    VOLUMES,
    confirm_resolution,
    offer,
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
"""Keys of a rule for figures that the venue's lists do not tell."""


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
    """Polymarket as it is now. How a market ended is asked of both services, until they agreed on it once.

    Of an end for which the oracle's word is missing the order book is asked each time.
    """

    stamp = stamp

    def __init__(self, settings: Settings, gamma: HttpClient, clob: HttpClient, report: Report):
        self._pages, self._gamma, self._clob = settings.pages, gamma, clob
        self._sorter = RecordSorter("polymarket", ("id", "conditionId"), report)
        self._reader = CatalogueReader("id", self._sorter)
        self._agreed: dict[str, int | None] = {}
        self._seen_closed_at: dict[str, datetime] = {}
        self._past_raws: asking.Raw = {}
        self._past_points: dict[str, list[object]] = {}

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Every market that can be traded on, with its best prices but without its book."""
        offered = partial(self._offered, at=at, figures=wanted.figures)
        wanted = self._reader.resumed_filter(wanted, at)
        lists = await asking.open_lists(self._gamma, self._sorter, wanted)
        with gc_paused():
            return await self._reader.read(lists, offered, wanted, at, self._pages)

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """These markets with their prices and books while they trade, in the order asked for."""
        names = own_names(wire.PREFIX, markets)
        raws = await asking.records(self._gamma, self._sorter, names, first="open")
        pages = {name: page for name, raw in raws.items() if (page := self._playable(raw)) is not None}
        made = ((name, page, self._market(page, raws[name], at)) for name, page in pages.items())
        playable = [(name, page, market) for name, page, market in made if market is not None]
        books = await self._books({name: raws[name] for name, page, _ in playable if wire.is_trading(page)})
        return [
            Listing(market, self._priced(raws[name], at, books.get(name)) if wire.is_trading(page) else None)
            for name, page, market in playable
        ]

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """What those of these markets paid that are final."""
        names = own_names(wire.PREFIX, markets)
        return await self._confirmed(
            await asking.records(self._gamma, self._sorter, names, first="closed"), at
        )

    async def _confirmed(self, raws: asking.Raw, at: datetime) -> list[Resolution]:
        """Return the final ends that these records tell of, as far as the order book doesn't contradict."""
        ends: dict[str, Resolution] = {}
        for name, raw in raws.items():
            end = self._end(name, raw, at)
            if end is not None:
                ends[name] = end

        unconfirmed = {
            name: raws[name]
            for name, end in ends.items()
            if end.source == NO_WORD or self._agreed.get(name) != end.payout
        }
        book_pages = await asking.book_pages(self._clob, self._sorter, unconfirmed)

        for name, raw in unconfirmed.items():
            end = self._sorter.made(raw, confirm_resolution, ends[name], raw, book_pages.get(name))
            if end is None:
                del ends[name]
                continue
            if end is not ends[name]:
                self._agreed[name] = end.payout
            ends[name] = end
        return list(ends.values())

    def _end(self, name: str, raw: object, at: datetime) -> Resolution | None:
        """Return how a market ended by its page, and remember when it was first seen closed."""
        seen_closed_at = None
        if isinstance(raw, dict) and raw.get("closed") is True:
            seen_closed_at = self._seen_closed_at.setdefault(name, at)
        return self._sorter.made(raw, resolution, raw, at, seen_closed_at)

    async def past_markets(self, request: PastRequest) -> PastSelection:
        """The markets that are wanted of those that were open at some time."""
        selection = PastSelection(request)
        add = partial(self._add_past, selection)
        if request.slugs:
            raws = await asking.market_slugs(self._gamma, request.slugs)
            for slug in set(request.slugs) - {label(raw, "slug") for raw in raws}:
                self._sorter.tell(RejectedRecord("market", "missing", "the venue has no such market"), slug)
            add(raws)
        for event in request.events:
            names = await asking.event_markets(self._gamma, event)
            add((await asking.records(self._gamma, self._sorter, names, first="closed")).values())
        tags: list[str | None] = [await asking.tag_number(self._gamma, slug) for slug in request.tags]
        for tag in tags or ([] if request.named else [None]):
            for closed in (True, False):
                await self._add_list(partial(asking.past_markets, self._gamma, request, closed, tag), add)
        return selection

    async def _add_list(self, ask: AskPage, add: Callable[[Iterable[object]], bool]) -> None:
        """The markets of a list, as long as its volumes are still wanted, if they do fall as was asked."""
        async for raws in new_records(ask, "id", self._sorter, self._pages):
            if add(raws):
                return

    def _add_past(self, selection: PastSelection, raws: Iterable[object]) -> bool:
        """Take in some records; whether all that comes after them in the order of volume is too little."""
        found = [made for raw in raws if (made := self._sorter.made(raw, self._past, raw))]
        selection.add(found)
        volumes = [each.volume for each in found if not isinstance(each, str)]
        falling = volumes == sorted(volumes, reverse=True)
        return bool(volumes) and falling and selection.passed_by(volumes[0])

    def _past(self, raw: object) -> PastMarket | str:
        page = read(wire.PolymarketPage, raw, "market")
        if (why := wire.unplayable(page)) is not None:
            return why.code.replace("_", " ")
        market = self._market(page, raw, NEVER)
        return "unusable" if market is None else past_market(raw, market)

    async def completed(self, markets: Sequence[PastMarket], request: PastRequest) -> list[PastMarket]:
        """The same with how they ended, by both services. Their prices are read with them, many at once."""
        by_id = {each.market.id: each for each in markets}
        raws = {market_id.removeprefix(wire.PREFIX): each.raw for market_id, each in by_id.items()}
        self._past_raws |= raws
        ends = {end.market_id: end for end in await self._confirmed(raws, request.at)}
        tokens = {
            market_id: self._sorter.made(each.raw, token_of, each.raw) for market_id, each in by_id.items()
        }
        spans = {token: by_id[market_id].in_time(request) for market_id, token in tokens.items() if token}
        self._past_points = await asking.histories(self._clob, spans, request.hours)
        return [replace(each, end=ends.get(market_id)) for market_id, each in by_id.items()]

    async def history(self, market: MarketId, start: datetime, end: datetime, hours: int = 1) -> list[Quote]:
        """A market's prices, one for each so many hours between two instants."""
        names = own_names(wire.PREFIX, [market])
        raws = {name: self._past_raws[name] for name in names if name in self._past_raws}
        if not raws:
            raws = await asking.records(self._gamma, self._sorter, names, first="open")
        points_of_all = []
        for name, raw in raws.items():
            token = self._sorter.made(raw, token_of, raw)
            points = self._past_points.pop(token or "", None)
            if points is None:
                points = await asking.history(self._clob, token, start, end, hours) if token else []
            points_of_all += [self._sorter.made(point, past_quote, point, name) for point in points]
        quotes = (quote for quote in points_of_all if quote is not None and start <= quote.at <= end)
        return sorted(quotes, key=lambda quote: quote.at)

    async def close(self) -> None:
        """Let go of connections."""
        await self._gamma.close()
        await self._clob.close()

    def _offered(self, raw: object, at: datetime, figures: bool) -> Iterable[Listing | str]:
        """A market with the prices on its page, or why it is not on offer."""
        whole = offer(raw)
        page = whole or self._page(raw)
        if page is None:
            return
        if (why := wire.unplayable(page)) is not None:
            yield why.code.replace("_", " ")
        elif not wire.is_trading(page):
            yield "not trading"
        elif (market := self._market(page, raw, at)) is not None:
            price = self._page_quote(raw, whole or raw, at)
            price = price and with_figures(price, raw, wire.figure, FIGURES) if figures else price
            reason = wire.left_out(page, None if price is None else price.mid, at)
            yield reason or (Listing(market, price) if market.opens_at <= at else "not open yet")

    def _page(self, raw: object) -> wire.PolymarketPage | None:
        return self._sorter.made(raw, read, wire.PolymarketPage, raw, "market")

    def _playable(self, raw: object) -> wire.PolymarketPage | None:
        """The page of a market that was asked for; if it is none of ours, that is told."""
        page = self._page(raw)
        why = None if page is None else wire.unplayable(page)
        if why is not None:
            self._sorter.tell(why, label(raw, "id"), raw)
        return page if why is None else None

    def _market(self, page: wire.PolymarketPage, raw: object, at: datetime) -> Market | None:
        rate = self._sorter.made(raw, wire.fee_rate, page)
        fee = wire.USUAL_FEE if rate is None else rate
        return self._sorter.made(raw, wire.market, page, fee, at)

    async def _books(self, raws: asking.Raw) -> asking.Raw:
        """The books of these markets, as far as there are any."""
        tokens = {name: self._sorter.made(raw, token_of, raw) for name, raw in raws.items()}
        books = await asking.books(self._clob, [token for token in tokens.values() if token])
        for name, token in tokens.items():
            if token and token not in books:
                self._sorter.tell(RejectedRecord("quote", "no_book", "the venue shows no book of it"), name)
        return {name: books[token] for name, token in tokens.items() if token in books}

    def _page_quote(self, raw: object, prices: object, at: datetime) -> Quote | None:
        """Return the prices on a market's page; a volume that makes no sense is told."""
        price = self._sorter.made(raw, quote, prices, at)
        if price is not None and price.volume is None:
            self._sorter.made(raw, check_volume, raw, wire.figure, *VOLUMES)
        return price

    def _priced(self, raw: object, at: datetime, book: object) -> Quote | None:
        """The prices on a market's page, and of its book where that was read."""
        page = self._page_quote(raw, raw, at)
        if page is None or book is None:
            return page
        found, why = quote_with_book(page, book)
        if why is not None:
            self._sorter.tell(why, label(raw, "id"), book)
        return found


def venue(
    settings: Settings,
    report: Report = ignore_report,
    sleep: Sleep = asyncio.sleep,
    answers: AnswerStore | None = None,
) -> Polymarket:
    """Polymarket behind the door of a venue; what is among the answers is not asked."""
    gamma, clob = (
        HttpClient(url, per_second=settings.per_second, sleep=sleep, answers=answers)
        for url in (settings.url, settings.book_url)
    )
    return Polymarket(settings, gamma, clob, report)
