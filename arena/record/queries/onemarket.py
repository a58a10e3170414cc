"""One market as its agents had it: the rounds that showed it, what they said of it and did with it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, and_, bindparam, func, select

from arena.record.queries.read import LEARNT
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
from arena.record.write.looks import PRICES, quote_of
from markets.model import Market, MarketId, Quote, Resolution
from portfolio.model import Entry

MARKET_ID: BindParameter[str] = bindparam("market")
IDS: BindParameter[Sequence[Any]] = bindparam("ids", expanding=True)
EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Page:
    """What a market's page said from an instant on."""

    version: int
    at: datetime
    market: Market


NAMED = [VERSION.c[name] for name in Market.__dataclass_fields__ if name != "id"]
PAGES = (
    select(VERSION.c.version, VERSION.c.at, *NAMED)
    .where(VERSION.c.market_id == MARKET_ID)
    .order_by(VERSION.c.version)
)


def read_pages(connection: Connection, market: MarketId) -> list[Page]:
    """Every version of a market's page, oldest first; none of a market that nobody has seen."""
    rows = connection.execute(PAGES, {"market": market})
    return [Page(version, at, Market(market, *named)) for version, at, *named in rows]


@dataclass(frozen=True, slots=True)
class Ended:
    """A version of how a market ended, and the decision time at which a cohort learnt of it."""

    resolution: Resolution
    learnt_at: datetime


def read_ends(connection: Connection, market: MarketId) -> list[Ended]:
    """Every version of how a market ended, oldest first."""
    rows = connection.execute(LEARNT, {"ids": [market], "at": EVER})
    return [Ended(Resolution(*told), learnt_at) for *told, learnt_at in rows]


@dataclass(frozen=True, slots=True)
class Offered:
    """A round whose snapshot held a market: to be bet on if `shown`, else only because it was held."""

    round_id: int
    cohort: int
    number: int
    at: datetime
    shown: bool


# By cohort and time: there is no index from a snapshot to its round.
DECIDED = and_(ROUND.c.cohort_id == SNAPSHOT.c.cohort_id, ROUND.c.at == SNAPSHOT.c.at)
OFFERED = (
    select(ROUND.c.id, COHORT.c.number, ROUND.c.number, ROUND.c.at, ITEM.c.shown)
    .select_from(
        ITEM.join(SNAPSHOT, ITEM.c.snapshot_id == SNAPSHOT.c.id)
        .join(ROUND, DECIDED)
        .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
    )
    .where(ITEM.c.market_id == MARKET_ID)
    .order_by(ROUND.c.at, COHORT.c.number)
)


def read_offered(connection: Connection, market: MarketId) -> list[Offered]:
    """The rounds that a market was in, oldest first."""
    rows = connection.execute(OFFERED, {"market": market})
    return [Offered(*[*place, bool(shown)]) for *place, shown in rows]


@dataclass(frozen=True, slots=True)
class Said:
    """A probability that an agent gave a market in a round, in millionths."""

    round_id: int
    agent: str
    probability: int


SAID_HERE = and_(
    FORECAST.c.turn_id == TURN.c.id, FORECAST.c.market_id == MARKET_ID, FORECAST.c.stage == "final"
)
SAID = (
    select(TURN.c.round_id, ENTRANT.c.name, FORECAST.c.probability)
    .select_from(TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id).join(FORECAST, SAID_HERE))
    .where(TURN.c.round_id.in_(IDS), TURN.c.verdict == "played")
    .order_by(TURN.c.round_id, ENTRANT.c.position)
)


def read_said(
    connection: Connection, market: MarketId, rounds: Collection[int], agent: str = ""
) -> list[Said]:
    """What agents, or one of them, said of a market in these rounds."""
    query = SAID.where(ENTRANT.c.name == agent) if agent else SAID
    rows = connection.execute(query, {"market": market, "ids": list(rounds)})
    return [Said(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class Dealt:
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


PAID = func.sum(LEVEL.c.price * 1.0 * LEVEL.c.shares) / func.sum(LEVEL.c.shares)
PRICE = select(PAID).where(LEVEL.c.fill_id == FILL.c.id).scalar_subquery()
# The ledger's lines about a market lead to the turns behind them; no fill is looked at in vain.
BEHIND = (
    select(TURN.c.id)
    .select_from(
        ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id)
        .join(ROUND, and_(ROUND.c.cohort_id == ENTRANT.c.cohort_id, ROUND.c.at == ENTRY.c.at))
        .join(TURN, and_(TURN.c.round_id == ROUND.c.id, TURN.c.entrant_id == ENTRANT.c.id))
    )
    .where(ENTRY.c.market_id == MARKET_ID, ENTRY.c.kind.in_(("buy", "sell")))
)
DEALT = (
    select(COHORT.c.number, ROUND.c.number, ROUND.c.at, ENTRANT.c.name)
    .add_columns(FILL.c.side, FILL.c.action, FILL.c.shares, FILL.c.amount, FILL.c.fee, PRICE)
    .select_from(
        FILL.join(TURN, FILL.c.turn_id == TURN.c.id)
        .join(ROUND, TURN.c.round_id == ROUND.c.id)
        .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
        .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    )
    .where(FILL.c.turn_id.in_(BEHIND), FILL.c.market_id == MARKET_ID)
    .order_by(ROUND.c.at.desc(), COHORT.c.number.desc(), ENTRANT.c.position, FILL.c.position)
    .limit(bindparam("most"))
)


def read_dealt(connection: Connection, market: MarketId, most: int) -> list[Dealt]:
    """What was bought and sold of a market, newest first."""
    rows = connection.execute(DEALT, {"market": market, "most": most})
    return [Dealt(*[*row[:-1], float(row[-1])]) for row in rows]


@dataclass(frozen=True, slots=True)
class Account:
    """An entrant that ever held a market: its ids, and the lines of its ledger about this market."""

    entrant_id: int
    cohort: int
    agent: str
    entries: tuple[Entry, ...]


LINES = (
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


def read_accounts(connection: Connection, market: MarketId) -> list[Account]:
    """Everyone who ever held a market: newest cohorts first, in line-up order."""
    found: dict[tuple[int, int, str], list[Entry]] = defaultdict(list)
    for entrant, cohort, name, *line in connection.execute(LINES, {"market": market}):
        found[entrant, cohort, name].append(Entry(*line))
    return [Account(*key, tuple(entries)) for key, entries in found.items()]


NEWEST = select(MARK.c.snapshot_id).where(MARK.c.entrant_id == ENTRANT.c.id).order_by(MARK.c.at.desc())
VALUED = SNAPSHOT.c.id == NEWEST.limit(1).correlate(ENTRANT).scalar_subquery()
HERE = and_(ITEM.c.snapshot_id == SNAPSHOT.c.id, ITEM.c.market_id == MARKET_ID)
MARKED = (
    select(
        COHORT.c.number.label("cohort"),
        SNAPSHOT.c.taken_at,
        ITEM.c.market_id,
        ITEM.c.quoted_at,
        *(QUOTE.c[name] for name in PRICES),
    )
    .select_from(
        ENTRANT.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
        .join(SNAPSHOT, VALUED)
        .join(ITEM, HERE)
        .join(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    )
    .where(ENTRANT.c.id.in_(IDS))
)


def read_marked(
    connection: Connection, market: MarketId, entrants: Iterable[int]
) -> dict[int, tuple[Quote, datetime]]:
    """By which price a market was valued last, and when: by cohort, for which one entrant each is named."""
    rows = connection.execute(MARKED, {"market": market, "ids": list(entrants)})
    return {row.cohort: (quote_of(row, row.quoted_at), row.taken_at) for row in rows}
