"""One market over time: the rounds that showed it, what agents forecast and traded, and its prices.

Of its prices come all, or as many as a chart can take, each found by index; so are the questions of markets
and events. What each market's page is made of is a short text that changes with it, read for all at once.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Double,
    FromClause,
    Text,
    bindparam,
    cast,
    func,
)
from sqlalchemy.orm import aliased
from sqlmodel import and_

from agents.model import USABLE_STATUSES
from arena.record.queries.cohorts import PLACE, read_learnt_resolutions
from arena.record.queries.markets import ShowingRound
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.newest import keyed_instants, keyed_instants_parameter, newest_rows
from arena.record.schema.statements import attributes_of, batches
from arena.record.schema.turn import FillLevelRow, FillRow, ForecastRow, TurnRow
from arena.record.schema.typed import IDS, AnySelect, col, columns_of, joined, read_nouns, select, select_noun
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from arena.record.write.listings import PAGE_FIELDS, QUOTE_FIELDS, quote_of
from markets.hashes import digest
from markets.model import Market, MarketId, Quote, Resolution
from portfolio.model import Entry

MARKET_ID: BindParameter[str] = bindparam("market")
EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PageVersion:
    """What a market's page said from an instant on."""

    version: int
    at: datetime
    market: Market


PAGE_VERSIONS = (
    select(MarketVersionRow.version, MarketVersionRow.at, *columns_of(MarketVersionRow, PAGE_FIELDS))
    .where(MarketVersionRow.market_id == MARKET_ID)
    .order_by(MarketVersionRow.version)
)


def read_page_versions(connection: Connection, market: MarketId) -> list[PageVersion]:
    """Every version of a market's page, oldest first; none of a market that nobody has seen."""
    rows = connection.execute(PAGE_VERSIONS, {"market": market})
    return [
        PageVersion(row.version, row.at, Market(market, **attributes_of(row, *PAGE_FIELDS))) for row in rows
    ]


def read_resolution_versions(connection: Connection, market: MarketId) -> list[tuple[Resolution, datetime]]:
    """Every version of how a market ended, oldest first, with the time at which a cohort learnt of it."""
    return read_learnt_resolutions(connection, [market], EVER)


@dataclass(frozen=True, slots=True)
class MarketRound:
    """A round whose snapshot held a market: to be bet on if `shown`, else only because it was held."""

    round_id: int
    cohort: int
    number: int
    at: datetime
    shown: bool


# By cohort and time: there is no index from a snapshot to its round.
IS_DECISION_SNAPSHOT = and_(RoundRow.cohort_id == SnapshotRow.cohort_id, RoundRow.at == SnapshotRow.at)
MARKET_ROUNDS = (
    select_noun(
        MarketRound,
        RoundRow,
        round_id=RoundRow.id,
        cohort=CohortRow.number,
        shown=SnapshotItemRow.shown == 1,
    )
    .select_from(joined(SnapshotItemRow, SnapshotRow).join(RoundRow, IS_DECISION_SNAPSHOT).join(CohortRow))
    .where(SnapshotItemRow.market_id == MARKET_ID)
    .order_by(RoundRow.at, CohortRow.number)
)


def read_market_rounds(connection: Connection, market: MarketId) -> list[MarketRound]:
    """The rounds that a market was in, oldest first."""
    return read_nouns(MarketRound, connection.execute(MARKET_ROUNDS, {"market": market}))


@dataclass(frozen=True, slots=True)
class MarketForecast:
    """A probability that an agent gave a market in a round, in millionths."""

    round_id: int
    agent: str
    probability: int


MARKET_FORECASTS = (
    select_noun(MarketForecast, TurnRow, ForecastRow, agent=EntrantRow.name)
    .select_from(joined(EntrantRow, TurnRow, ForecastRow))
    .where(col(TurnRow.round_id).in_(IDS), col(TurnRow.status).in_(USABLE_STATUSES))
    .where(ForecastRow.market_id == MARKET_ID, ForecastRow.stage == "final")
    .order_by(TurnRow.round_id, EntrantRow.position)
)


def read_market_forecasts(
    connection: Connection, market: MarketId, rounds: Collection[int]
) -> list[MarketForecast]:
    """What agents said of a market in these rounds."""
    wanted = {"market": market, "ids": list(rounds)}
    return read_nouns(MarketForecast, connection.execute(MARKET_FORECASTS, wanted))


MARKET_REASONS = (
    select(EntrantRow.name, TurnRow.round_id, ForecastRow.reason)
    .select_from(joined(EntrantRow, TurnRow, ForecastRow))
    .where(col(TurnRow.round_id).in_(IDS))
    .where(ForecastRow.market_id == MARKET_ID, ForecastRow.stage == "final", ForecastRow.reason != "")
)


def read_market_reasons(
    connection: Connection, market: MarketId, rounds: Collection[int]
) -> dict[tuple[str, int], str]:
    """Why agents said what they said of a market in these rounds, by agent and round."""
    rows = connection.execute(MARKET_REASONS, {"market": market, "ids": list(rounds)})
    return {(agent, round_id): reason for agent, round_id, reason in rows}


@dataclass(frozen=True, slots=True)
class MarketTrade:
    """What an agent bought or sold of a market in a round, and at which price of the side's own share."""

    cohort: int
    round: int
    at: datetime
    agent: str
    side: str
    action: str
    shares: int
    amount: int
    fee: int
    price: float


AVERAGE_PRICE = func.sum(FillLevelRow.price * 1.0 * FillLevelRow.shares) / func.sum(FillLevelRow.shares)
FILL_PRICE = select(AVERAGE_PRICE).where(FillLevelRow.fill_id == FillRow.id).scalar_subquery()
# The ledger's lines about a market lead to the turns behind them; no fill is looked at in vain.
FILL_JOIN = (
    select(TurnRow.id)
    .select_from(joined(EntryRow, EntrantRow))
    .join(RoundRow, (RoundRow.cohort_id == EntrantRow.cohort_id) & (RoundRow.at == EntryRow.at))
    .join(TurnRow, (TurnRow.round_id == RoundRow.id) & (TurnRow.entrant_id == EntrantRow.id))
    .where(EntryRow.market_id == MARKET_ID, col(EntryRow.kind).in_(("buy", "sell")))
)
MARKET_TRADES = (
    select_noun(MarketTrade, FillRow, **PLACE, price=cast(FILL_PRICE, Double))
    .select_from(joined(FillRow, TurnRow, EntrantRow, RoundRow, CohortRow))
    .where(col(FillRow.turn_id).in_(FILL_JOIN), FillRow.market_id == MARKET_ID)
    .order_by(col(RoundRow.at).desc(), col(CohortRow.number).desc(), EntrantRow.position, FillRow.position)
    .limit(bindparam("most"))
)


def read_market_trades(connection: Connection, market: MarketId, most: int) -> list[MarketTrade]:
    """What was bought and sold of a market, newest first."""
    return read_nouns(MarketTrade, connection.execute(MARKET_TRADES, {"market": market, "most": most}))


@dataclass(frozen=True, slots=True)
class MarketAccount:
    """An entrant that ever held a market: its ids, and the lines of its ledger about this market."""

    entrant_id: int
    cohort: int
    agent: str
    entries: tuple[Entry, ...]


MARKET_ENTRIES = (
    select(
        col(EntrantRow.id).label("entrant"),
        col(CohortRow.number).label("cohort"),
        EntrantRow.name,
        *columns_of(EntryRow, Entry.__dataclass_fields__),
    )
    .select_from(joined(EntryRow, EntrantRow, CohortRow))
    .where(EntryRow.market_id == MARKET_ID)
    .order_by(col(CohortRow.number).desc(), EntrantRow.position, EntryRow.number)
)


def read_market_accounts(connection: Connection, market: MarketId) -> list[MarketAccount]:
    """Everyone who ever held a market: newest cohorts first, in line-up order."""
    accounts: dict[tuple[int, int, str], list[Entry]] = defaultdict(list)
    for row in connection.execute(MARKET_ENTRIES, {"market": market}):
        line = Entry(**attributes_of(row, *Entry.__dataclass_fields__))
        accounts[row.entrant, row.cohort, row.name].append(line)
    return [MarketAccount(*key, tuple(entries)) for key, entries in accounts.items()]


VALUED_SNAPSHOTS = (
    select(MarkRow.snapshot_id).where(MarkRow.entrant_id == EntrantRow.id).order_by(col(MarkRow.at).desc())
)
VALUED_SNAPSHOT = VALUED_SNAPSHOTS.limit(1).correlate(EntrantRow).scalar_subquery()
LAST_MARKS = (
    select(
        col(CohortRow.number).label("cohort"),
        SnapshotRow.taken_at,
        SnapshotItemRow.market_id,
        SnapshotItemRow.quoted_at,
        *columns_of(QuoteRow, QUOTE_FIELDS),
    )
    .select_from(joined(EntrantRow, CohortRow))
    .join(SnapshotRow, SnapshotRow.id == VALUED_SNAPSHOT)
    .join(SnapshotItemRow, SnapshotItemRow.snapshot_id == SnapshotRow.id)
    .join(QuoteRow, SnapshotItemRow.quote_id == QuoteRow.id)
    .where(col(EntrantRow.id).in_(IDS), SnapshotItemRow.market_id == MARKET_ID)
)


def read_last_marks(
    connection: Connection, market: MarketId, entrants: Iterable[int]
) -> dict[int, tuple[Quote, datetime]]:
    """By which price a market was valued last, and when: by cohort, for which one entrant each is named."""
    rows = connection.execute(LAST_MARKS, {"market": market, "ids": list(entrants)})
    return {row.cohort: (quote_of(row, row.quoted_at), row.taken_at) for row in rows}


OF_MARKET = QuoteRow.market_id == MARKET_ID
QUOTE = aliased(QuoteRow, name="one")
PRICE_COLUMNS = (QuoteRow.at, QuoteRow.bid, QuoteRow.ask, QuoteRow.mid, QuoteRow.last)


@dataclass(frozen=True, slots=True)
class StoredPrice:
    """The price of YES from an instant on, in millionths; a side that nobody offered is None."""

    at: datetime
    bid: int | None
    ask: int | None
    mid: int | None
    last: int | None

    @property
    def price(self) -> int | None:
        """The mid; where there is none, the last trade."""
        return self.last if self.mid is None else self.mid


@dataclass(frozen=True, slots=True)
class PriceHistory:
    """A market's prices, oldest first; `thinned` where more were stored than are here."""

    points: tuple[StoredPrice, ...]
    thinned: bool


EVERY_PRICE = select(*PRICE_COLUMNS).where(OF_MARKET).order_by(QuoteRow.at, QuoteRow.id)
PRICE_TOO_MANY = select(QuoteRow.at).where(OF_MARKET).order_by(QuoteRow.at).offset(bindparam("most")).limit(1)
"""Found in the index alone, where there are more than so many."""
PRICE_ENDS = (
    select(QuoteRow.at).where(OF_MARKET).order_by(QuoteRow.at).limit(1),
    select(QuoteRow.at).where(OF_MARKET).order_by(col(QuoteRow.at).desc()).limit(1),
)


def read_price_history(connection: Connection, market: str, most: int) -> PriceHistory:
    """Every price of a market, or those that stood at `most` instants, evenly spaced over its time."""
    if connection.execute(PRICE_TOO_MANY, {"market": market, "most": most}).first() is None:
        stored = connection.execute(EVERY_PRICE, {"market": market})
        return PriceHistory(tuple(read_nouns(StoredPrice, stored)), thinned=False)
    first, last = (connection.execute(query, {"market": market}).scalar_one() for query in PRICE_ENDS)
    times = [*(first + place * (last - first) / (most - 1) for place in range(most - 1)), last]
    parameter = keyed_instants_parameter(connection, [(market, at) for at in times])
    rows = connection.execute(_prices_at(connection.dialect.name), parameter)
    return PriceHistory(tuple(read_nouns(StoredPrice, rows)), thinned=True)


@cache
def _prices_at(dialect: str) -> AnySelect:
    """The newest price at each of the instants given."""
    asked = keyed_instants(dialect, Text)
    chosen = select(_newest_quote(asked, QUOTE.id)).select_from(asked)
    return select(*PRICE_COLUMNS).where(col(QuoteRow.id).in_(chosen)).order_by(QuoteRow.at, QuoteRow.id)


def _newest_quote(asked: FromClause, column: Any) -> ColumnElement[Any]:
    """What the newest quote of each market says, at the instant asked for."""
    newest = select(column).where(QUOTE.market_id == asked.c.key, QUOTE.at <= asked.c.at)
    newest = newest.order_by(col(QUOTE.at).desc(), col(QUOTE.id).desc()).limit(1)
    return newest.correlate(asked).scalar_subquery()


def read_price_lines(
    connection: Connection, ends: Mapping[MarketId, datetime], back: timedelta, most: int
) -> dict[MarketId, list[int]]:
    """What each market cost at so many instants before its end, oldest first, where that is known."""
    pairs = [
        (market, end - back * place / (most - 1)) for market, end in ends.items() for place in range(most)
    ]
    asked = _price_lines(connection.dialect.name)
    found: dict[MarketId, dict[datetime, int]] = defaultdict(dict)
    for market, at, price in connection.execute(asked, keyed_instants_parameter(connection, pairs)):
        if price is not None:
            found[MarketId(market)][at] = price
    return {market: [price for _, price in sorted(prices.items())] for market, prices in found.items()}


@cache
def _price_lines(dialect: str) -> AnySelect:
    asked = keyed_instants(dialect, Text)
    return select(asked.c.key, asked.c.at, _newest_quote(asked, func.coalesce(QUOTE.mid, QUOTE.last)))


QUESTIONS_OF_EVENTS = select(MarketVersionRow.event_id, MarketVersionRow.question).where(
    col(MarketVersionRow.event_id).in_(IDS)
)
OLDEST_LAST = QUESTIONS_OF_EVENTS.order_by(col(MarketVersionRow.id).desc())


def read_questions(connection: Connection, market_ids: Sequence[str]) -> dict[str, str]:
    """The question of each market, as its page said last."""
    questions: dict[str, str] = {}
    for some in batches(market_ids):
        rows = newest_rows(connection, MarketVersionRow, some, "version", "question")
        questions |= {key: row.question for key, row in rows.items()}
    return questions


def read_event_questions(connection: Connection, event_ids: Sequence[str]) -> dict[str, str]:
    """The question of the first market that was seen of each event: what the event is about."""
    questions: dict[str, str] = {}
    for some in batches(event_ids):
        questions |= dict(connection.execute(OLDEST_LAST, {"ids": list(some)}).all())
    return questions


FORECAST_COUNTS = select(ForecastRow.market_id, func.count()).group_by(ForecastRow.market_id)
ENTRY_COUNTS = (
    select(EntryRow.market_id, func.count())
    .where(col(EntryRow.market_id).is_not(None))
    .group_by(EntryRow.market_id)
)
VALUED_BY_COHORT = (
    select(CohortRow.number, VALUED_SNAPSHOT)
    .select_from(joined(EntrantRow, CohortRow))
    .where(VALUED_SNAPSHOT.is_not(None))
)
VALUED_ITEMS = (
    select(
        SnapshotItemRow.market_id,
        SnapshotItemRow.snapshot_id,
        SnapshotItemRow.quote_id,
        SnapshotItemRow.quoted_at,
    )
    .where(col(SnapshotItemRow.snapshot_id).in_(IDS))
    .order_by(SnapshotItemRow.snapshot_id)
)


def read_valued_snapshots(connection: Connection) -> dict[int, list[int]]:
    """By which snapshots the accounts of each cohort were valued last, by the cohort's number."""
    found = defaultdict[int, set[int]](set)
    for cohort, snapshot in connection.execute(VALUED_BY_COHORT):
        found[cohort].add(snapshot)
    return {cohort: sorted(snapshots) for cohort, snapshots in found.items()}


@dataclass(frozen=True, slots=True)
class MarketState:
    """What a market's page is made of, as a hash; beside it its event, and when it closes.

    `listed` are the newest version of its page, and of its resolution if it has one.
    """

    event_id: str
    closes_at: datetime
    listed: tuple[int, int | None]
    hash: str


def read_market_states(
    connection: Connection, shown: Mapping[MarketId, ShowingRound]
) -> dict[MarketId, MarketState]:
    """Of each market that was shown, by the newest round that did.

    Another page, price, resolution, forecast, trade or valuation of it makes another hash.
    """
    ids, valued = list(shown), defaultdict[str, list[Any]](list)
    pages = newest_rows(connection, MarketVersionRow, ids, "version", "event_id", "closes_at")
    quotes = newest_rows(connection, QuoteRow, ids, "at", "at")
    ends = newest_rows(connection, ResolutionRow, ids, "version", "version")
    counts = [dict(connection.execute(query).all()) for query in (FORECAST_COUNTS, ENTRY_COUNTS)]
    snapshots = sorted(
        {snapshot_id for some in read_valued_snapshots(connection).values() for snapshot_id in some}
    )
    for market, *rest in connection.execute(VALUED_ITEMS, {"ids": snapshots}):
        valued[market].append([str(one) for one in rest])
    found = dict[MarketId, MarketState]()
    for market_id, shown_round in shown.items():
        newest = [rows[market_id].id if market_id in rows else None for rows in (pages, quotes, ends)]
        parts = [
            newest,
            shown_round.round_id,
            [count.get(market_id, 0) for count in counts],
            valued[market_id],
        ]
        listed = pages[market_id].id, ends[market_id].id if market_id in ends else None
        found[market_id] = MarketState(
            pages[market_id].event_id, pages[market_id].closes_at, listed, digest(parts)
        )
    return found
