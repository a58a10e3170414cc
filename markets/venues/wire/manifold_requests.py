"""Requests to Manifold: lists page by page, chosen markets one by one."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from markets.venue import CatalogueFilter, VenueError
from markets.venues.wire.fields import RecordSorter, RejectedRecord, is_name, label
from markets.venues.wire.http import HttpClient
from markets.venues.wire.paging import (
    AskPage,
    ListPage,
    gather_all,
    incomplete,
    new_records,
    page_list,
    report_if_missing,
)

A_PAGE = 1_000
TAGS = "arenaTags"
"""The key under which a record gets the topic of its list."""
ITS_OWN_TROUBLE = frozenset({"missing", "refused", "server_error", "not_json", "too_large"})
"""Errors of a single record: the venue did answer."""


class NewestMarkets:
    """The newest markets of every kind, up to a limit; `more` tells whether the limit was reached."""

    def __init__(self, http: HttpClient, most: int):
        self._http = http
        self._most = most
        self._left = most
        self.more = False

    async def page(self, cursor: str | None) -> ListPage:
        """Return the page that starts before a record."""
        if cursor is None:
            self._left = self._most
        size = min(A_PAGE, self._left)
        raws = page_list(await self._http.get("/v0/markets", limit=size, before=cursor))
        self._left -= len(raws)
        self.more = self._left <= 0 and len(raws) >= size
        return raws, _next_page(raws) if self._left > 0 else None

    def lists(self, sorter: RecordSorter, wanted: CatalogueFilter) -> list[AskPage]:
        """Return the lists with all markets that are wanted: of each named topic and market.

        Events are our own, so for these, and where others are wanted too, the newest are read besides.
        """
        named: list[AskPage] = [partial(_open_in_topic, self._http, sorter, tag) for tag in wanted.tags]
        named += [partial(_one_market, self._http, sorter, slug) for slug in wanted.slugs]
        self.more = False
        if wanted.only_named and not wanted.events:
            return named
        return [*named, self.page]


async def _open_in_topic(http: HttpClient, sorter: RecordSorter, topic: str, cursor: str | None) -> ListPage:
    """Return a page of a topic's open markets, tagged with the topic, which the list leaves out."""
    asked = topic_markets(http, topic, cursor, "open")
    page, following = await report_if_missing(asked, f"topic {topic}", f"tag {topic}", sorter) or ([], None)
    return [raw | {TAGS: topic} if isinstance(raw, dict) else raw for raw in page], following


async def _one_market(http: HttpClient, sorter: RecordSorter, slug: str, _cursor: str | None) -> ListPage:
    """Return a market as a list of its own."""

    async def ask() -> ListPage:
        return [await http.get(f"/v0/slug/{slug}")], None

    return await report_if_missing(ask(), f"market {slug}", slug, sorter) or ([], None)


async def every_market(http: HttpClient, before: str | None) -> ListPage:
    """Return a page of all markets ever, newest first, from before a record; under half full is the last."""
    raws = page_list(await http.get("/v0/markets", limit=A_PAGE, before=before))
    if len(raws) < A_PAGE // 2:
        return raws, None
    return raws, _next_page(raws)


async def topic_markets(http: HttpClient, topic: str, after: str | None, status: str = "all") -> ListPage:
    """Return a page of a topic's yes/no markets, from an offset; one under half full is the last."""
    asked = {"topicSlug": topic, "filter": status, "contractType": "BINARY", "sort": "newest"}
    start = int(after or 0)
    raws = page_list(await http.get("/v0/search-markets", term="", limit=A_PAGE, offset=start, **asked))
    if len(raws) < A_PAGE // 2:
        return raws, None
    return raws, str(start + len(raws))


async def bets(
    http: HttpClient, sorter: RecordSorter, name: str, start: datetime, end: datetime, pages: int
) -> list[object]:
    """Return the bets on a market between two instants, newest first; a page under half full is the last."""
    # Both bounds are inclusive; the caller drops what else a page holds.
    times = {"afterTime": int(start.timestamp() * 1_000) - 1, "beforeTime": int(end.timestamp() * 1_000) + 1}

    async def ask(before: str | None) -> ListPage:
        page = page_list(await http.get("/v0/bets", contractId=name, limit=A_PAGE, before=before, **times))
        return page, _next_page(page) if len(page) >= A_PAGE // 2 else None

    raws: list[object] = []
    async for page in new_records(ask, "id", sorter, pages):
        raws += page
    return raws


def most_pages(records: int) -> int:
    """Return on how many pages this many records must fit, if each is at least half full."""
    return 2 * -(-records // A_PAGE)


def _next_page(raws: Sequence[object]) -> str | None:
    """Return the cursor of the next page, which starts before the last record of this one."""
    names = list(filter(is_name, (label(raw, "id") for raw in raws)))
    if names:
        return names[-1]
    if raws:
        raise incomplete("none of a page's records has an id, by which to ask for the next page")
    return None


async def records(http: HttpClient, sorter: RecordSorter, names: Sequence[str]) -> list[object]:
    """Return the records of these markets in order; a failure of one doesn't hold up the others."""
    answers = await gather_all(_one_record(http, f"/v0/market/{name}") for name in names)
    troubles = [trouble for _, trouble in answers if trouble is not None and trouble.code != "missing"]
    if troubles and all(trouble is not None for _, trouble in answers):
        raise troubles[0]
    named = zip(names, answers, strict=True)
    return [raw for name, (raw, trouble) in named if _is_record_of(name, raw, trouble, sorter)]


async def _one_record(http: HttpClient, path: str) -> tuple[object, VenueError | None]:
    """Return a record, or the venue's error instead."""
    try:
        return await http.get(path), None
    except VenueError as error:
        if error.code in ITS_OWN_TROUBLE:
            return None, error
        raise


def _is_record_of(name: str, raw: object, trouble: VenueError | None, sorter: RecordSorter) -> bool:
    """Tell whether an answer is the requested record; report why not."""
    if trouble is not None:
        sorter.report_fault(RejectedRecord("market", trouble.code, trouble.message), name)
    elif label(raw, "id") != name:
        sorter.report_fault(
            RejectedRecord("market", "malformed", "the venue sent another record instead"), name, raw
        )
    else:
        return True
    return False
