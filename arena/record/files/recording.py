"""A record's markets as a bundle: their pages, prices and ends."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta

from sqlalchemy import Connection

from arena.record.queries.cohorts import read_learnt_resolutions
from arena.record.queries.markets import read_known_ids, read_pages_as_of, read_quote_rows_as_of
from arena.record.schema.statements import attributes_of, batches
from arena.record.schema.typed import columns_of, select
from arena.record.schema.world import MarketVersionRow, QuoteRow
from arena.record.write.listings import PAGE_FIELDS, QUOTE_FIELDS, quote_of
from markets.bundle import Sighting
from markets.model import Listing, Market, MarketId, Quote

ONE_DAY = timedelta(days=1)
Pages = dict[MarketId, list[tuple[datetime, Market]]]


def read_sightings(
    connection: Connection,
    since: datetime,
    until: datetime,
    read: Callable[[int, int], None] = lambda _done, _of: None,
) -> Iterator[Sighting]:
    """Yield everything that was seen in a period, and how markets ended by its end.

    Pages and prices stand where they changed, and once a day a price that stayed: who plays the recording
    can tell it from one that nobody has looked at for long. `read` is called with how many of how many days
    are in.
    """
    ids = read_known_ids(connection, until)
    pages = _page_versions(connection, ids, since, until)
    for versions in pages.values():
        for at, page in versions:
            yield Sighting(at, (Listing(page, None),))
    yield from _quote_sightings(pages, _price_changes(connection, since, until))

    ends_of_days = _ends_of_days(connection, since, until)
    last_seen = dict[MarketId, datetime]()
    for days_done, at in enumerate(ends_of_days, 1):
        for market, (row, seen_at) in read_quote_rows_as_of(connection, ids, at).items():
            # A market that nobody has looked at since the last midnight has the same price and time again.
            if seen_at >= since and last_seen.get(market) != seen_at:
                last_seen[market] = seen_at
                yield from _quote_sightings(pages, [quote_of(row, seen_at)])
        read(days_done, len(ends_of_days))

    # Every version counts from when the arena learnt it: no replay knows it sooner.
    for batch in batches(ids):
        learnt = read_learnt_resolutions(connection, batch, until)
        resolutions = (replace(end, known_at=max(end.known_at, at)) for end, at in learnt if at <= until)
        yield Sighting(until, (), tuple(resolutions))


def _page_versions(
    connection: Connection, ids: Sequence[MarketId], since: datetime, until: datetime
) -> Pages:
    """Return each market's page at the beginning, and every change of it."""
    versions: Pages = defaultdict(list)
    for market, page in read_pages_as_of(connection, ids, since).items():
        versions[market].append((since, page))

    columns = (MarketVersionRow.market_id, MarketVersionRow.at, *columns_of(MarketVersionRow, PAGE_FIELDS))
    changes = select(*columns).where(MarketVersionRow.at > since, MarketVersionRow.at <= until)
    for row in connection.execute(changes.order_by(MarketVersionRow.market_id, MarketVersionRow.version)):
        versions[row.market_id].append((row.at, Market(row.market_id, **attributes_of(row, *PAGE_FIELDS))))
    return versions


def _price_changes(connection: Connection, since: datetime, until: datetime) -> Iterator[Quote]:
    columns = (QuoteRow.market_id, *columns_of(QuoteRow, QUOTE_FIELDS))
    query = (
        select(*columns).where(QuoteRow.at >= since, QuoteRow.at <= until).order_by(QuoteRow.at, QuoteRow.id)
    )
    for row in connection.execute(query, execution_options={"yield_per": 1000}):
        yield quote_of(row)


def _ends_of_days(connection: Connection, since: datetime, until: datetime) -> list[datetime]:
    """Return every midnight after the first price, and the end itself."""
    first_price_at = connection.scalar(
        select(QuoteRow.at).where(QuoteRow.at >= since).order_by(QuoteRow.at).limit(1)
    )
    if first_price_at is None or first_price_at > until:
        return []
    first_midnight = datetime.combine(first_price_at.date(), time(), first_price_at.tzinfo)
    days = (until - first_midnight) // ONE_DAY
    midnights = [first_midnight + number * ONE_DAY for number in range(1, days + 1)]
    return [*midnights, until]


def _quote_sightings(pages: Pages, quotes: Iterable[Quote]) -> Iterator[Sighting]:
    """Yield prices with the pages of their time; a price older than its page gets that page."""
    for quote in quotes:
        versions = pages.get(quote.market_id)
        if versions:
            first_page_at, _ = versions[0]
            at = max(quote.at, first_page_at)
            pages_until_then = [page for page_at, page in versions if page_at <= at]
            page = pages_until_then[-1]
            yield Sighting(at, (Listing(page, quote),))
