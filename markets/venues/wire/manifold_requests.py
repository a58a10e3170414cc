"""What Manifold is asked, and how: lists page by page, chosen markets one by one."""

from collections.abc import Awaitable, Callable, Sequence

from markets.venue import VenueError
from markets.venues.wire.fields import RecordSorter, RejectedRecord, is_name, label
from markets.venues.wire.http import HttpClient
from markets.venues.wire.paging import ListPage, all_records, gather_all, page_list

A_PAGE = 1_000
ITS_OWN_TROUBLE = frozenset({"missing", "refused", "server_error", "not_json", "too_large"})
"""What may be wrong with one record alone, since the venue did answer."""


async def newest_markets(http: HttpClient, sorter: RecordSorter, most: int) -> list[object]:
    """So many of the newest markets, of every kind."""
    return await _newest_records(
        lambda n, before: http.get("/v0/markets", limit=n, before=before), sorter, most
    )


async def bets(http: HttpClient, sorter: RecordSorter, name: str, most: int) -> list[object]:
    """So many of the newest bets on a market, newest first."""

    async def ask(size: int, before: str | None) -> object:
        return await http.get("/v0/bets", contractId=name, limit=size, before=before)

    return await _newest_records(ask, sorter, most)


async def _newest_records(
    ask: Callable[[int, str | None], Awaitable[object]], sorter: RecordSorter, most: int
) -> list[object]:
    """The newest records of a list; the next page starts before the last record of this one."""
    left = most

    async def next_page(before: str | None) -> ListPage:
        nonlocal left
        page = page_list(await ask(min(A_PAGE, left), before))
        left -= len(page)
        names = [name for raw in page if is_name(name := label(raw, "id"))]
        if page and not names:
            sorter.tell(
                RejectedRecord("page", "no_cursor", "none of its records has an id: later pages are lost"),
                "list",
            )
        return page, names[-1] if names and left > 0 else None

    return await all_records(next_page, "id", sorter, -(-most // A_PAGE))


async def records(http: HttpClient, sorter: RecordSorter, names: Sequence[str]) -> list[object]:
    """The records of these markets, in the order asked for. Trouble with one doesn't keep back the others."""
    answers = await gather_all(_one_record(http, name) for name in names)
    troubles = [trouble for _, trouble in answers if trouble is not None and trouble.code != "missing"]
    if troubles and all(trouble is not None for _, trouble in answers):
        raise troubles[0]
    named = zip(names, answers, strict=True)
    return [raw for name, (raw, trouble) in named if _is_record_of(name, raw, trouble, sorter)]


async def _one_record(http: HttpClient, name: str) -> tuple[object, VenueError | None]:
    """A record, or what the venue said instead of it."""
    try:
        return await http.get(f"/v0/market/{name}"), None
    except VenueError as error:
        if error.code in ITS_OWN_TROUBLE:
            return None, error
        raise


def _is_record_of(name: str, raw: object, trouble: VenueError | None, sorter: RecordSorter) -> bool:
    """Whether an answer is the record asked for; else it is told why not."""
    if trouble is not None:
        sorter.tell(RejectedRecord("market", trouble.code, trouble.message), name)
    elif label(raw, "id") != name:
        sorter.tell(RejectedRecord("market", "malformed", "the venue sent another record instead"), name, raw)
    else:
        return True
    return False
