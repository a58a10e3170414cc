"""What Kalshi is asked, and how: in batches where it has them, one by one where it hasn't."""

from collections.abc import Sequence

from markets.venue import VenueError
from markets.wire.fields import Sorter, Unfit, label, shown
from markets.wire.http import Http
from markets.wire.pages import Page, in_parts, listed, together, walk

EVENTS_A_PAGE, MARKETS_A_PAGE, BOOKS_A_PAGE = 200, 50, 100
Raw = dict[str, object]
"""Records by ticker, as they were sent."""


async def open_events(http: Http, sorter: Sorter, most: int) -> list[object]:
    """Every event with an open market, its markets nested in it."""

    async def ask(cursor: str | None) -> Page:
        page = await http.get(
            "/events", status="open", with_nested_markets="true", limit=EVENTS_A_PAGE, cursor=cursor
        )
        return listed(page, "events"), _next(page, sorter)

    return await walk(ask, "event_ticker", sorter, most)


def _next(page: object, sorter: Sorter) -> str | None:
    """What to ask the next page with; empty on the last."""
    after = page.get("cursor") if isinstance(page, dict) else None
    if after is None or isinstance(after, str):
        return after or None
    sorter.tell(Unfit("page", "bad_cursor", f"its cursor is {shown(after)}: what follows is lost"), "/events")
    return None


async def all_series(http: Http, sorter: Sorter) -> list[object]:
    """Every series, on one long page; none, and that is told, where it can't be had."""
    try:
        return listed(await http.get("/series"), "series")
    except VenueError as error:
        sorter.tell(Unfit("page", error.code, error.message), "/series")
        return []


async def each(http: Http, sorter: Sorter, path: str, key: str, names: Sequence[str]) -> list[object]:
    """The records of these names, each on a page of its own; those that aren't shown are told."""
    answers = await together(_one(http, f"{path}/{name}", key) for name in names)
    for name, answer in zip(names, answers, strict=True):
        if answer is None:
            sorter.tell(Unfit("market", "missing", f"the venue doesn't show this {key}"), name)
    return [answer for answer in answers if answer is not None]


async def _one(http: Http, path: str, key: str) -> object:
    answer = await _gently(http, path)
    return answer.get(key) if isinstance(answer, dict) else None


async def records(http: Http, sorter: Sorter, tickers: Sequence[str]) -> Raw:
    """These markets, in the order asked for. Those that ended long ago are on a page of their own."""
    found = await _markets(http, sorter, "/markets", tickers)
    old = [ticker for ticker in tickers if ticker not in found]
    try:
        found |= await _markets(http, sorter, "/historical/markets", old)
    except VenueError as error:
        sorter.tell(Unfit("page", error.code, error.message), "/historical/markets")
        return found
    for ticker in old:
        if ticker not in found:
            sorter.tell(Unfit("market", "missing", "the venue doesn't show it any more"), ticker)
    return {ticker: found[ticker] for ticker in tickers if ticker in found}


async def _markets(http: Http, sorter: Sorter, path: str, tickers: Sequence[str]) -> Raw:
    async def ask(some: Sequence[str]) -> list[object]:
        """Here a list of tickers is one text with commas."""
        page = await http.get(path, tickers=",".join(some), limit=MARKETS_A_PAGE, mve_filter="exclude")
        return listed(page, "markets")

    batches = [tickers[n : n + MARKETS_A_PAGE] for n in range(0, len(tickers), MARKETS_A_PAGE)]
    pages = await together(in_parts(ask, batch, sorter) for batch in batches)
    return _named([raw for page in pages for raw in page], tickers)


async def books(http: Http, sorter: Sorter, tickers: Sequence[str]) -> Raw:
    """The books of these markets. Where the page of many books leaves one out, it is asked for alone."""
    batches = [tickers[n : n + BOOKS_A_PAGE] for n in range(0, len(tickers), BOOKS_A_PAGE)]
    # here a list of tickers is a parameter each: with commas it is one ticker, whose book is empty
    pages = await together(_gently(http, "/markets/orderbooks", tickers=batch) for batch in batches)
    sent = [page.get("orderbooks") for page in pages if isinstance(page, dict)]
    found = _named([raw for some in sent if isinstance(some, list) for raw in some], tickers)
    alone = [ticker for ticker in tickers if ticker not in found]
    answers = await together(_one(http, f"/markets/{ticker}/orderbook", "orderbook_fp") for ticker in alone)
    for ticker, book in zip(alone, answers, strict=True):
        if book is None:
            sorter.tell(Unfit("quote", "no_book", "the venue shows no book of it"), ticker)
        else:
            found[ticker] = {"ticker": ticker, "orderbook_fp": book}
    return found


async def _gently(http: Http, path: str, tickers: Sequence[str] | None = None) -> object:
    """An answer; None where this venue doesn't give one, though it can be reached."""
    try:
        return await http.get(path, tickers=tickers)
    except VenueError as error:
        if error.code in ("refused", "missing"):
            return None
        raise


def _named(raws: Sequence[object], asked: Sequence[str]) -> Raw:
    """Records by ticker, of those asked for."""
    wanted = frozenset(asked)
    return {name: raw for raw in raws if (name := label(raw, "ticker")) in wanted}
