"""Requests to Kalshi: in batches where it has them; past prices as candles of an hour or a day."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import product
from typing import Any

from pydantic import AliasChoices, AliasPath, Field

from markets.model import Quote
from markets.past import PastRequest
from markets.venue import CatalogueFilter, VenueError
from markets.venues.wire.fields import (
    Instant,
    MaybeAmount,
    RecordSorter,
    RejectedRecord,
    Second,
    WireRecord,
    label,
    member,
    read_record,
)
from markets.venues.wire.http import HttpClient, Parameter
from markets.venues.wire.kalshi_records import KalshiBestPrices, quote_of
from markets.venues.wire.paging import (
    AskPage,
    ListPage,
    ask_in_batches,
    batches,
    gather_all,
    get_or_none,
    get_without_if_refused,
    next_cursor,
    page_list,
    pieces,
    records_by_name,
)

HISTORICAL = "/historical/markets"
"""The archive of markets settled long ago."""
EVENTS_A_PAGE = 200
MARKETS_A_PAGE = 50
BOOKS_A_PAGE = 100
Raw = dict[str, object]
"""Records by ticker, as they were sent."""


MOST_SERIES = 50
"""Beyond this many series, the list of all events is read instead."""


async def open_lists(
    http: HttpClient, sorter: RecordSorter, series: Mapping[str, str], wanted: CatalogueFilter
) -> list[AskPage]:
    """Return the lists with all open markets that are wanted: of all events, or of each that is named.

    `series` are all there are, by ticker, with their tags. What the venue doesn't know is told of.
    """
    list_of_all: list[AskPage] = [partial(open_events, http, None)]
    if not wanted.only_named:
        return list_of_all

    named_series = list[str]()
    for tag in map(str.casefold, wanted.tags):
        tickers = _tagged_series(series, tag)
        if not tickers:
            sorter.report_fault(
                RejectedRecord("page", "missing", f"the venue has no series {tag}"), f"tag {tag}"
            )
        named_series += tickers

    if len(named_series) > MOST_SERIES:
        return list_of_all

    pages = await records(http, sorter, list(map(str.upper, wanted.slugs)))
    events = [*map(str.upper, wanted.events), *(label(raw, "event_ticker") for raw in pages.values())]
    lists: list[AskPage] = [partial(open_events, http, name) for name in dict.fromkeys(named_series)]
    lists += [partial(_one_event, http, sorter, name) for name in dict.fromkeys(filter(None, events))]
    return lists


def _tagged_series(series: Mapping[str, str], tag: str) -> list[str]:
    """Return the tickers of the series with a tag; without a list of series, the tag can only be a ticker."""
    if not series:
        return [tag.upper()]
    return [name for name, tags in series.items() if tag in (name.casefold(), *tags.casefold().split(","))]


async def _one_event(http: HttpClient, sorter: RecordSorter, name: str, _cursor: str | None) -> ListPage:
    """Return an event with its markets as a list of its own."""
    page = await get_or_none(http, f"/events/{name}", with_nested_markets="true")
    event = member(page, "event")
    if event is None:
        sorter.report_fault(RejectedRecord("page", "missing", f"the venue has no event {name}"), name)
        return [], None

    if isinstance(event, dict) and "markets" not in event:
        event = event | {"markets": member(page, "markets")}
    return [event], None


async def open_events(http: HttpClient, series: str | None, cursor: str | None) -> ListPage:
    """Return a page of the events with an open market, of a series or of all, with nested markets."""
    asked = {"status": "open", "with_nested_markets": "true", "series_ticker": series}
    page = await http.get("/events", **asked, limit=EVENTS_A_PAGE, cursor=cursor)
    return page_list(page, "events"), next_cursor(page, "cursor")


async def all_series(http: HttpClient, sorter: RecordSorter) -> list[object]:
    """Return every series, from one long page; report it, and return none, where that fails."""
    try:
        return page_list(await http.get("/series"), "series")
    except VenueError as error:
        sorter.report_fault(RejectedRecord("page", error.code, error.message), "/series")
        return []


async def records_one_by_one(
    http: HttpClient, sorter: RecordSorter, path: str, key: str, names: Sequence[str]
) -> list[object]:
    """Return the records of these names, each from a page of its own; report missing ones."""
    answers = await gather_all(_one_record(http, f"{path}/{name}", key) for name in names)

    listed = list[object]()
    for name, answer in zip(names, answers, strict=True):
        if answer is None:
            sorter.report_fault(
                RejectedRecord("market", "missing", f"the venue doesn't list this {key}"), name
            )
        else:
            listed.append(answer)
    return listed


async def _one_record(http: HttpClient, path: str, key: str) -> object:
    answer = await get_or_none(http, path)
    return member(answer, key)


async def records(http: HttpClient, sorter: RecordSorter, tickers: Sequence[str]) -> Raw:
    """Return these markets in the order of the request; those settled long ago are in an archive."""
    raws = await _markets(http, sorter, "/markets", tickers)
    missing_tickers = [ticker for ticker in tickers if ticker not in raws]
    try:
        raws |= await _markets(http, sorter, HISTORICAL, missing_tickers)
    except VenueError as error:
        sorter.report_fault(RejectedRecord("page", error.code, error.message), HISTORICAL)
        return raws

    return sorter.in_order(raws, tickers)


async def _markets(http: HttpClient, sorter: RecordSorter, path: str, tickers: Sequence[str]) -> Raw:
    async def ask(some: Sequence[str]) -> list[object]:
        """Return the markets of some tickers, which this list takes as one text with commas."""
        asked: dict[str, Parameter] = {"tickers": ",".join(some), "limit": MARKETS_A_PAGE}
        return page_list(await _without_combinations(http, path, asked), "markets")

    return await ask_in_batches(ask, tickers, MARKETS_A_PAGE, "ticker", sorter)


async def _without_combinations(http: HttpClient, path: str, asked: Mapping[str, Parameter]) -> Any:
    """Return a page of markets without combinations, which are left out later if it can't be asked for so."""
    doubtful = {"mve_filter": "exclude"}
    if path == HISTORICAL:  # nothing says that this list knows the filter
        return await get_without_if_refused(http, path, doubtful, **asked)
    return await http.get(path, **asked, **doubtful)


async def books(http: HttpClient, sorter: RecordSorter, tickers: Sequence[str]) -> Raw:
    """Return the books of these markets; one missing from the page of many books is requested alone."""
    # repeated parameters: comma-separated, the tickers count as one, whose book is empty
    pages = await gather_all(
        get_or_none(http, "/markets/orderbooks", tickers=batch) for batch in batches(tickers, BOOKS_A_PAGE)
    )
    listed = list[object]()
    for page in pages:
        books_sent = member(page, "orderbooks")
        if isinstance(books_sent, list):
            listed += books_sent

    raws = records_by_name(listed, "ticker", tickers)
    missing_tickers = [ticker for ticker in tickers if ticker not in raws]
    answers = await gather_all(
        _one_record(http, f"/markets/{ticker}/orderbook", "orderbook_fp") for ticker in missing_tickers
    )

    for ticker, book in zip(missing_tickers, answers, strict=True):
        if book is None:
            sorter.report_fault(RejectedRecord("quote", "no_book", "the venue shows no book of it"), ticker)
        else:
            raws[ticker] = {"ticker": ticker, "orderbook_fp": book}

    return raws


LISTED_A_PAGE = 1_000
PastList = tuple[str, dict[str, str | int]]
"""The path of a list of markets, and its parameters."""


async def past_lists(http: HttpClient, request: PastRequest) -> list[PastList]:
    """Return the lists with markets that may have been open then; the archive is one of its own."""
    since = int(request.since.timestamp())
    lists: list[PastList] = [
        ("/markets", {"status": "settled", "min_settled_ts": since}),
        ("/markets", {"status": "closed", "min_close_ts": since}),
        ("/markets", {"status": "open"}),
    ]
    cutoff = read_record(KalshiCutoff, await http.get("/historical/cutoff"), "page")

    if request.since < cutoff.market_settled_ts:
        lists.append((HISTORICAL, {}))

    named = [{"event_ticker": name} for name in request.events]
    named += [{"series_ticker": name} for name in request.tags]
    if not named:
        return lists
    return [(path, {**asked, **name}) for name, (path, asked) in product(named, lists)]


async def past_page(http: HttpClient, path: str, asked: dict[str, str | int], after: str | None) -> ListPage:
    """Return a page of such a list."""
    page = await _without_combinations(http, path, {**asked, "limit": LISTED_A_PAGE, "cursor": after})
    return page_list(page, "markets"), next_cursor(page, "cursor")


MOST = 5_000
"""The most candles in one answer."""
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


class KalshiCutoff(WireRecord):
    """The instant before which settled markets are in the archive."""

    market_settled_ts: Instant


def _last(side: str) -> Any:
    """Return the field of the last price of a candle; the archive uses another name for it."""
    names = (AliasPath(side, "close_dollars"), AliasPath(side, "close"))
    return Field(None, validation_alias=AliasChoices(*names))


class KalshiCandle(KalshiBestPrices):
    """Prices over a period, by its end."""

    end_period_ts: Second
    yes_bid_dollars: MaybeAmount = _last("yes_bid")
    yes_ask_dollars: MaybeAmount = _last("yes_ask")
    last_price_dollars: MaybeAmount = _last("price")


async def candles(
    http: HttpClient, sorter: RecordSorter, ticker: str, start: datetime, end: datetime, hours: int = 1
) -> list[object]:
    """Return a market's candles, current or archived; report it, and return none, if neither has any."""
    step = DAY if hours >= DAY // HOUR else HOUR
    series = ticker.partition("-")[0]
    for path in (f"/series/{series}/markets/{ticker}", f"/historical/markets/{ticker}"):
        all_candles: list[object] = []
        try:
            for first, last in pieces(start, end, step * (MOST - 1)):
                asked = {"start_ts": int(first.timestamp()), "end_ts": int(last.timestamp())}
                minutes = step // timedelta(minutes=1)
                page = await http.get(f"{path}/candlesticks", **asked, period_interval=minutes)
                all_candles += page_list(page, "candlesticks")
            return all_candles
        except VenueError as error:
            if error.code != "missing":
                raise

    sorter.report_fault(RejectedRecord("quote", "missing", "the venue doesn't show its history"), ticker)
    return []


def candle_end(raw: object) -> int:
    """Return when a candle ends, in seconds since 1970; 0 where it doesn't say."""
    at = member(raw, "end_period_ts")
    return at if type(at) is int else 0


def candle_quote(raw: object, ticker: str) -> Quote:
    """Return the prices at the end of a candle."""
    candle = read_record(KalshiCandle, raw, "quote")
    return quote_of(candle, ticker, candle.end_period_ts)
