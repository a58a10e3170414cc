"""The markets that agents were shown: in which round last, what each asks and how it ended."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Text,
    and_,
    bindparam,
    case,
    column,
    func,
    select,
    values,
)

from arena.record.queries.lookup import is_one_of_these, newest, these
from arena.record.schema.tables import (
    ENTRANT,
    ENTRY,
    FORECAST,
    ITEM,
    MARKET,
    RESOLUTION,
    ROUND,
    TURN,
    VERSION,
)
from arena.record.schema.types import Whole
from markets.model import MarketId

IDS: BindParameter[Sequence[Any]] = bindparam("ids", expanding=True)
FIRST = 4
"""So many rounds are looked through at first; twice as many each time that these are not enough."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A round that showed a market: its id and when it was decided."""

    round_id: int
    at: datetime


ROUNDS = (
    select(ROUND.c.id, ROUND.c.snapshot_id, ROUND.c.at)
    .order_by(ROUND.c.at.desc(), ROUND.c.id.desc())
    .limit(bindparam("most"))
    .offset(bindparam("start"))
)
SHOWN = (
    select(ITEM.c.snapshot_id, ITEM.c.market_id)
    .where(ITEM.c.snapshot_id.in_(IDS), ITEM.c.shown == 1)
    .order_by(ITEM.c.snapshot_id, ITEM.c.position)
)
ANY = select(ITEM.c.market_id).where(ITEM.c.shown == 1).limit(1)


def was_any_shown(connection: Connection) -> bool:
    """Whether a round has put any market before agents."""
    return connection.scalar(ANY) is not None


def last_shown(connection: Connection) -> Iterator[dict[MarketId, Shown]]:
    """The markets that agents were shown, each with the newest round that did, newest first: some at a time.

    Whoever needs the first of them reads a few rounds, however many the record has.
    """
    known, start, size = set[str](), 0, FIRST
    while rounds := connection.execute(ROUNDS, {"most": size, "start": start}).all():
        offered: dict[int, list[str]] = defaultdict(list)
        for snapshot, market in connection.execute(SHOWN, {"ids": [row.snapshot_id for row in rounds]}).all():
            offered[snapshot].append(market)
        found = dict[MarketId, Shown]()
        for round_id, snapshot, at in rounds:
            for market in offered[snapshot]:
                if market not in known:
                    known.add(market)
                    found[MarketId(market)] = Shown(round_id, at)
        yield found
        start, size = start + size, 2 * size


@dataclass(frozen=True, slots=True)
class Listed:
    """A market by its newest page. Once it has `ended`, `payout` is what YES paid; None is a refund."""

    id: MarketId
    event_id: str
    question: str
    category: str
    closes_at: datetime
    ended: bool
    payout: int | None


def read_listed(connection: Connection, ids: Sequence[MarketId]) -> list[Listed]:
    """These markets, in the order given."""
    pages = newest(connection, VERSION, ids, "version", "event_id", "question", "category", "closes_at")
    ends = newest(connection, RESOLUTION, ids, "version", "payout")
    return [_listed(pages[id], ends.get(id)) for id in ids]


def _listed(page: Sequence[Any], end: Sequence[Any] | None) -> Listed:
    id, _, event_id, question, category, closes_at = page
    payout = None if end is None else end[-1]
    return Listed(id, event_id, question, category, closes_at, end is not None, payout)


@dataclass(frozen=True, slots=True)
class Spread:
    """The lowest and the highest of so many agents' probabilities for a market, in millionths."""

    agents: int
    low: int
    high: int


def read_spreads(
    connection: Connection, shown: Mapping[MarketId, Shown], but: Collection[str]
) -> dict[MarketId, Spread]:
    """How far apart the agents were in the newest round of each market, those of some kinds left out."""
    if not shown:
        return {}
    named = values(column("market_id", Text), column("round_id", Whole), name="pairs")
    pairs = named.data([(market, last.round_id) for market, last in shown.items()]).cte("pairs")
    said = and_(
        FORECAST.c.turn_id == TURN.c.id,
        FORECAST.c.market_id == pairs.c.market_id,
        FORECAST.c.stage == "final",
    )
    joined = pairs.join(TURN, and_(TURN.c.round_id == pairs.c.round_id, TURN.c.verdict == "played"))
    joined = joined.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id).join(FORECAST, said)
    chance = FORECAST.c.probability
    query = select(pairs.c.market_id, func.count(), func.min(chance), func.max(chance)).select_from(joined)
    query = query.where(ENTRANT.c.kind.not_in(sorted(but))).group_by(pairs.c.market_id)
    return {MarketId(market): Spread(*figures) for market, *figures in connection.execute(query)}


IS_TRADE = case((ENTRY.c.kind.in_(("buy", "sell")), 1), else_=0)
LOTS = (
    select(ENTRY.c.market_id, func.sum(ENTRY.c.shares).label("shares"), func.sum(IS_TRADE).label("trades"))
    .select_from(MARKET.join(ENTRY, ENTRY.c.market_id == MARKET.c.id))
    .group_by(ENTRY.c.market_id, ENTRY.c.entrant_id, ENTRY.c.side)
)


@dataclass(frozen=True, slots=True)
class Interest:
    """How often a market was traded, and how many lots of it are held now, an agent's in each cohort."""

    trades: int
    held: int


def read_interest(connection: Connection, ids: Sequence[str]) -> dict[MarketId, Interest]:
    """What was traded of these markets, and what is held."""
    lots = LOTS.where(is_one_of_these(connection.dialect.name)).subquery()
    held = func.sum(case((lots.c.shares > 0, 1), else_=0))
    query = select(lots.c.market_id, func.sum(lots.c.trades), held).group_by(lots.c.market_id)
    rows = connection.execute(query, these(connection, ids))
    return {MarketId(market): Interest(int(trades), int(open_)) for market, trades, open_ in rows}
