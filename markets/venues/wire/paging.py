"""Going through a list page by page, however the pages go on, and asking many things at once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from markets.venue import VenueError
from markets.venues.wire.fields import RecordSorter, RejectedRecord, label, raw_json, shown_value
from markets.venues.wire.http import HttpClient, Parameter

T = TypeVar("T")
ListPage = tuple[list[object], str | None]
"""The records of a page, and what to ask the next one with; None on the last."""
NOT_THERE = frozenset({"missing", "refused"})
"""How a venue that can be reached says that it won't answer this."""
SPOILT_CODES = NOT_THERE | {"not_json", "too_large", "bad_page"}
"""How a venue answers a question that one of its names spoils for all."""


async def all_records(
    ask: Callable[[str | None], Awaitable[ListPage]], key: str, sorter: RecordSorter, most: int
) -> list[object]:
    """The records of all pages, each once, as `new_records` finds them."""
    return [raw async for page in new_records(ask, key, sorter, most) for raw in page]


async def new_records(
    ask: Callable[[str | None], Awaitable[ListPage]], key: str, sorter: RecordSorter, most: int
) -> AsyncIterator[list[object]]:
    """What is new on each page, before the next one is asked for: long lists need not be held whole.

    A page that brings nothing new ends it, whatever follows: some services repeat a page for ever.
    So does the page after the `most`-th.
    """
    names_before: set[str] = set()
    cursor: str | None = None
    for number in range(1, most + 1):
        page, cursor = await ask(cursor)
        new: dict[str, object] = {}
        for raw in page:
            new.setdefault(label(raw, key) or raw_json(raw), raw)
        fresh = [raw for name, raw in new.items() if name not in names_before]
        if len(fresh) < len(page):
            reason = f"{len(page) - len(fresh)} of {len(page)} records are repeats"
            sorter.tell(RejectedRecord("page", "repeated", reason), f"page {number}")
        if fresh:
            yield fresh
        if cursor is None or not fresh:
            return
        names_before |= new.keys()
    sorter.tell(RejectedRecord("page", "too_many", f"there are more pages after page {most}"), f"page {most}")


def page_list(page: object, key: str | None = None) -> list[object]:
    """The list that a page is, or has under a key."""
    records = page if key is None else page.get(key) if isinstance(page, dict) else None
    if not isinstance(records, list):
        what = "a list" if key is None else f"a list of {key}"
        hint = "check the venue's url in the config; the venue may have changed its API"
        raise VenueError("bad_page", f"a page is not {what}", hint)
    return records


def next_cursor(page: object, key: str, sorter: RecordSorter, path: str) -> str | None:
    """What to ask the next page with: empty, or not there at all, on the last."""
    after = page.get(key) if isinstance(page, dict) else None
    if after is None or isinstance(after, str):
        return after or None
    words = f"its cursor is {shown_value(after)}: later pages are lost"
    sorter.tell(RejectedRecord("page", "bad_cursor", words), path)
    return None


async def get_or_none(http: HttpClient, path: str, **params: Parameter) -> object:
    """An answer; None where this venue doesn't give one, though it can be reached."""
    try:
        return await http.get(path, **params)
    except VenueError as error:
        if error.code in NOT_THERE:
            return None
        raise


async def gather_all(questions: Iterable[Awaitable[T]]) -> list[T]:
    """The answers to all questions, asked side by side; when one fails, after all have ended."""
    answers = await asyncio.gather(*questions, return_exceptions=True)
    good: list[T] = []
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        good.append(answer)
    return good


async def ask_in_parts(
    ask: Callable[[Sequence[str]], Awaitable[list[object]]], names: Sequence[str], sorter: RecordSorter
) -> list[object]:
    """The records of these names, asked for together; one that spoils the question is found and told.

    Where a question is refused, each half of it is asked by itself, down to the name that is at fault.
    Where every name spoils it, it is the venue that is at fault.
    """
    spoilt: list[VenueError] = []

    async def part(some: Sequence[str]) -> list[object]:
        try:
            return await ask(some)
        except VenueError as error:
            if error.code not in SPOILT_CODES:
                raise
            if len(some) == 1:
                spoilt.append(error)
                sorter.tell(
                    RejectedRecord("market", error.code, f"asked for this one: {error.message}"), some[0]
                )
                return []
        half = len(some) // 2
        return [*await part(some[:half]), *await part(some[half:])]

    records = await part(names) if names else []
    if names and len(names) == len(spoilt):
        raise spoilt[0]
    return records
