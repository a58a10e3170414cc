"""Requests to Polymarket: Gamma for markets, the order book's service for books and winners."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Literal

from markets.millionths import ONE
from markets.model import NEVER
from markets.past import PastRequest
from markets.venue import CatalogueFilter, VenueError
from markets.venues.wire.fields import RecordSorter, RejectedRecord, label, member
from markets.venues.wire.http import HttpClient, Parameter
from markets.venues.wire.paging import (
    NOT_THERE,
    SPOILT_CODES,
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
    report_if_missing,
)

A_PAGE = 100
BOOKS_A_PAGE = 100
LISTS = "/markets/keyset"
_CONDITION = re.compile(r"0x[0-9a-fA-F]{64}")
Raw = dict[str, object]
"""Records by name, as they were sent."""
Span = tuple[datetime, datetime]
"""A period from its start to its end."""


async def open_lists(gamma: HttpClient, sorter: RecordSorter, wanted: CatalogueFilter) -> list[AskPage]:
    """Return the lists with all open markets that are wanted: one of all, or one of each known name."""
    if not wanted.only_named:
        return [partial(open_markets, gamma, wanted, {})]

    queries: list[dict[str, Parameter]] = [{"slug": slugs} for slugs in batches(wanted.slugs, A_PAGE)]
    numbers = list(filter(str.isdigit, wanted.slugs))
    queries += [{"id": ids} for ids in batches(numbers, A_PAGE)]

    for event in wanted.events:
        name = f"event {event}"
        markets = await report_if_missing(event_markets(gamma, event), name, name, sorter)
        queries += [{"id": ids} for ids in batches(markets or [], A_PAGE)]

    for tag in wanted.tags:
        name = f"tag {tag}"
        number = await report_if_missing(tag_number(gamma, tag), name, name, sorter)
        if number:
            queries.append({"tag_id": number})

    return [partial(open_markets, gamma, wanted, query) for query in queries]


async def open_markets(
    gamma: HttpClient, wanted: CatalogueFilter, named: Mapping[str, Parameter], cursor: str | None
) -> ListPage:
    """Return a page of the wanted open markets; only ordering by id is stable between pages."""
    until = wanted.closes_until
    page = await get_without_if_refused(
        gamma,
        LISTS,
        {"order": "id", "ascending": "true"},
        closed="false",
        volume_num_min=str(wanted.min_volume // ONE) if wanted.min_volume else None,
        liquidity_num_min=str(wanted.min_liquidity // ONE) if wanted.min_liquidity else None,
        end_date_max=None if until is None else f"{until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        after_cursor=cursor,
        **named,
        **_usual_parameters(),
    )
    return page_list(page, "markets"), next_cursor(page, "next_cursor")


def _usual_parameters() -> dict[str, Parameter]:
    return {"limit": A_PAGE, "include_tag": "true"}


async def records(
    gamma: HttpClient, sorter: RecordSorter, names: Sequence[str], first: Literal["open", "closed"]
) -> Raw:
    """Return these markets in the order of the request; a list holds open or closed ones, never both."""
    raws = await _records_in_list(gamma, sorter, names, closed=first == "closed")
    missing_names = [name for name in names if name not in raws]
    try:
        raws |= await _records_in_list(gamma, sorter, missing_names, closed=first == "open")
    except VenueError as error:
        if not raws or error.code not in SPOILT_CODES:
            raise
        sorter.report_fault(RejectedRecord("page", error.code, error.message), LISTS)

    return sorter.in_order(raws, names)


async def _records_in_list(
    gamma: HttpClient, sorter: RecordSorter, names: Sequence[str], closed: bool
) -> Raw:
    async def ask(some: Sequence[str]) -> list[object]:
        page = await gamma.get(LISTS, id=some, closed=str(closed).lower(), **_usual_parameters())
        return page_list(page, "markets")

    return await ask_in_batches(ask, names, A_PAGE, "id", sorter)


async def books(clob: HttpClient, tokens: Sequence[str]) -> Raw:
    """Return the books of these tokens, in batches; one that a batch leaves out is requested alone."""
    pages = await gather_all(_many_books(clob, some) for some in batches(tokens, BOOKS_A_PAGE))
    raws = records_by_name(chain.from_iterable(pages), "asset_id", tokens)
    missing_tokens = [token for token in tokens if token not in raws]
    answers = await gather_all(get_or_none(clob, "/book", token_id=token) for token in missing_tokens)
    for token, raw in zip(missing_tokens, answers, strict=True):
        if label(raw, "asset_id") == token:
            raws[token] = raw
    return raws


async def _many_books(clob: HttpClient, tokens: Sequence[str]) -> list[object]:
    try:
        return page_list(await clob.post("/books", [{"token_id": token} for token in tokens]))
    except VenueError as error:
        if error.code in NOT_THERE:
            return []
        raise


async def book_pages(clob: HttpClient, sorter: RecordSorter, raws: Raw) -> Raw:
    """Return the order book's pages of these markets, where it has any, up to its first failure."""
    raws_of_book: Raw = {}
    for name, raw in raws.items():
        condition = label(raw, "conditionId")
        if not _CONDITION.fullmatch(condition):
            continue

        try:
            page = await get_or_none(clob, f"/markets/{condition}")
        except VenueError as error:
            words = f"{error.message}: results are not confirmed"
            sorter.report_fault(RejectedRecord("page", error.code, words), "/markets")
            return raws_of_book

        if page is not None and label(page, "condition_id") == condition:
            raws_of_book[name] = page

    return raws_of_book


AS_LATE, PIECE = timedelta(days=30), timedelta(days=14)
"""How long a market may stay open after its nominal end, and the longest period of one answer."""
HISTORIES_A_PAGE = 20
COARSE = 12
"""For some closed markets the venue has only one price for each this many hours."""


async def past_markets(
    gamma: HttpClient, request: PastRequest, closed: bool, tag: str | None, after: str | None
) -> ListPage:
    """Return a page of open or closed markets that may have been open then, by volume, descending."""
    soonest = request.since - AS_LATE
    page = await get_without_if_refused(
        gamma,
        LISTS,
        {"order": "volumeNum", "ascending": "false"},
        closed=str(closed).lower(),
        start_date_max=f"{request.until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        end_date_min=f"{soonest.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if closed else None,
        tag_id=tag,
        after_cursor=after,
        **_usual_parameters(),
    )
    return page_list(page, "markets"), next_cursor(page, "next_cursor")


async def tag_number(gamma: HttpClient, slug: str) -> str:
    """Return the number of a tag in the lists."""
    return label(await gamma.get(f"/tags/slug/{slug}"), "id")


async def market_slugs(gamma: HttpClient, slugs: Sequence[str]) -> list[object]:
    """Return the markets of these slugs, open or closed."""
    found: list[object] = []
    for some in batches(slugs, A_PAGE):
        for closed in ("true", "false"):
            page = await gamma.get(LISTS, slug=some, closed=closed, **_usual_parameters())
            found += page_list(page, "markets")
    return found


async def event_markets(gamma: HttpClient, event: str) -> list[str]:
    """Return the ids of the markets of an event, given by its number or its slug."""
    path = f"/events/slug/{event}"
    if event.isdigit():
        path = f"/events/{event}"
    page = await gamma.get(path)
    return list(filter(None, (label(raw, "id") for raw in page_list(page, "markets"))))


async def histories(clob: HttpClient, spans: Mapping[str, Span], hours: int) -> dict[str, list[object]]:
    """Return the prices of many tokens, each in its period, without tokens that the venue refuses."""
    points_by_token: dict[str, list[object]] = {token: [] for token in spans}
    refused: set[str] = set()
    for fidelity in dict.fromkeys((hours, max(hours, COARSE))):
        # Only tokens without any prices are asked again, with a coarser resolution.
        unread = {token: spans[token] for token, points in points_by_token.items() if not points}
        queries: list[tuple[Sequence[str], Span]] = []
        for period in pieces(*_all_of(unread), PIECE):
            start, end = period
            tokens = [token for token, (first, last) in unread.items() if first < end and start < last]
            queries += [(batch, period) for batch in batches(tokens, HISTORIES_A_PAGE)]

        answers = await gather_all(_many_histories(clob, *query, fidelity) for query in queries)
        for (batch, _), histories_by_token in zip(queries, answers, strict=True):
            for token in batch:
                points = histories_by_token.get(token)
                if isinstance(points, list):
                    points_by_token[token] += points
                else:
                    refused.add(token)

    return {token: points for token, points in points_by_token.items() if token not in refused}


def _all_of(spans: Mapping[str, Span]) -> Span:
    """Return the first and the last instant of all spans; an empty period without any."""
    if not spans:
        return NEVER, NEVER
    return min(start for start, _ in spans.values()), max(end for _, end in spans.values())


async def _many_histories(
    clob: HttpClient, tokens: Sequence[str], piece: Span, fidelity: int
) -> Mapping[str, object]:
    first, last = piece
    span = {
        "start_ts": int(first.timestamp()),
        "end_ts": int(last.timestamp()),
        "fidelity": fidelity * 60,
    }
    try:
        page = await clob.post("/batch-prices-history", {"markets": [*tokens], **span})
    except VenueError as error:
        if error.code in SPOILT_CODES:
            return {}
        raise

    points = member(page, "history")
    if not isinstance(points, dict):
        return {}
    return points


async def history(
    clob: HttpClient, token: str, start: datetime, end: datetime, hours: int = 1
) -> list[object]:
    """Return the prices of a token in a period, one for each this many hours, requested in pieces."""
    points: list[object] = []
    for fidelity in dict.fromkeys((hours, max(hours, COARSE))):
        for first, last in pieces(start, end, PIECE):
            asked = {"startTs": int(first.timestamp()), "endTs": int(last.timestamp())}
            page = await clob.get("/prices-history", market=token, **asked, fidelity=fidelity * 60)
            points += page_list(page, "history")
        if points:
            break

    return points
