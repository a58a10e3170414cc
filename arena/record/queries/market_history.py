"""One market as its agents had it: the rounds that showed it, what they said of it and did with it.

A market's prices over time: every one, or as many as a chart can take, each found by the index.

What markets ask, by their ids or by those of their events, found by index.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BindParameter,
    Connection,
    DateTime,
    FromClause,
    Select,
    Text,
    and_,
    bindparam,
    column,
    func,
    select,
)

from arena.record.queries.cohorts import LEARNT_RESOLUTIONS
from arena.record.schema.dialects import UtcTime, instant_text
from arena.record.schema.newest import newest_rows
from arena.record.schema.statements import batches
from arena.record.schema.tables import (
    COHORT,
    ENTRANT,
    ENTRY,
    FILL,
    FORECAST,
    ITEM,
    LEVEL,
    MARK,
    QUOTE,
    ROUND,
    SNAPSHOT,
    TURN,
    VERSION,
)
from arena.record.write.listings import QUOTE_FIELDS, quote_of
from markets.model import Market, MarketId, Quote, Resolution
from portfolio.model import Entry

MARKET_ID: BindParameter[str] = bindparam("market")
IDS: BindParameter[Sequence[Any]] = bindparam("ids", expanding=True)
EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PageVersion:
    """What a market's page said from an instant on."""

    version: int
    at: datetime
    market: Market


PAGE_COLUMNS = [VERSION.c[name] for name in Market.__dataclass_fields__ if name != "id"]
PAGE_VERSIONS = (
    select(VERSION.c.version, VERSION.c.at, *PAGE_COLUMNS)
    .where(VERSION.c.market_id == MARKET_ID)
    .order_by(VERSION.c.version)
)


def read_page_versions(connection: Connection, market: MarketId) -> list[PageVersion]:
    """Every version of a market's page, oldest first; none of a market that nobody has seen."""
    rows = connection.execute(PAGE_VERSIONS, {"market": market})
    return [PageVersion(version, at, Market(market, *named)) for version, at, *named in rows]


@dataclass(frozen=True, slots=True)
class ResolutionVersion:
    """A version of how a market ended, and the decision time at which a cohort learnt of it."""

    resolution: Resolution
    learnt_at: datetime


def read_resolution_versions(connection: Connection, market: MarketId) -> list[ResolutionVersion]:
    """Every version of how a market ended, oldest first."""
    rows = connection.execute(LEARNT_RESOLUTIONS, {"ids": [market], "at": EVER})
    return [ResolutionVersion(Resolution(*told), learnt_at) for *told, learnt_at in rows]


@dataclass(frozen=True, slots=True)
class MarketRound:
    """A round whose snapshot held a market: to be bet on if `shown`, else only because it was held."""

    round_id: int
    cohort: int
    number: int
    at: datetime
    shown: bool


# By cohort and time: there is no index from a snapshot to its round.
IS_DECISION_SNAPSHOT = and_(ROUND.c.cohort_id == SNAPSHOT.c.cohort_id, ROUND.c.at == SNAPSHOT.c.at)
MARKET_ROUNDS = (
    select(ROUND.c.id, COHORT.c.number, ROUND.c.number, ROUND.c.at, ITEM.c.shown)
    .select_from(
        ITEM.join(SNAPSHOT, ITEM.c.snapshot_id == SNAPSHOT.c.id)
        .join(ROUND, IS_DECISION_SNAPSHOT)
        .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
    )
    .where(ITEM.c.market_id == MARKET_ID)
    .order_by(ROUND.c.at, COHORT.c.number)
)


def read_market_rounds(connection: Connection, market: MarketId) -> list[MarketRound]:
    """The rounds that a market was in, oldest first."""
    rows = connection.execute(MARKET_ROUNDS, {"market": market})
    return [MarketRound(*[*place, bool(shown)]) for *place, shown in rows]


@dataclass(frozen=True, slots=True)
class MarketForecast:
    """A probability that an agent gave a market in a round, in millionths."""

    round_id: int
    agent: str
    probability: int


FORECAST_HERE = and_(
    FORECAST.c.turn_id == TURN.c.id, FORECAST.c.market_id == MARKET_ID, FORECAST.c.stage == "final"
)
MARKET_FORECASTS = (
    select(TURN.c.round_id, ENTRANT.c.name, FORECAST.c.probability)
    .select_from(TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id).join(FORECAST, FORECAST_HERE))
    .where(TURN.c.round_id.in_(IDS), TURN.c.verdict == "played")
    .order_by(TURN.c.round_id, ENTRANT.c.position)
)


def read_market_forecasts(
    connection: Connection, market: MarketId, rounds: Collection[int], agent: str = ""
) -> list[MarketForecast]:
    """What agents, or one of them, said of a market in these rounds."""
    query = MARKET_FORECASTS.where(ENTRANT.c.name == agent) if agent else MARKET_FORECASTS
    rows = connection.execute(query, {"market": market, "ids": list(rounds)})
    return [MarketForecast(*row) for row in rows]


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


AVERAGE_PRICE = func.sum(LEVEL.c.price * 1.0 * LEVEL.c.shares) / func.sum(LEVEL.c.shares)
FILL_PRICE = select(AVERAGE_PRICE).where(LEVEL.c.fill_id == FILL.c.id).scalar_subquery()
# The ledger's lines about a market lead to the turns behind them; no fill is looked at in vain.
FILL_JOIN = (
    select(TURN.c.id)
    .select_from(
        ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id)
        .join(ROUND, and_(ROUND.c.cohort_id == ENTRANT.c.cohort_id, ROUND.c.at == ENTRY.c.at))
        .join(TURN, and_(TURN.c.round_id == ROUND.c.id, TURN.c.entrant_id == ENTRANT.c.id))
    )
    .where(ENTRY.c.market_id == MARKET_ID, ENTRY.c.kind.in_(("buy", "sell")))
)
MARKET_TRADES = (
    select(COHORT.c.number, ROUND.c.number, ROUND.c.at, ENTRANT.c.name)
    .add_columns(FILL.c.side, FILL.c.action, FILL.c.shares, FILL.c.amount, FILL.c.fee, FILL_PRICE)
    .select_from(
        FILL.join(TURN, FILL.c.turn_id == TURN.c.id)
        .join(ROUND, TURN.c.round_id == ROUND.c.id)
        .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
        .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    )
    .where(FILL.c.turn_id.in_(FILL_JOIN), FILL.c.market_id == MARKET_ID)
    .order_by(ROUND.c.at.desc(), COHORT.c.number.desc(), ENTRANT.c.position, FILL.c.position)
    .limit(bindparam("most"))
)


def read_market_trades(connection: Connection, market: MarketId, most: int) -> list[MarketTrade]:
    """What was bought and sold of a market, newest first."""
    rows = connection.execute(MARKET_TRADES, {"market": market, "most": most})
    return [MarketTrade(*[*row[:-1], float(row[-1])]) for row in rows]


@dataclass(frozen=True, slots=True)
class MarketAccount:
    """An entrant that ever held a market: its ids, and the lines of its ledger about this market."""

    entrant_id: int
    cohort: int
    agent: str
    entries: tuple[Entry, ...]


MARKET_ENTRIES = (
    select(
        ENTRANT.c.id.label("entrant"),
        COHORT.c.number.label("cohort"),
        ENTRANT.c.name,
        *(ENTRY.c[name] for name in Entry.__dataclass_fields__),
    )
    .select_from(
        ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id).join(
            COHORT, ENTRANT.c.cohort_id == COHORT.c.id
        )
    )
    .where(ENTRY.c.market_id == MARKET_ID)
    .order_by(COHORT.c.number.desc(), ENTRANT.c.position, ENTRY.c.number)
)


def read_market_accounts(connection: Connection, market: MarketId) -> list[MarketAccount]:
    """Everyone who ever held a market: newest cohorts first, in line-up order."""
    found: dict[tuple[int, int, str], list[Entry]] = defaultdict(list)
    for entrant, cohort, name, *line in connection.execute(MARKET_ENTRIES, {"market": market}):
        found[entrant, cohort, name].append(Entry(*line))
    return [MarketAccount(*key, tuple(entries)) for key, entries in found.items()]


NEWEST_MARK = select(MARK.c.snapshot_id).where(MARK.c.entrant_id == ENTRANT.c.id).order_by(MARK.c.at.desc())
IS_VALUED_SNAPSHOT = SNAPSHOT.c.id == NEWEST_MARK.limit(1).correlate(ENTRANT).scalar_subquery()
ITEM_HERE = and_(ITEM.c.snapshot_id == SNAPSHOT.c.id, ITEM.c.market_id == MARKET_ID)
LAST_MARKS = (
    select(
        COHORT.c.number.label("cohort"),
        SNAPSHOT.c.taken_at,
        ITEM.c.market_id,
        ITEM.c.quoted_at,
        *(QUOTE.c[name] for name in QUOTE_FIELDS),
    )
    .select_from(
        ENTRANT.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
        .join(SNAPSHOT, IS_VALUED_SNAPSHOT)
        .join(ITEM, ITEM_HERE)
        .join(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    )
    .where(ENTRANT.c.id.in_(IDS))
)


def read_last_marks(
    connection: Connection, market: MarketId, entrants: Iterable[int]
) -> dict[int, tuple[Quote, datetime]]:
    """By which price a market was valued last, and when: by cohort, for which one entrant each is named."""
    rows = connection.execute(LAST_MARKS, {"market": market, "ids": list(entrants)})
    return {row.cohort: (quote_of(row, row.quoted_at), row.taken_at) for row in rows}


PRICED_MARKET_ID: BindParameter[str] = bindparam("market")
OF_MARKET = QUOTE.c.market_id == PRICED_MARKET_ID
PRICE_COLUMNS = (QUOTE.c.at, QUOTE.c.bid, QUOTE.c.ask, QUOTE.c.mid, QUOTE.c.last)


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


FIRST_PRICES = (
    select(*PRICE_COLUMNS).where(OF_MARKET).order_by(QUOTE.c.at, QUOTE.c.id).limit(bindparam("most"))
)
PRICE_ENDS = (
    select(QUOTE.c.at).where(OF_MARKET).order_by(QUOTE.c.at).limit(1),
    select(QUOTE.c.at).where(OF_MARKET).order_by(QUOTE.c.at.desc()).limit(1),
)


def read_price_history(connection: Connection, market: str, most: int) -> PriceHistory:
    """Every price of a market, or those that stood at `most` instants, evenly spaced over its time."""
    stored = connection.execute(FIRST_PRICES, {"market": market, "most": most + 1}).all()
    if len(stored) <= most:
        return PriceHistory(tuple(StoredPrice(*row) for row in stored), thinned=False)
    first, last = (connection.execute(query, {"market": market}).scalar_one() for query in PRICE_ENDS)
    times = [first + place * (last - first) / (most - 1) for place in range(most)]
    wanted = _prices_at(connection.dialect.name)
    rows = connection.execute(
        wanted, {"market": market} | _instants_parameter(connection, [*times[:-1], last])
    )
    return PriceHistory(tuple(StoredPrice(*row) for row in rows), thinned=True)


def _prices_at(dialect: str) -> Select[Any]:
    """The newest price at each of the instants given."""
    one, times = QUOTE.alias("one"), _instants_table(dialect)
    newest = select(one.c.id).where(one.c.market_id == PRICED_MARKET_ID, one.c.at <= times.c.value)
    newest = newest.order_by(one.c.at.desc(), one.c.id.desc()).limit(1).correlate(times)
    chosen = select(newest.scalar_subquery()).select_from(times)
    return select(*PRICE_COLUMNS).where(QUOTE.c.id.in_(chosen)).order_by(QUOTE.c.at, QUOTE.c.id)


def _instants_table(dialect: str) -> FromClause:
    """Instants as a table of one column, given as one parameter however many they are."""
    if dialect == "postgresql":
        listed = func.unnest(bindparam("times", type_=ARRAY(DateTime(timezone=True))))
        return listed.table_valued(column("value", UtcTime), name="listed").render_derived()
    return func.json_each(bindparam("times", type_=Text)).table_valued(column("value", Text))


def _instants_parameter(connection: Connection, times: Sequence[datetime]) -> dict[str, Any]:
    if connection.dialect.name == "postgresql":
        return {"times": list(times)}
    return {"times": json.dumps([instant_text(at) for at in times])}


EVENT_IDS: BindParameter[Sequence[str]] = bindparam("ids", expanding=True)
QUESTIONS_OF_EVENTS = select(VERSION.c.event_id, VERSION.c.question).where(VERSION.c.event_id.in_(EVENT_IDS))
OLDEST_LAST = QUESTIONS_OF_EVENTS.order_by(VERSION.c.id.desc())


def read_questions(connection: Connection, market_ids: Sequence[str]) -> dict[str, str]:
    """The question of each market, as its page said last."""
    found: dict[str, str] = {}
    for some in batches(market_ids):
        rows = newest_rows(connection, VERSION, some, "version", "question")
        found |= {key: row.question for key, row in rows.items()}
    return found


def read_event_questions(connection: Connection, event_ids: Sequence[str]) -> dict[str, str]:
    """The question of the first market that was seen of each event: what the event is about."""
    found: dict[str, str] = {}
    for some in batches(event_ids):
        found |= dict(connection.execute(OLDEST_LAST, {"ids": list(some)}).all())
    return found
