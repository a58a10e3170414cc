"""Every market that agents were shown: what it asks, how it ended, and in which round it was shown last."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
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

from arena.store.lookup import is_one_of_these, these
from arena.store.tables import ENTRANT, ENTRY, FORECAST, ITEM, MARKET, RESOLUTION, ROUND, TURN, VERSION
from arena.store.types import Whole
from markets.model import MarketId

IDS: BindParameter[Sequence[Any]] = bindparam("ids", expanding=True)
FIRST = 16
"""So many rounds are looked through at first; twice as many each time that these are not enough."""


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


# From each market to the next by the index: a record knows a hundred thousand, of which agents saw a few.
first = select(func.min(ITEM.c.market_id).label("id")).cte("met", recursive=True)
following = ITEM.alias("following")
NEXT = select(func.min(following.c.market_id)).where(following.c.market_id > first.c.id).scalar_subquery()
MET = first.union_all(select(NEXT).where(first.c.id.is_not(None)))
newer = VERSION.alias("newer")
NEWEST = select(func.max(newer.c.version)).where(newer.c.market_id == MET.c.id)
PAGE = and_(VERSION.c.market_id == MET.c.id, VERSION.c.version == NEWEST.correlate(MET).scalar_subquery())
PLAYED = (
    select(MET.c.id, VERSION.c.event_id, VERSION.c.question, VERSION.c.category, VERSION.c.closes_at)
    .select_from(MET.join(VERSION, PAGE))
    .order_by(MET.c.id)
)
ENDS = select(RESOLUTION.c.market_id, RESOLUTION.c.payout).order_by(RESOLUTION.c.version)


def read_directory(connection: Connection) -> list[Listed]:
    """The markets that any snapshot of a cohort held, in the order of their ids."""
    ends = dict(connection.execute(ENDS).all())
    return [Listed(*row, row[0] in ends, ends.get(row[0])) for row in connection.execute(PLAYED)]


@dataclass(frozen=True, slots=True)
class Shown:
    """A round that showed a market: its id and when it was decided."""

    round_id: int
    at: datetime


ROUNDS = select(ROUND.c.id, ROUND.c.snapshot_id, ROUND.c.at).order_by(ROUND.c.at.desc(), ROUND.c.id.desc())
SHOWN = (
    select(ITEM.c.snapshot_id, ITEM.c.market_id)
    .where(ITEM.c.snapshot_id.in_(IDS), ITEM.c.shown == 1)
    .order_by(ITEM.c.snapshot_id, ITEM.c.position)
)


def last_shown(connection: Connection, wanted: Collection[str], most: int) -> dict[MarketId, Shown]:
    """The newest round that showed each of these markets, newest first, until `most` have been found."""
    rounds, found, start, size = connection.execute(ROUNDS).all(), dict[MarketId, Shown](), 0, FIRST
    while start < len(rounds) and len(found) < min(most, len(wanted)):
        some = rounds[start : start + size]
        offered: dict[int, list[str]] = defaultdict(list)
        for snapshot, market in connection.execute(SHOWN, {"ids": [row.snapshot_id for row in some]}):
            offered[snapshot].append(market)
        for row in some:
            for market in offered[row.snapshot_id]:
                if market in wanted:
                    found.setdefault(MarketId(market), Shown(row.id, row.at))
        start, size = start + size, 2 * size
    return dict(list(found.items())[:most])


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
