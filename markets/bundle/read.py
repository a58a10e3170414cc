"""From a folder to a recording that holds together, or to every mistake in it at once."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from markets.bundle.draft import READERS, At, Draft
from markets.bundle.files import find_files, hash_file, hash_of_all, lines
from markets.bundle.mistakes import Mistake, Mistakes
from markets.bundle.model import Bundle, Recording
from markets.bundle.rows import EMPTY, BundlePage, with_book
from markets.hashes import digest, market_hash, quote_hash, timestamp_text
from markets.ladders import ladders
from markets.model import MarketId, Quote
from markets.stories import story_by_subject
from markets.venue import VenueError

HELD: WeakValueDictionary[str, Bundle] = WeakValueDictionary()
"""The recordings that are in use, by the hash of their files."""
LATE_PRICES = timedelta(days=7)
"""How long after its end prices of a market are odd: its end may bear a wrong date."""
NAMED = 10
"""How many mistakes the message of a BadBundle names."""


@dataclass(frozen=True, slots=True)
class BundleReport:
    """What is in a bundle. `mistakes` are the first ones, `wrong` is how many there are.

    `warnings` are times that can't be right, of which the bundle can be used all the same.

    Counted is what could be read. `events`, the time of the `first` and `last` price, and the hash
    `content` are there where nothing is wrong.
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
        """Whether nothing is wrong."""
        return not self.wrong


class BadBundle(VenueError):
    """A bundle with mistakes. Nothing of it is used."""

    def __init__(self, folder: Path, report: BundleReport):
        some = [str(mistake) for mistake in report.mistakes[:NAMED]]
        if report.wrong > NAMED:
            some.append(f"and {report.wrong - NAMED:,} more")
        words = f"{folder} can't be used: {report.wrong:,} mistake{'' if report.wrong == 1 else 's'} in it"
        hint = f"arena markets check {folder} lists them"
        super().__init__("bad_bundle", "\n".join((words, *some)), hint)
        self.report = report


def read(folder: Path) -> Bundle:
    """The recording in a folder, or BadBundle with all that is wrong with it.

    One that somebody holds already is not read again, as long as not a byte of it has changed.
    """
    if (held := HELD.get(hash_file(folder))) is not None:
        return held
    bundle, report = _examine(folder)
    if bundle is None:
        raise BadBundle(folder, report)
    HELD[bundle.files] = bundle
    return bundle


def check(folder: Path) -> BundleReport:
    """What is in a folder, and all that is wrong with it."""
    return _examine(folder)[1]


def _examine(folder: Path) -> tuple[Bundle | None, BundleReport]:
    draft, seen = Draft(), dict[str, Any]()
    for name, part in find_files(folder, draft.mistakes).items():
        seen[name] = hashlib.sha256()
        tell = partial(draft.mistakes.add, part.path.name)
        READERS[name](draft, lines(part, seen[name], tell), tell)
    if draft.mistakes.count:
        return None, _report(draft, None)
    markets = _recordings(draft)
    bundle = Bundle(markets, content_hash(markets), hash_of_all(seen))
    return bundle, _report(draft, bundle)


def content_hash(markets: Mapping[MarketId, Recording]) -> str:
    """The hash of what a recording says: every page, price and end with the instant from which it counts."""
    whole = hashlib.sha256()
    for record in markets.values():
        pages = zip(record.seen, map(market_hash, record.pages), strict=True)
        prices = zip(record.known, map(quote_hash, record.quotes), strict=True)
        known = [f"{hash} {timestamp_text(at)}" for at, hash in (*pages, *prices)]
        known += [*map(digest, record.ends), str(record.daily)]
        whole.update("\n".join(known).encode())
    return whole.hexdigest()


def _impossible_times(draft: Draft, markets: Mapping[MarketId, Recording]) -> list[Mistake]:
    """Ends before their market opened, or long before its last price."""
    mistakes = Mistakes()
    for market, (file, line) in sorted(draft.end_lines.items(), key=itemgetter(1)):
        record, end = markets[market], draft.ends[market][0]
        opens_at = min(page.opens_at for page in record.pages)
        last = record.known[-1] if record.known else end.known_at
        found = f"{market} ended {end.known_at:%Y-%m-%d}"
        if end.known_at <= opens_at:
            mistakes.add(
                file, line, found, f"an end after it opened, {opens_at:%Y-%m-%d}: it is never on offer"
            )
        elif last - end.known_at > LATE_PRICES:
            mistakes.add(file, line, found, f"an end near its last price, {last:%Y-%m-%d}")
    return mistakes.kept


def _report(draft: Draft, bundle: Bundle | None) -> BundleReport:
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


def _recordings(draft: Draft) -> dict[MarketId, Recording]:
    pages, quotes = defaultdict[MarketId, list[tuple[datetime, BundlePage]]](list), _quotes(draft)
    for (market, seen), (_, page) in sorted(draft.pages.items(), key=lambda item: item[0]):
        pages[market].append((seen, page))
    firsts = {market: versions[0][1] for market, versions in pages.items()}
    events, stories = _events(firsts), {market: _story(page) for market, page in firsts.items()}
    return {
        market: Recording(
            seen=tuple(seen for seen, _ in versions),
            pages=tuple(
                replace(page.market, event_id=events[market], story=page.market.story or stories[market])
                for _, page in versions
            ),
            known=tuple(quote.at for quote in quotes[market]),
            quotes=tuple(quotes[market]),
            ends=tuple(draft.ends.get(market, ())),
            daily=market in draft.daily,
        )
        for market, versions in pages.items()
    }


def _story(page: BundlePage) -> str:
    """The story as a market's first page names it; where it names no event either, its subject."""
    market = page.market
    if market.story or market.event_id:
        return market.story
    return story_by_subject(market.id, market.question, market.closes_at)


def _quotes(draft: Draft) -> defaultdict[MarketId, list[Quote]]:
    """Every market's quotes in the order of time: a price and a book of the same instant are one."""
    merged: dict[At, Quote] = {key: quote for key, (_, quote) in draft.prices.items()}
    for key, (_, book) in draft.books.items():
        merged[key] = with_book(merged[key], book) if key in merged else book
    quotes = defaultdict[MarketId, list[Quote]](list)
    for market, at in sorted(merged):
        quotes[market].append(merged[market, at])
    return quotes


def _events(pages: dict[MarketId, BundlePage]) -> dict[MarketId, str]:
    """The event as the page names it; else one for an equal background, else by ladder, else its own."""
    named = {market: page.market.event_id for market, page in pages.items() if page.market.event_id}
    texts = {market: page.background for market, page in pages.items() if market not in named}
    count = Counter(texts.values())
    alike = {m: f"background:{digest(text)[:12]}" for m, text in texts.items()
             if text not in EMPTY and count[text] > 1}  # fmt: skip
    rest = {market: pages[market].market.question for market in texts if market not in alike}
    steps = {market: f"ladder:{key}" for market, key in ladders(rest).items()}
    return {market: market for market in pages} | steps | alike | named
