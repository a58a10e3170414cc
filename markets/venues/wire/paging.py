"""Reading lists page by page, whatever their cursors, and requesting many things at once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, TypeVar

from markets.model import Listing, MarketId
from markets.venue import Catalogue, CatalogueFilter, VenueError
from markets.venues.wire.fields import RecordSorter, RejectedRecord, label, member, raw_json, shown_value
from markets.venues.wire.http import HttpClient, Parameter

T = TypeVar("T")
ListPage = tuple[list[object], str | None]
"""The records of a page, and the cursor of the next one; None on the last."""
AskPage = Callable[[str | None], Awaitable[ListPage]]
"""A function that requests the page of a list at a cursor."""
AskBatch = Callable[[Sequence[str]], Awaitable[list[object]]]
"""A function that requests the records of some names together."""
MakeListings = Callable[[object], Iterable[Listing | str]]
"""What turns a record into listings, or into reasons why it has none."""
NOT_THERE = frozenset({"missing", "refused"})
"""Errors of a venue that can be reached but doesn't answer this request."""
SPOILT_CODES = NOT_THERE | {"not_json", "too_large", "bad_page"}
"""Errors of a batch request that one bad name in it can cause."""
MOST_SPOILT = 3
"""After this many bad names and no good one, the venue itself may be failing."""


RESUMED_WITHIN = timedelta(minutes=15)
"""How long after its start an interrupted reading of a catalogue can be resumed."""


@dataclass(slots=True)
class ListPosition:
    """How far a list has been read: the cursor of its next page, and the records read so far."""

    cursor: str | None = None
    pages: int = 0
    names: set[str] = field(default_factory=set)


async def new_records(
    ask: AskPage,
    key: str,
    sorter: RecordSorter,
    most: int,
    position: ListPosition | None = None,
) -> AsyncIterator[list[object]]:
    """Yield the new records of each page of a list, to its end, before the next page is requested.

    Pages may overlap. One that says nothing new, though more are to come, is an error, and so are more pages
    than `most`. After an error of the venue the list can be read on from its `position`.
    """
    position = position or ListPosition()
    while position.pages < most:
        page, cursor = await ask(position.cursor)
        records: dict[str, object] = {}
        for raw in page:
            records.setdefault(label(raw, key) or raw_json(raw), raw)

        new_by_name = {name: raw for name, raw in records.items() if name not in position.names}
        position.pages += 1
        if len(new_by_name) < len(page):
            reason = f"{len(page) - len(new_by_name)} of {len(page)} records are repeats"
            sorter.report_fault(RejectedRecord("page", "repeated", reason), f"page {position.pages}")

        is_stuck = bool(page) or cursor == position.cursor
        if cursor is not None and not new_by_name and is_stuck:
            raise incomplete(f"page {position.pages} only repeats what was on the pages before it")

        position.names.update(new_by_name)  # |= would copy the set for each page
        position.cursor = cursor
        yield list(new_by_name.values())
        if cursor is None:
            return

    raise incomplete(
        f"there are more pages after page {most:,}", "name its markets, events or tags in the config"
    )


def incomplete(why: str, hint: str = "") -> VenueError:
    """Return the error of an incomplete list."""
    return VenueError("incomplete", f"its list is incomplete: {why}", hint or "try again in some minutes")


@dataclass(slots=True)
class PartOfCatalogue:
    """A partly read catalogue: how many lists are done, their records, and the listings so far."""

    wanted: CatalogueFilter
    since: datetime
    position: ListPosition = field(default_factory=ListPosition)
    lists: int = 0
    names: set[str] = field(default_factory=set)
    listings: dict[MarketId, Listing] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


class CatalogueReader:
    """Reads a venue's open markets completely; an interrupted reading is resumed where it stopped."""

    def __init__(self, key: str, sorter: RecordSorter):
        self._key = key
        self._sorter = sorter
        self._broken_off: PartOfCatalogue | None = None

    def resumed_filter(self, wanted: CatalogueFilter, at: datetime) -> CatalogueFilter:
        """Return the filter to request: that of an interrupted reading, if it is resumed."""
        return self._new_or_broken_off(wanted, at).wanted

    async def read(
        self,
        asks: Sequence[AskPage],
        make: MakeListings,
        wanted: CatalogueFilter,
        at: datetime,
        most_pages: int,
    ) -> Catalogue:
        """Return the catalogue; `make` gives a record's listings, or why there are none."""
        reading = self._new_or_broken_off(wanted, at)
        self._broken_off = None
        try:
            while reading.lists < len(asks):
                await self._read_list(asks[reading.lists], make, reading, most_pages)
                if reading.position.cursor is not None:
                    break
                reading.names |= reading.position.names
                reading.lists += 1
                reading.position = ListPosition()
        except VenueError as error:
            # A list that the venue's trouble broke off is read on by the next call.
            if error.code != "incomplete":
                self._broken_off = reading
            raise

        listings = list(reading.listings.values())
        if reading.since != at:  # resumed listings count as of now
            listings = [_quoted_at(listing, at) for listing in listings]

        # With pages left unread, the catalogue is limited to the records read so far.
        limit = None
        if reading.lists < len(asks):
            limit = len(reading.names | reading.position.names)
        return Catalogue(listings, dict(sorted(reading.left_out.items())), limit)

    async def _read_list(
        self,
        ask: AskPage,
        make: MakeListings,
        partial_catalogue: PartOfCatalogue,
        most_pages: int,
    ) -> None:
        """Read a list to its end, or as many of its pages as are wanted."""
        async for raws in new_records(ask, self._key, self._sorter, most_pages, partial_catalogue.position):
            unseen = raws
            if partial_catalogue.names:
                unseen = [raw for raw in raws if label(raw, self._key) not in partial_catalogue.names]
            for listing_or_reason in chain.from_iterable(map(make, unseen)):
                if isinstance(listing_or_reason, str):
                    partial_catalogue.left_out[listing_or_reason] += 1
                else:
                    partial_catalogue.listings[listing_or_reason.market.id] = listing_or_reason
            if partial_catalogue.position.pages == partial_catalogue.wanted.pages:
                break

    def _new_or_broken_off(self, wanted: CatalogueFilter, at: datetime) -> PartOfCatalogue:
        """Return what a recent reading with the same filter got; else an empty part."""
        old = self._broken_off
        if old is None or not timedelta() <= at - old.since <= RESUMED_WITHIN:
            return PartOfCatalogue(wanted, at)
        same = replace(wanted, closes_until=old.wanted.closes_until) == old.wanted
        if same:
            return old
        return PartOfCatalogue(wanted, at)


def _quoted_at(listing: Listing, at: datetime) -> Listing:
    if listing.quote is None:
        return listing
    return replace(listing, quote=replace(listing.quote, at=at))


def page_list(page: object, key: str | None = None) -> list[object]:
    """Return the list that a page is, or has under a key."""
    records = page
    what = "a list"
    if key is not None:
        records = member(page, key)
        what = f"a list of {key}"
    if not isinstance(records, list):
        hint = "check the venue's url in the config; the venue may have changed its API"
        raise VenueError("bad_page", f"a page is not {what}", hint)
    return records


def next_cursor(page: object, key: str) -> str | None:
    """Return the cursor of the next page, or None on the last, whose cursor is empty or missing."""
    after = member(page, key)
    if after is None or isinstance(after, str):
        return after or None
    raise incomplete(f"the cursor of its next page is {shown_value(after)}")


def pieces(start: datetime, end: datetime, width: timedelta) -> Iterable[tuple[datetime, datetime]]:
    """Yield the pieces of a period, each of at most this width."""
    while start < end:
        yield start, min(start + width, end)
        start += width


async def get_or_none(http: HttpClient, path: str, **params: Parameter) -> object:
    """Return an answer; None where the venue can be reached but doesn't give one."""
    try:
        return await http.get(path, **params)
    except VenueError as error:
        if error.code in NOT_THERE:
            return None
        raise


async def get_without_if_refused(
    http: HttpClient, path: str, doubtful: Mapping[str, Parameter], **params: Parameter
) -> Any:
    """Return an answer; if refused, the answer without the doubtful parameters."""
    try:
        return await http.get(path, **params, **doubtful)
    except VenueError as error:
        if error.code != "refused":
            raise
    return await http.get(path, **params)


async def report_if_missing(answer: Awaitable[T], what: str, record: str, sorter: RecordSorter) -> T | None:
    """Return an answer; report it, and return None, where the venue has no such thing."""
    try:
        return await answer
    except VenueError as error:
        if error.code not in NOT_THERE:
            raise
        sorter.report_fault(RejectedRecord("page", "missing", f"the venue has no {what}"), record)
        return None


async def gather_all(questions: Iterable[Awaitable[T]]) -> list[T]:
    """Return the answers to concurrent requests; if any fails, raise after all have ended."""
    answers = await asyncio.gather(*questions, return_exceptions=True)
    good: list[T] = []
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        good.append(answer)
    return good


def batches(names: Sequence[str], size: int) -> list[Sequence[str]]:
    """Return the names in batches of this size."""
    return [names[n : n + size] for n in range(0, len(names), size)]


def records_by_name(raws: Iterable[object], key: str, wanted: Iterable[str]) -> dict[str, object]:
    """Return the wanted records, by their names under a key."""
    names = frozenset(wanted)
    wanted_records = {}
    for raw in raws:
        name = label(raw, key)
        if name in names:
            wanted_records[name] = raw
    return wanted_records


async def ask_in_batches(
    ask: AskBatch,
    names: Sequence[str],
    size: int,
    key: str,
    sorter: RecordSorter,
) -> dict[str, object]:
    """Return the records of these names by name, requested in batches."""
    pages = await gather_all(ask_in_parts(ask, some, sorter) for some in batches(names, size))
    return records_by_name(chain.from_iterable(pages), key, names)


async def ask_in_parts(ask: AskBatch, names: Sequence[str], sorter: RecordSorter) -> list[object]:
    """Return the records of these names, requested together; find and report names that spoil a request.

    A question that is refused is asked in halves, down to the name at fault. Where the first few names spoil
    it, and the last one too, it is the venue that is at fault: it is not asked for all the others.
    """
    errors: dict[str, VenueError] = {}
    records: list[object] = []
    is_any_answered = False
    batches_to_ask = [names] if names else []

    while batches_to_ask:
        names_asked = batches_to_ask.pop()
        try:
            records += await ask(names_asked)
            is_any_answered = True
        except VenueError as error:
            if error.code not in SPOILT_CODES:
                raise

            half_size = len(names_asked) // 2
            if half_size:
                batches_to_ask += [names_asked[half_size:], names_asked[:half_size]]
            else:
                errors[names_asked[0]] = error

        # The last name decides: if it fails too, its error is raised from here.
        if len(names_asked) == 1 and len(errors) == MOST_SPOILT and not is_any_answered:
            await ask(names[-1:])

    if names and len(names) == len(errors):
        raise errors[names[0]]

    for name, trouble in errors.items():
        message = f"asked for this one: {trouble.message}"
        sorter.report_fault(RejectedRecord("market", trouble.code, message), name)

    return records
