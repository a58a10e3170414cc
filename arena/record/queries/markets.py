"""Markets as people look at them: what each asks, its category, price and end, and where it was shown last.

A market's page and price are also read as they were known at an instant.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from statistics import median
from typing import Literal

from sqlalchemy import Connection, Text, bindparam, column, func, values
from sqlalchemy.orm import aliased
from sqlmodel import and_, case

from agents.model import USABLE_STATUSES
from arena.record.queries.cohorts import IS_TRADING, NEWEST_OF_EACH, read_cohorts, read_resolutions
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.dialects import BigInt
from arena.record.schema.ledger import EntryRow
from arena.record.schema.newest import is_in_markets, markets_parameter, newest_rows
from arena.record.schema.statements import attributes_of, batches
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    AnySelect,
    clause,
    col,
    column_of,
    columns_of,
    count,
    joined,
    read_grouped_nouns,
    select,
    select_as,
    total,
)
from arena.record.schema.world import (
    MarketRow,
    MarketVersionRow,
    QuoteRow,
    ResolutionRow,
    SightingRow,
    SyncRow,
)
from arena.record.write.listings import PAGE_FIELDS, QUOTE_FIELDS, last_sightings, quote_of
from arena.record.write.sync import markets_gone_since
from markets.model import Listing, Market, MarketId, Quote, Resolution

FIRST_ROUNDS = 4
"""So many rounds are looked through at first; twice as many each time that these are not enough."""


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
    .limit(bindparam("most"))
    .offset(bindparam("start"))
)
SHOWN_IN_ROUND = (
    select(SnapshotItemRow.snapshot_id, SnapshotItemRow.market_id)
    .where(col(SnapshotItemRow.snapshot_id).in_(IDS), SnapshotItemRow.shown == 1)
    .order_by(SnapshotItemRow.snapshot_id, SnapshotItemRow.position)
)
ANY_SHOWN = select(SnapshotItemRow.market_id).where(SnapshotItemRow.shown == 1).limit(1)


def was_any_shown(connection: Connection) -> bool:
    """Whether a round has put any market before agents."""
    return connection.scalar(ANY_SHOWN) is not None


def read_last_shown(connection: Connection) -> Iterator[dict[MarketId, ShowingRound]]:
    """The markets that agents were shown, each with the newest round that did, newest first: some at a time.

    Whoever needs the first of them reads a few rounds, however many the record has.
    """
    known, start, size = set[str](), 0, FIRST_ROUNDS
    while rounds := connection.execute(SHOWING_ROUNDS, {"most": size, "start": start}).all():
        offered: dict[int, list[str]] = defaultdict(list)
        for snapshot, market in connection.execute(
            SHOWN_IN_ROUND, {"ids": [row.snapshot_id for row in rounds]}
        ).all():
            offered[snapshot].append(market)
        found = dict[MarketId, ShowingRound]()
        for round_id, snapshot, at in rounds:
            for market in offered[snapshot]:
                if market not in known:
                    known.add(market)
                    found[MarketId(market)] = ShowingRound(round_id, at)
        yield found
        start, size = start + size, 2 * size


@dataclass(frozen=True, slots=True)
class ListedMarket:
    """A market by its newest page. Once it has `ended`, `payout` is what YES paid; None is a refund."""

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


LISTED_FIELDS = ("event_id", "question", "category", "closes_at", "slug", "event_slug", "story")


def read_listed_markets(connection: Connection, ids: Sequence[MarketId]) -> list[ListedMarket]:
    """These markets, in the order given."""
    pages = newest_rows(connection, MarketVersionRow, ids, "version", *LISTED_FIELDS)
    ends = newest_rows(connection, ResolutionRow, ids, "version", "payout")
    return [
        ListedMarket(
            id=market_id,
            **attributes_of(pages[market_id], *LISTED_FIELDS),
            ended=market_id in ends,
            payout=ends[market_id].payout if market_id in ends else None,
        )
        for market_id in ids
    ]


@dataclass(frozen=True, slots=True)
class ForecastSpread:
    """The lowest, the median and the highest of so many agents' probabilities for a market, in millionths."""

    agents: int
    low: int
    median: int
    high: int


def read_forecast_spreads(
    connection: Connection, shown: Mapping[MarketId, ShowingRound], but: Collection[str]
) -> dict[MarketId, ForecastSpread]:
    """How far apart the agents were in the newest round of each market, those of some kinds left out."""
    if not shown:
        return {}
    named = values(column("market_id", Text), column("round_id", BigInt), name="pairs")
    pairs = named.data([(market, last.round_id) for market, last in shown.items()]).cte("pairs")
    query = (
        select(pairs.c.market_id, ForecastRow.probability)
        .select_from(pairs.join(TurnRow, clause(TurnRow.round_id == pairs.c.round_id)))
        .join(EntrantRow, TurnRow.entrant_id == EntrantRow.id)
        .join(ForecastRow, (ForecastRow.turn_id == TurnRow.id) & (ForecastRow.market_id == pairs.c.market_id))
        .where(col(TurnRow.status).in_(USABLE_STATUSES), ForecastRow.stage == "final")
        .where(col(EntrantRow.kind).not_in(sorted(but)))
    )
    stated: dict[MarketId, list[int]] = defaultdict(list)
    for market, probability in connection.execute(query):
        stated[MarketId(market)].append(probability)
    return {
        market: ForecastSpread(len(all_), min(all_), round(median(all_)), max(all_))
        for market, all_ in stated.items()
    }


IS_TRADE = case((col(EntryRow.kind).in_(("buy", "sell")), 1), else_=0)
MARKET_LOTS = (
    select(EntryRow.market_id, func.sum(EntryRow.shares).label("shares"), func.sum(IS_TRADE).label("trades"))
    .join_from(MarketRow, EntryRow, EntryRow.market_id == MarketRow.id)
    .group_by(EntryRow.market_id, EntryRow.entrant_id, EntryRow.side)
)


@dataclass(frozen=True, slots=True)
class MarketInterest:
    """How often a market was traded, and how many lots of it are held now, an agent's in each cohort."""

    trades: int
    held: int


def read_market_interest(connection: Connection, ids: Sequence[str]) -> dict[MarketId, MarketInterest]:
    """What was traded of these markets, and what is held."""
    lots = MARKET_LOTS.where(is_in_markets(connection.dialect.name)).subquery()
    held = total(case((lots.c.shares > 0, 1), else_=0))
    query = select_as(market=lots.c.market_id, trades=total(lots.c.trades), held=held)
    query = query.group_by(lots.c.market_id)
    rows = connection.execute(query, markets_parameter(connection, ids))
    return {market: interest for market, [interest] in read_grouped_nouns(MarketInterest, rows).items()}


NEWER_VERSION = aliased(MarketVersionRow, name="newer")
NEWEST_VERSION = (
    select(func.max(NEWER_VERSION.version))
    .where(NEWER_VERSION.market_id == MarketVersionRow.market_id)
    .scalar_subquery()
)

# From each market to the next by the index: a record knows a hundred thousand, of which agents saw a few.
FIRST_MARKET = select(func.min(SnapshotItemRow.market_id).label("id")).cte("met", recursive=True)
FOLLOWING_ITEM = aliased(SnapshotItemRow, name="following")
NEXT_MARKET = (
    select(func.min(FOLLOWING_ITEM.market_id))
    .where(FOLLOWING_ITEM.market_id > FIRST_MARKET.c.id)
    .scalar_subquery()
)
MET_MARKETS = FIRST_MARKET.union_all(select(NEXT_MARKET).where(FIRST_MARKET.c.id.is_not(None)))
NEWEST_PAGE = and_(MarketVersionRow.market_id == MET_MARKETS.c.id, MarketVersionRow.version == NEWEST_VERSION)
CATEGORIES = (
    select(MarketVersionRow.category, func.count())
    .select_from(MET_MARKETS.join(MarketVersionRow, clause(NEWEST_PAGE)))
    .group_by(MarketVersionRow.category)
)


def read_categories(connection: Connection) -> list[tuple[str, int]]:
    """How many of these markets each category has, those with most first; "" is of those without one."""
    counted = [(name, markets) for name, markets in connection.execute(CATEGORIES)]
    return sorted(counted, key=lambda row: (-row[1], row[0]))


def count_shown_rounds(connection: Connection) -> int:
    """How many rounds have put markets before agents: it changes with what they were shown."""
    return connection.execute(select(count(RoundRow.id))).scalar_one()


def read_quotes_as_of(connection: Connection, ids: Sequence[str], at: datetime) -> dict[MarketId, Quote]:
    """The newest price of each market that was known at an instant, if there was one.

    Its time is the last at which someone found it so: when it was stored, or a sync or a snapshot later.
    """
    rows = newest_rows(connection, QuoteRow, ids, "at", *QUOTE_FIELDS, until=at)
    looks, items = last_sightings(connection, rows, at), _snapshot_quotes(connection, ids, at)
    found = dict[MarketId, Quote]()
    for market in ids:
        row, item = rows.get(market), items.get(market)
        stored = row and quote_of(row, max(row.at, looks.get(market, row.at)))
        newer = item if item and (stored is None or item.at > stored.at) else stored
        if newer is not None:
            found[MarketId(market)] = newer
    return found


def _snapshot_quotes(connection: Connection, ids: Sequence[str], at: datetime) -> dict[str, Quote]:
    """The newest price of each market that was in a snapshot, and true by then."""
    wanted = _last_items_query(connection.dialect.name)
    rows = connection.execute(wanted, markets_parameter(connection, ids) | {"until": at})
    return {row.market_id: quote_of(row, row.quoted_at) for row in rows}


@cache
def _last_items_query(dialect: str) -> AnySelect:
    one = aliased(SnapshotItemRow, name="one")
    until = one.quoted_at <= bindparam("until", type_=column_of(SnapshotItemRow.quoted_at).type)
    last = select(func.max(one.quoted_at)).where(one.market_id == MarketRow.id, until)
    newest_one = SnapshotItemRow.quoted_at == last.correlate(MarketRow.__table__).scalar_subquery()
    prices = select(QuoteRow.market_id, SnapshotItemRow.quoted_at, *columns_of(QuoteRow, QUOTE_FIELDS))
    prices = prices.select_from(joined(MarketRow, SnapshotItemRow, QuoteRow))
    return prices.where(newest_one, is_in_markets(dialect)).order_by(SnapshotItemRow.quote_id)


def read_price_changes(connection: Connection, market: MarketId, until: datetime) -> list[Quote]:
    """Every stored price of a market until an instant, oldest first: one for each change."""
    columns = (QuoteRow.market_id, *columns_of(QuoteRow, QUOTE_FIELDS))
    rows = select(*columns).where(QuoteRow.market_id == market, QuoteRow.at <= until)
    return [quote_of(row) for row in connection.execute(rows.order_by(QuoteRow.at, QuoteRow.id))]


def read_pages_as_of(connection: Connection, ids: Sequence[str], at: datetime) -> dict[MarketId, Market]:
    """What each market's page said at an instant, if anyone had read it by then."""
    rows = newest_rows(connection, MarketVersionRow, ids, "version", *PAGE_FIELDS, until=at)
    return {
        MarketId(market_id): Market(MarketId(market_id), **attributes_of(row, *PAGE_FIELDS))
        for market_id, row in rows.items()
    }


def read_listings_as_of(connection: Connection, ids: Sequence[str], at: datetime) -> list[Listing]:
    """These markets as they were known at an instant, in the order given; without those nobody knew."""
    if not ids:
        return []
    pages, quotes = read_pages_as_of(connection, ids, at), read_quotes_as_of(connection, ids, at)
    known = [MarketId(market) for market in ids if market in pages]
    return [Listing(pages[market], quotes.get(market)) for market in known]


def read_known_ids(connection: Connection, at: datetime) -> list[MarketId]:
    """Every market that anyone had seen by an instant, in the order of their ids."""
    rows = connection.scalars(select(MarketRow.id).where(MarketRow.first_seen_at <= at))
    return sorted(MarketId(row) for row in rows)


MarketStatus = Literal["open", "waiting", "ended"]
BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KnownMarket:
    """A market as it was last seen: open; waiting, since it closed or is no longer shown; or ended."""

    listing: Listing
    status: MarketStatus
    ends: tuple[Resolution, ...]


def read_markets(
    connection: Connection, at: datetime, ids: Sequence[MarketId] | None = None
) -> list[KnownMarket]:
    """Markets as they were known at an instant, in the order given; all of them unless some are named."""
    ids = read_known_ids(connection, at) if ids is None else ids
    gone, ends = set(markets_gone_since(connection, BEGINNING)), dict[MarketId, list[Resolution]]()
    for some in batches(ids):
        for end in read_resolutions(connection, some, at):
            ends.setdefault(end.market_id, []).append(end)
    return [
        KnownMarket(
            listing,
            _market_status(listing, at, listing.market.id in gone, ends),
            tuple(ends.get(listing.market.id, ())),
        )
        for listing in read_listings_as_of(connection, ids, at)
    ]


def _market_status(
    listing: Listing, at: datetime, gone: bool, ends: dict[MarketId, list[Resolution]]
) -> MarketStatus:
    if listing.market.id in ends:
        return "ended"
    return "waiting" if gone or listing.market.closes_at <= at else "open"


LAST_LOOKS = (
    select(SnapshotItemRow.market_id, func.max(SnapshotRow.taken_at).label("at"))
    .select_from(joined(SnapshotItemRow, SnapshotRow))
    .where(col(SnapshotItemRow.market_id).in_(IDS))
    .group_by(SnapshotItemRow.market_id)
)
"""When a snapshot last held each market, with a price or without."""
PRICE_DELAY = timedelta(hours=1)
"""How much older than a look at a market its newest price may be, while it is open."""


def read_closed_since(
    connection: Connection, ids: Sequence[MarketId], now: datetime
) -> dict[MarketId, datetime]:
    """Return since when those of these markets are closed that can't be traded any more, as far as is known.

    A market is closed once its closing time has passed, or once it was looked at and had no price any more:
    a venue may close it early. It is closed since the later of its closing time and its newest price.
    """
    looks: dict[str, datetime] = {}
    for some in batches(ids):
        looks.update(dict(connection.execute(LAST_LOOKS, {"ids": some}).all()))
    gone = set(markets_gone_since(connection, BEGINNING))
    last_sync = connection.scalar(select(func.max(SyncRow.at)))

    closed: dict[MarketId, datetime] = {}
    for listing in read_listings_as_of(connection, ids, now):
        market = listing.market
        priced_at = market.opens_at if listing.quote is None else listing.quote.at
        looked_at = looks.get(market.id, priced_at)
        if market.id in gone and last_sync is not None:
            looked_at = max(looked_at, last_sync)

        if market.closes_at <= now:
            closed[market.id] = max(market.closes_at, priced_at)
        elif looked_at - priced_at > PRICE_DELAY:
            closed[market.id] = priced_at
    return closed


@dataclass(frozen=True, slots=True)
class UnsettledMarket:
    """A market that agents hold, closed since an instant, of which no end is known."""

    id: MarketId
    closed_at: datetime
    agents: tuple[str, ...]


HELD_UNRESOLVED = (
    select(EntryRow.market_id, EntrantRow.name)
    .select_from(joined(EntrantRow, EntryRow))
    .where(col(EntrantRow.cohort_id).in_(IDS), EntryRow.market_id != "")
    .where(col(EntryRow.market_id).not_in(select(ResolutionRow.market_id)))
    .group_by(EntryRow.market_id, EntrantRow.id, EntrantRow.name)
    .having(func.sum(EntryRow.shares) > 0)
    .order_by(EntryRow.market_id, EntrantRow.name)
)


def read_unsettled_markets(connection: Connection, now: datetime, after: timedelta) -> list[UnsettledMarket]:
    """Return the markets of live venues that are held, and closed for so long without a known end."""
    open_cohorts = read_cohorts(connection, only_open=True)
    live_ids = [stored.id for stored in open_cohorts if stored.cohort.stamp == "live"]
    agents: dict[MarketId, list[str]] = defaultdict(list)
    for market, name in connection.execute(HELD_UNRESOLVED, {"ids": live_ids}):
        holders = agents[MarketId(market)]
        if name not in holders:
            holders.append(name)
    if not agents:
        return []

    closed = read_closed_since(connection, list(agents), now)
    return [
        UnsettledMarket(market, since, tuple(agents[market]))
        for market, since in closed.items()
        if now - since >= after
    ]


SEEING_COHORTS = (
    select(SnapshotRow.cohort_id)
    .distinct()
    .select_from(joined(SnapshotItemRow, SnapshotRow))
    .where(SnapshotItemRow.market_id == bindparam("market"))
)


SEEING_SYNCS = (
    select(SyncRow.stamp)
    .distinct()
    .select_from(joined(SightingRow, SyncRow))
    .where(SightingRow.market_id == bindparam("market"))
)


def read_market_stamps(connection: Connection, market: MarketId) -> set[str]:
    """Return where a market comes from, by the cohorts and the readings of a venue that saw it."""
    seeing = set(connection.scalars(SEEING_COHORTS, {"market": market}))
    stamps = {stored.cohort.stamp for stored in read_cohorts(connection) if stored.id in seeing}
    return stamps.union(connection.scalars(SEEING_SYNCS, {"market": market}))


NEWEST_INSTANTS = (
    select(func.max(NEWEST_OF_EACH.scalar_subquery())).select_from(CohortRow),
    select(func.max(SyncRow.at)),
)


def read_newest_instant(connection: Connection, now: datetime) -> datetime:
    """The newest instant of a record: now, unless a made-up world has been played further than that."""
    newest = [connection.scalar(query) for query in NEWEST_INSTANTS]
    times: list[datetime] = [now, *(at for at in newest if at is not None)]
    return max(times)


def filter_markets(
    markets: Sequence[KnownMarket], search: str = "", category: str = "", status: str = "all"
) -> list[KnownMarket]:
    """Those that have these words in their question, rules or id, most traded first."""
    words = search.casefold().split()
    matching = [
        seen
        for seen in markets
        if status in ("all", seen.status)
        and category.casefold() in ("", seen.listing.market.category.casefold())
        and all(word in _searched_text(seen) for word in words)
    ]
    volumes = {
        seen.listing.market.id: (seen.listing.quote and seen.listing.quote.volume) or 0 for seen in matching
    }
    return sorted(matching, key=lambda seen: (-volumes[seen.listing.market.id], seen.listing.market.id))


def _searched_text(seen: KnownMarket) -> str:
    market = seen.listing.market
    return f"{market.question}\n{market.rules}\n{market.id}".casefold()
