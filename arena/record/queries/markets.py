"""Markets as people look at them: what each asks, its category, price and end, and where it was shown last.

A market's page and price are also read as they were known at an instant.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, func
from sqlalchemy.orm import aliased

from arena.errors import ArenaError
from arena.record.queries.cohorts import IS_TRADING, read_cohorts, read_resolutions
from arena.record.schema.cohort import CohortRow, RoundRow, SnapshotItemRow
from arena.record.schema.newest import NEWEST_TIME, is_in_markets, markets_parameter, newest_rows
from arena.record.schema.statements import attributes_of, batches
from arena.record.schema.typed import IDS, AnySelect, col, column_of, columns_of, select
from arena.record.schema.world import MarketRow, MarketVersionRow, QuoteRow, ResolutionRow, SyncRow
from arena.record.write.listings import PAGE_FIELDS, QUOTE_FIELDS, last_sightings, quote_of
from arena.record.write.sync import markets_gone_since
from markets.model import Listing, Market, MarketId, Quote, Resolution

FIRST_ROUNDS = 4
"""So many rounds are looked through at first; twice as many each time that these are not enough."""
BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ShowingRound:
    """A round that showed a market: its id and when it was decided."""

    round_id: int
    at: datetime


SHOWING_ROUNDS = (
    select(RoundRow.id, RoundRow.snapshot_id, RoundRow.at)
    .join(CohortRow, RoundRow.cohort_id == CohortRow.id)
    .where(IS_TRADING)
    .order_by(col(RoundRow.at).desc(), col(RoundRow.id).desc())
)
SHOWN_IN_ROUND = (
    select(SnapshotItemRow.snapshot_id, SnapshotItemRow.market_id)
    .where(col(SnapshotItemRow.snapshot_id).in_(IDS), SnapshotItemRow.shown == 1)
    .order_by(SnapshotItemRow.snapshot_id, SnapshotItemRow.position)
)


def read_last_shown(connection: Connection) -> Iterator[dict[MarketId, ShowingRound]]:
    """Yield the markets that agents were shown, some at a time, each with the newest round that showed it.

    The newest rounds come first, so a caller that needs only the first markets reads only a few rounds.
    """
    yielded = set[str]()
    start = 0
    batch_size = FIRST_ROUNDS
    while True:
        rounds = connection.execute(SHOWING_ROUNDS.limit(batch_size).offset(start)).all()
        if not rounds:
            return

        markets_of: dict[int, list[str]] = defaultdict(list)
        snapshots = [row.snapshot_id for row in rounds]
        for snapshot, market in connection.execute(SHOWN_IN_ROUND, {"ids": snapshots}):
            markets_of[snapshot].append(market)

        newly_shown = dict[MarketId, ShowingRound]()
        for round_id, snapshot, at in rounds:
            for market in markets_of[snapshot]:
                if market not in yielded:
                    yielded.add(market)
                    newly_shown[MarketId(market)] = ShowingRound(round_id, at)
        yield newly_shown

        start += batch_size
        batch_size *= 2


@dataclass(frozen=True, slots=True)
class ListedMarket:
    """A market by its newest page. Once it has `ended`, `payout` is what YES paid; None is a refund.

    A question that isn't of yes or no has a `form`, and comes to an `answer`; an empty one is called off.
    """

    id: MarketId
    event_id: str
    question: str
    category: str
    closes_at: datetime
    ended: bool
    payout: int | None
    slug: str
    event_slug: str
    story: str
    form: str
    answer: str


LISTED_FIELDS = ("event_id", "question", "category", "closes_at", "slug", "event_slug", "story", "form")


def read_listed_markets(connection: Connection, ids: Sequence[MarketId]) -> list[ListedMarket]:
    """Return these markets, in the order given."""
    pages = newest_rows(connection, MarketVersionRow, ids, "version", *LISTED_FIELDS)
    ends = newest_rows(connection, ResolutionRow, ids, "version", "payout", "answer")

    markets = []
    for market_id in ids:
        end = ends.get(market_id)
        payout = None if end is None else end.payout
        answer = "" if end is None else end.answer
        page = attributes_of(pages[market_id], *LISTED_FIELDS)
        markets.append(
            ListedMarket(id=market_id, **page, ended=end is not None, payout=payout, answer=answer)
        )
    return markets


def read_quotes_as_of(connection: Connection, ids: Sequence[str], at: datetime) -> dict[MarketId, Quote]:
    """Return the newest price of each market that was known at an instant, if there was one.

    Its time is the last at which someone found it so: when it was stored, or a sync or a snapshot later.
    """
    newest = read_quote_rows_as_of(connection, ids, at)
    return {market: quote_of(row, seen_at) for market, (row, seen_at) in newest.items()}


def read_quote_rows_as_of(
    connection: Connection, ids: Sequence[str], at: datetime
) -> dict[MarketId, tuple[Row[Any], datetime]]:
    """Return the newest price of each market at an instant as a row, with the time of the price.

    It is for callers that need few of them as quotes: most of the time goes into decoding.
    """
    stored_rows = newest_rows(connection, QuoteRow, ids, "at", *QUOTE_FIELDS, until=at)
    sightings = last_sightings(connection, stored_rows, at)
    snapshot_rows = _read_snapshot_quotes(connection, ids, at)

    newest = dict[MarketId, tuple[Row[Any], datetime]]()
    for market in ids:
        stored = stored_rows.get(market)
        in_snapshot = snapshot_rows.get(market)
        if in_snapshot is not None:
            newest[MarketId(market)] = (in_snapshot, in_snapshot.quoted_at)

        # A later sync may have found the stored price unchanged.
        if stored is not None:
            seen_at = max(stored.at, sightings.get(market, stored.at))
            if in_snapshot is None or in_snapshot.quoted_at <= seen_at:
                newest[MarketId(market)] = (stored, seen_at)
    return newest


def _read_snapshot_quotes(connection: Connection, ids: Sequence[str], at: datetime) -> dict[str, Row[Any]]:
    """Return the newest price of each market that a snapshot held, as of an instant."""
    query = _last_items_query(connection.dialect.name)
    rows = connection.execute(query, markets_parameter(connection, ids) | {"until": at})
    return {row.market_id: row for row in rows}


@cache
def _last_items_query(dialect: str) -> AnySelect:
    """Return the query for the items of snapshots in which each market had its newest price."""
    other_item = aliased(SnapshotItemRow, name="one")
    until = bindparam("until", type_=column_of(SnapshotItemRow.quoted_at).type)
    last_time = select(func.max(other_item.quoted_at)).where(
        other_item.market_id == MarketRow.id, other_item.quoted_at <= until
    )
    last_time_of_market = last_time.correlate(MarketRow.__table__).scalar_subquery()

    query = select(QuoteRow.market_id, SnapshotItemRow.quoted_at, *columns_of(QuoteRow, QUOTE_FIELDS))
    query = query.from_joined(MarketRow, SnapshotItemRow, QuoteRow)
    query = query.where(SnapshotItemRow.quoted_at == last_time_of_market, is_in_markets(dialect))
    return query.order_by(SnapshotItemRow.quote_id)


def read_price_changes(connection: Connection, market: MarketId, until: datetime) -> list[Quote]:
    """Return every stored price of a market until an instant, oldest first: one for each change."""
    query = (
        select(QuoteRow.market_id, *columns_of(QuoteRow, QUOTE_FIELDS))
        .where(QuoteRow.market_id == market, QuoteRow.at <= until)
        .order_by(QuoteRow.at, QuoteRow.id)
    )
    return [quote_of(row) for row in connection.execute(query)]


def read_pages_as_of(connection: Connection, ids: Sequence[str], at: datetime) -> dict[MarketId, Market]:
    """Return each market's page as known at an instant, without markets read only later."""
    pages = {}
    rows = newest_rows(connection, MarketVersionRow, ids, "version", *PAGE_FIELDS, until=at)
    for market, row in rows.items():
        market_id = MarketId(market)
        pages[market_id] = Market(market_id, **attributes_of(row, *PAGE_FIELDS))
    return pages


def read_listings_as_of(connection: Connection, ids: Sequence[str], at: datetime) -> list[Listing]:
    """Return these markets as they were known at an instant, in the order given; without unknown ones."""
    if not ids:
        return []

    pages = read_pages_as_of(connection, ids, at)
    quotes = read_quotes_as_of(connection, ids, at)
    known_ids = [MarketId(market) for market in ids if market in pages]
    return [Listing(pages[market], quotes.get(market)) for market in known_ids]


def read_known_ids(connection: Connection, at: datetime) -> list[MarketId]:
    """Return the ids of all markets seen by an instant, sorted."""
    ids = connection.scalars(select(MarketRow.id).where(MarketRow.first_seen_at <= at))
    return sorted(MarketId(market_id) for market_id in ids)


MarketStatus = Literal["open", "waiting", "ended"]


@dataclass(frozen=True, slots=True)
class KnownMarket:
    """A market as it was last seen: open; waiting, since it closed or is no longer shown; or ended."""

    listing: Listing
    status: MarketStatus
    ends: tuple[Resolution, ...]


def read_markets(
    connection: Connection, at: datetime, ids: Sequence[MarketId] | None = None
) -> list[KnownMarket]:
    """Return markets as they were known at an instant, in the order given; all unless some are named."""
    if ids is None:
        ids = read_known_ids(connection, at)
    without_price = set(markets_gone_since(connection, BEGINNING))

    ends: dict[MarketId, list[Resolution]] = defaultdict(list)
    for batch in batches(ids):
        for end in read_resolutions(connection, batch, at):
            ends[end.market_id].append(end)

    markets = []
    for listing in read_listings_as_of(connection, ids, at):
        market = listing.market
        status: MarketStatus = "open"
        if market.id in ends:
            status = "ended"
        elif market.id in without_price or market.closes_at <= at:
            status = "waiting"
        markets.append(KnownMarket(listing, status, tuple(ends[market.id])))
    return markets


def read_newest_instant(connection: Connection, now: datetime) -> datetime:
    """Return the newest instant of a record: now, unless a simulated world has been played further."""
    times = [now]
    for query in (NEWEST_TIME, select(func.max(SyncRow.at))):
        at = connection.scalar(query)
        if at is not None:
            times.append(at)
    return max(times)


def filter_markets(
    markets: Sequence[KnownMarket], search: str = "", category: str = "", status: str = "all"
) -> list[KnownMarket]:
    """Return the markets that have these words in their question, rules or id, most traded first."""
    words = search.casefold().split()
    wanted_category = category.casefold()

    volumes: dict[MarketId, int] = {}
    matches = []
    for known_market in markets:
        market = known_market.listing.market
        text = f"{market.question}\n{market.rules}\n{market.id}".casefold()
        is_of_category = wanted_category in ("", market.category.casefold())
        is_wanted = is_of_category and status in ("all", known_market.status)
        if is_wanted and all(word in text for word in words):
            quote = known_market.listing.quote
            volumes[market.id] = (quote.volume if quote else 0) or 0
            matches.append(known_market)
    return sorted(
        matches,
        key=lambda known_market: (-volumes[known_market.listing.market.id], known_market.listing.market.id),
    )


def read_wanted_instant(connection: Connection, at: datetime | None, now: datetime) -> datetime:
    """Return the wanted instant, or the newest one, which in a simulated world is its own."""
    if at is not None:
        return at
    is_simulated = any(stored.cohort.stamp != "live" for stored in read_cohorts(connection))
    return read_newest_instant(connection, BEGINNING if is_simulated else now)


def find_market(connection: Connection, name: str, at: datetime) -> KnownMarket:
    """Return the market with an id, or the only one whose id ends so after its venue's name."""
    known_ids = read_known_ids(connection, at)
    matches = [market_id for market_id in known_ids if market_id == name]
    if not matches:  # the name may lack the venue
        matches = [market_id for market_id in known_ids if market_id.partition(":")[2] == name]

    if len(matches) == 1:
        return read_markets(connection, at, matches)[0]
    if matches:
        message = f"{len(matches)} markets are called {name!r}: {', '.join(matches[:5])}"
        raise ArenaError("unclear_market", message, "give the id with its venue")

    similar_ids = [market_id for market_id in known_ids if name.casefold() in market_id.casefold()][:5]
    hint = "arena show markets --status all --wide --search WORDS finds ids"
    if similar_ids:
        hint = f"did you mean {', '.join(similar_ids)}?"
    raise ArenaError("unknown_market", f"the record has no market {name!r}", hint)
