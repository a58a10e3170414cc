"""Reading a bundle from a folder into a consistent recording, or reporting every mistake in it at once."""

import csv
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from markets.bundle import rows
from markets.bundle.files import (
    BOOKS,
    ENDS,
    MARKETS,
    PRICES,
    BundleFile,
    Hash,
    MistakeSink,
    Numbered,
    find_files,
    hash_file,
    hash_of_all,
    numbered_lines,
)
from markets.bundle.model import BadBundleValue, Bundle, Mistake, Mistakes, Recording, shown_value
from markets.hashes import digest, end_content, market_hash, quote_hash, timestamp_text
from markets.ladders import ladders
from markets.model import MarketId, Quote, Resolution
from markets.stories import story_by_subject
from markets.venue import VenueError

T = TypeVar("T")
At = tuple[MarketId, datetime]
Records = Iterator[tuple[int, dict[str, Any]]]
ALWAYS = datetime.min.replace(tzinfo=UTC)
"""When a page without a time of its own became known."""
HELD: WeakValueDictionary[str, Bundle] = WeakValueDictionary()
"""Recordings in use, by the hash of their files."""
LATE_PRICES = timedelta(days=7)
"""Prices later than this after the resolution suggest that its date is wrong."""
NAMED = 10
"""How many mistakes the message of a BadBundle names."""


@dataclass(frozen=True, slots=True)
class BundleReport:
    """What is in a bundle. `mistakes` are the first ones, `wrong` is how many there are.

    `warnings` are times that can't be right, of which the bundle can be used all the same. Counted is what
    could be read. `events`, the time of the `first` and `last` price, and the hash `content` are there where
    nothing is wrong.
    """

    markets: int
    prices: int
    books: int
    resolutions: int
    events: int | None
    first: datetime | None
    last: datetime | None
    content: str | None
    wrong: int
    mistakes: tuple[Mistake, ...]
    warnings: tuple[Mistake, ...] = ()

    @property
    def ok(self) -> bool:
        """Tell whether the bundle has no mistakes."""
        return not self.wrong


class BadBundle(VenueError):
    """A bundle with mistakes, of which nothing is used."""

    def __init__(self, folder: Path, report: BundleReport):
        some = list(map(str, report.mistakes[:NAMED]))
        if report.wrong > NAMED:
            some.append(f"and {report.wrong - NAMED:,} more")
        words = f"{folder} can't be used: {report.wrong:,} mistake{'' if report.wrong == 1 else 's'} in it"
        hint = f"arena check {folder} lists them" if folder.is_dir() else "name the folder of a recording"
        super().__init__("bad_bundle", "\n".join((words, *some)), hint)
        self.report = report


@dataclass(slots=True)
class Draft:
    """The contents of the files so far; `end_lines` are the file and line of each first resolution."""

    mistakes: Mistakes = field(default_factory=Mistakes)
    pages: dict[At, tuple[int, rows.BundlePage]] = field(default_factory=dict)
    prices: dict[At, tuple[int, Quote]] = field(default_factory=dict)
    books: dict[At, tuple[int, Quote]] = field(default_factory=dict)
    ends: dict[MarketId, list[Resolution]] = field(default_factory=dict)
    end_lines: dict[MarketId, tuple[str, int]] = field(default_factory=dict)
    listed: set[MarketId] = field(default_factory=set)
    forms: dict[MarketId, str] = field(default_factory=dict)
    missed: set[MarketId] = field(default_factory=set)
    daily: set[MarketId] = field(default_factory=set)
    whole_list: bool = False


def read(folder: Path) -> Bundle:
    """Return the recording in a folder, from memory while its files haven't changed; raise BadBundle."""
    bundle_in_memory = HELD.get(hash_file(folder))
    if bundle_in_memory is not None:
        return bundle_in_memory
    bundle, report = _read_and_check(folder)
    if bundle is None:
        raise BadBundle(folder, report)
    HELD[bundle.files] = bundle
    return bundle


def check(folder: Path) -> BundleReport:
    """Return what a folder holds, and every mistake in it."""
    return _read_and_check(folder)[1]


def _read_and_check(folder: Path) -> tuple[Bundle | None, BundleReport]:
    """Return the recording in a folder, or None if it has mistakes, with the report on it."""
    draft = Draft()
    hash_by_name = dict[str, Hash]()

    for name, part in find_files(folder, draft.mistakes).items():
        hash_by_name[name] = hashlib.sha256()
        tell = partial(draft.mistakes.add, part.path.name)
        mistakes_before = draft.mistakes.count

        for line, record in records(name, part, hash_by_name[name], tell):
            for read_record in READERS[name]:
                try:
                    read_record(draft, line, record)
                except BadBundleValue as error:
                    tell(line, error.wrong, error.meant)

        if name == MARKETS:
            draft.whole_list = draft.mistakes.count == mistakes_before

    if draft.mistakes.count:
        return None, _bundle_report(draft, None)

    markets = _build_recordings(draft)
    bundle = Bundle(markets, content_hash(markets), hash_of_all(hash_by_name))
    return bundle, _bundle_report(draft, bundle)


def _note_page(draft: Draft, line: int, record: Any) -> None:
    page = rows.page(record)
    market = page.market.id
    draft.listed.add(market)
    draft.forms[market] = page.market.form
    _once(draft.pages, (market, page.seen or ALWAYS), line, page, f"a second page of {market}")


def _note_end_within(draft: Draft, line: int, record: Any) -> None:
    end = rows.end_within(record)
    if end is None:
        return
    if draft.ends.setdefault(end.market_id, [end]) != [end]:
        raise BadBundleValue(f"another end of {end.market_id}", "one, and later versions in resolutions.csv")
    draft.end_lines.setdefault(end.market_id, (MARKETS, line))
    _note_daily(draft, end.market_id, record, "resolution_date")


def _note_price(draft: Draft, line: int, record: Any) -> None:
    quote = rows.quote(record)
    _note_quote(draft, draft.prices, line, quote, "price")
    _note_daily(draft, quote.market_id, record, "date")


def _note_book(draft: Draft, line: int, record: Any) -> None:
    _note_quote(draft, draft.books, line, rows.book(record), "book")


def _note_quote(
    draft: Draft, quotes: dict[At, tuple[int, Quote]], line: int, quote: Quote, what: str
) -> None:
    if _check_listed(draft, quote.market_id):
        wrong = f"a second {what} of {quote.market_id} known from {quote.at:%Y-%m-%d %H:%M}"
        _once(quotes, (quote.market_id, quote.at), line, quote, wrong)


def _note_end(draft: Draft, line: int, record: Any) -> None:
    """Add a version of a resolution; versions must be in order, each known no earlier than the last."""
    end = rows.end(record)
    if not _check_listed(draft, end.market_id):
        return

    end = rows.with_answer(end, draft.forms[end.market_id])
    market = end.market_id
    versions = draft.ends.setdefault(market, [])
    next_version = len(versions) + 1
    if end.version != next_version:
        raise BadBundleValue(f"version {end.version} of how {market} ended", f"version {next_version}")
    if versions and end.known_at < versions[-1].known_at:
        raise BadBundleValue(f"a version of {market} known before the last one", "versions in order of time")

    versions.append(end)
    draft.end_lines.setdefault(market, (ENDS, line))
    _note_daily(draft, market, record, "known_at")


READERS: Mapping[str, Sequence[Callable[[Draft, int, Any], None]]] = {
    MARKETS: (_note_page, _note_end_within),
    PRICES: (_note_price,),
    BOOKS: (_note_book,),
    ENDS: (_note_end,),
}


def _note_daily(draft: Draft, market: MarketId, record: Any, key: str) -> None:
    if rows.bears_date(record, key):
        draft.daily.add(market)


def _once(values: dict[At, tuple[int, T]], key: At, line: int, value: T, wrong: str) -> None:
    if key in values:
        raise BadBundleValue(wrong, f"one only: the first stands on line {values[key][0]}")
    values[key] = line, value


def _check_listed(draft: Draft, market: MarketId) -> bool:
    """Tell whether a market has a page; if the list was readable, raise once for each that has none."""
    if market in draft.listed:
        return True
    is_reported_already = market in draft.missed
    draft.missed.add(market)
    if draft.whole_list and not is_reported_already:
        raise BadBundleValue(f"the market {shown_value(market)}", f"a market of {MARKETS}")
    return False


def records(name: str, part: BundleFile, seen: Hash, tell: MistakeSink) -> Records:
    """Yield the records of a file with their line numbers; report mistakes, and hash all that is read."""
    numbered = numbered_lines(part, seen, tell)
    if name in rows.COLUMNS:
        return _csv_records(numbered, *rows.COLUMNS[name], tell)
    return _json_records(numbered, tell)


def _json_records(numbered: Numbered, tell: MistakeSink) -> Records:
    """Yield the objects of a JSON Lines file; numbers are kept exactly as written."""
    for number, text in numbered:
        try:
            record = json.loads(
                text,
                parse_float=Decimal,
                parse_constant=_no_number,
                object_pairs_hook=_object_without_repeats,
            )
        except BadBundleValue as error:
            tell(number, error.wrong, error.meant)
        except (ValueError, ArithmeticError, RecursionError):
            tell(number, "no JSON", "one JSON object on the line")
        else:
            if isinstance(record, dict):
                yield number, record
            else:
                tell(number, "JSON that is not an object", "one JSON object on the line")


def _no_number(word: str) -> None:
    raise BadBundleValue(word, "a number")


def _object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise BadBundleValue("a key that appears twice", "every key once")
    return record


def _csv_records(
    numbered: Numbered, needed: Sequence[str], optional: Sequence[str], tell: MistakeSink
) -> Records:
    """Yield the rows of a table as dicts keyed by its header."""
    table = _numbered_rows(numbered, tell)
    line, columns = next(table, (0, []))
    if not _check_columns(columns, needed, optional, line, tell):
        return

    for number, row in table:
        if len(row) == len(columns):
            yield number, dict(zip(columns, row, strict=True))
        else:
            tell(number, f"{len(row)} values", f"{len(columns)}, one for each column")


def _numbered_rows(numbered: Numbered, tell: MistakeSink) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table with the number of the line on which each ends."""
    number = 0

    def texts() -> Iterator[str]:
        nonlocal number
        for line, text in numbered:
            number = line
            yield text

    reader = csv.reader(texts(), strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            tell(number, f"no row ({error})", "values with commas between them")
        else:
            yield number, row


def _check_columns(
    columns: Sequence[str], needed: Sequence[str], optional: Sequence[str], line: int, tell: MistakeSink
) -> bool:
    """Tell whether a table has all required columns, each once, and no unknown one."""
    missing = [name for name in needed if name not in columns]
    unexpected = [name for name in columns if name not in (*needed, *optional) or columns.count(name) > 1]
    if missing:
        wrong = f"no column {missing[0]}"
    elif unexpected:
        wrong = f'the column "{unexpected[0][:40]}"'
    else:
        return True

    tell(line, wrong, f"{','.join(needed)} and, where known, {','.join(optional)}")
    return False


def content_hash(markets: Mapping[MarketId, Recording]) -> str:
    """Return the hash of what a recording says: each page, price and resolution with its time."""
    whole = hashlib.sha256()
    for record in markets.values():
        page_hashes = zip(record.seen, map(market_hash, record.pages), strict=True)
        price_hashes = zip(record.known, map(quote_hash, record.quotes), strict=True)
        hash_lines = [f"{line_hash} {timestamp_text(at)}" for at, line_hash in (*page_hashes, *price_hashes)]
        hash_lines += [digest(end_content(end)) for end in record.ends]
        hash_lines.append(str(record.daily))
        whole.update("\n".join(hash_lines).encode())

    return whole.hexdigest()


def _impossible_times(draft: Draft, markets: Mapping[MarketId, Recording]) -> list[Mistake]:
    """Return a mistake for each market that ended before it opened or long before its last price."""
    mistakes = Mistakes()
    for market, (file, line) in sorted(draft.end_lines.items(), key=itemgetter(1)):
        record = markets[market]
        end = draft.ends[market][0]
        opens_at = min(page.opens_at for page in record.pages)
        last_price_at = record.known[-1] if record.known else end.known_at
        end_text = f"{market} ended {end.known_at:%Y-%m-%d}"

        if end.known_at <= opens_at:
            mistakes.add(
                file, line, end_text, f"an end after it opened, {opens_at:%Y-%m-%d}: it is never on offer"
            )
        elif last_price_at - end.known_at > LATE_PRICES:
            mistakes.add(file, line, end_text, f"an end near its last price, {last_price_at:%Y-%m-%d}")

    return mistakes.kept


def _bundle_report(draft: Draft, bundle: Bundle | None) -> BundleReport:
    whole = bundle or Bundle({}, "", "")
    events = {record.pages[0].event_id for record in whole.markets.values()}
    return BundleReport(
        markets=len(draft.listed),
        prices=len(draft.prices),
        books=len(draft.books),
        resolutions=sum(map(len, draft.ends.values())),
        events=None if bundle is None else len(events),
        first=whole.first_price,
        last=whole.last_price,
        content=whole.content or None,
        wrong=draft.mistakes.count,
        mistakes=tuple(draft.mistakes.kept),
        warnings=() if bundle is None else tuple(_impossible_times(draft, bundle.markets)),
    )


def _build_recordings(draft: Draft) -> dict[MarketId, Recording]:
    pages = defaultdict[MarketId, list[tuple[datetime, rows.BundlePage]]](list)
    quotes = _merged_quotes(draft)
    for (market, seen), (_, page) in sorted(draft.pages.items(), key=lambda item: item[0]):
        pages[market].append((seen, page))

    events = _event_of_market({market: versions[0][1] for market, versions in pages.items()})
    recordings = {}
    for market, versions in pages.items():
        story = _story(versions[0][1])
        event = events[market]
        recordings[market] = Recording(
            seen=tuple(seen for seen, _ in versions),
            pages=tuple(
                replace(page.market, event_id=event, story=page.market.story or story) for _, page in versions
            ),
            known=tuple(quote.at for quote in quotes[market]),
            quotes=tuple(quotes[market]),
            ends=tuple(draft.ends.get(market, ())),
            daily=market in draft.daily,
        )
    return recordings


def _story(page: rows.BundlePage) -> str:
    """Return the story that a market's first page names; without one or an event, the question's subject."""
    market = page.market
    if market.story or market.event_id:
        return market.story
    return story_by_subject(market.id, market.question, market.closes_at)


def _merged_quotes(draft: Draft) -> defaultdict[MarketId, list[Quote]]:
    """Return each market's quotes in order of time; a price and a book of the same instant are merged."""
    merged: dict[At, Quote] = {key: quote for key, (_, quote) in draft.prices.items()}
    for key, (_, book) in draft.books.items():
        merged[key] = rows.with_book(merged[key], book) if key in merged else book
    quotes = defaultdict[MarketId, list[Quote]](list)
    for market, at in sorted(merged):
        quotes[market].append(merged[market, at])
    return quotes


def _event_of_market(pages: dict[MarketId, rows.BundlePage]) -> dict[MarketId, str]:
    """Return each market's event: as named, else by equal background, else by ladder, else its own."""
    events: dict[MarketId, str] = {}
    pages_without_event = {}
    for market, page in pages.items():
        events[market] = page.market.event_id or market
        if not page.market.event_id:
            pages_without_event[market] = page

    background_counts = Counter(page.background for page in pages_without_event.values())
    ladder_questions = {}

    for market, page in pages_without_event.items():
        if page.background not in rows.EMPTY and background_counts[page.background] > 1:
            events[market] = f"background:{digest(page.background)[:12]}"
        else:
            ladder_questions[market] = page.market.question

    for market, key in ladders(ladder_questions).items():
        events[market] = f"ladder:{key}"
    return events
