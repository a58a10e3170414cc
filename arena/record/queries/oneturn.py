"""One turn whole: what was asked, answered, wished and had, read by its place in the season."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, Row, and_, bindparam, select

from agents.model import Message
from arena.record.schema.codec import wishes_of
from arena.record.schema.tables import (
    CALL,
    COHORT,
    ENTRANT,
    FILL,
    FORECAST,
    ITEM,
    LEVEL,
    QUOTE,
    REJECTION,
    ROUND,
    TURN,
    VERSION,
)
from markets.model import MarketId
from portfolio.model import Bet, Fill, FillLevel, Rejection, Sale

TURN_ID: BindParameter[int] = bindparam("turn_id")


@dataclass(frozen=True, slots=True)
class Decided:
    """A turn by its place, how it ended, and what was wished in it."""

    id: int
    round_id: int
    snapshot_id: int
    entrant_id: int
    cohort: int
    round: int
    agent: str
    kind: str
    at: datetime
    verdict: str
    note: str
    cash: int
    code_version: str
    bets: tuple[Bet, ...]
    sales: tuple[Sale, ...]


PLACED = (
    TURN.join(ROUND, TURN.c.round_id == ROUND.c.id)
    .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
)
OF_AGENT = and_(COHORT.c.number == bindparam("cohort"), ENTRANT.c.name == bindparam("agent"))
ONE = (
    select(
        TURN.c.id,
        TURN.c.round_id,
        ROUND.c.snapshot_id,
        TURN.c.entrant_id,
        COHORT.c.number,
        ROUND.c.number,
        ENTRANT.c.name,
        ENTRANT.c.kind,
        ROUND.c.at,
        TURN.c.verdict,
        TURN.c.note,
        TURN.c.cash,
        TURN.c.code_version,
        TURN.c.wishes,
    )
    .select_from(PLACED)
    .where(OF_AGENT, ROUND.c.number == bindparam("round"), ENTRANT.c.cohort_id == COHORT.c.id)
)


def find_turn(connection: Connection, cohort: int, round: int, agent: str) -> Decided | None:
    """An agent's turn in a round of a cohort, if it is in."""
    row = connection.execute(ONE, {"cohort": cohort, "round": round, "agent": agent}).one_or_none()
    return None if row is None else Decided(*[*row[:-1], *wishes_of(row[-1])])


OTHERS = (
    select(ROUND.c.number)
    .select_from(PLACED)
    .where(OF_AGENT, ENTRANT.c.cohort_id == COHORT.c.id)
    .order_by(ROUND.c.number)
)


def rounds_of(connection: Connection, cohort: int, agent: str) -> list[int]:
    """The rounds of a cohort in which an agent's turn is in."""
    return list(connection.scalars(OTHERS, {"cohort": cohort, "agent": agent}))


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a turn but for its texts; money in millionths of a dollar, None where it is unknown."""

    id: int
    stage: str
    sample: int
    attempt: int
    finish: str
    model: str
    fingerprint: str
    rung: str
    tokens_in: int
    tokens_out: int
    cost: int | None
    worst: int | None
    latency_ms: int
    error_code: str | None
    error_message: str | None
    error_retry: int
    made_at: datetime


ATTEMPTS = (
    select(*(CALL.c[name] for name in Attempt.__dataclass_fields__))
    .where(CALL.c.round_id == bindparam("round_id"), CALL.c.entrant_id == bindparam("entrant_id"))
    .order_by(CALL.c.stage, CALL.c.sample, CALL.c.attempt)
)


def read_attempts(connection: Connection, turn: Decided) -> list[Attempt]:
    """Every call of a turn: first those before the prices were shown, each stage sample by sample."""
    place = {"round_id": turn.round_id, "entrant_id": turn.entrant_id}
    return [Attempt(*row) for row in connection.execute(ATTEMPTS, place)]


def read_texts(connection: Connection, call_id: int) -> tuple[tuple[Message, ...], str | None]:
    """What was asked in a call, and what was answered."""
    query = select(CALL.c.messages, CALL.c.reply).where(CALL.c.id == call_id)
    messages, reply = connection.execute(query).one()
    return tuple(Message(**message) for message in json.loads(messages)), reply


@dataclass(frozen=True, slots=True)
class Seen:
    """A market as a turn saw it: its page then, and the price if it had one."""

    id: MarketId
    question: str
    event_id: str
    shown: bool
    mid: int | None


ITEMS = (
    select(ITEM.c.market_id, VERSION.c.question, VERSION.c.event_id, ITEM.c.shown, QUOTE.c.mid)
    .select_from(
        ITEM.join(VERSION, ITEM.c.version_id == VERSION.c.id).outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    )
    .where(ITEM.c.snapshot_id == bindparam("snapshot_id"))
    .order_by(ITEM.c.position)
)


def read_seen(connection: Connection, turn: Decided) -> list[Seen]:
    """The markets that a turn saw: what was on offer, then what else was held."""
    rows = connection.execute(ITEMS, {"snapshot_id": turn.snapshot_id})
    found = [Seen(market, question, event, bool(shown), mid) for market, question, event, shown, mid in rows]
    return sorted(found, key=lambda seen: not seen.shown)


@dataclass(frozen=True, slots=True)
class Stated:
    """What an agent said of a market: before it saw a price, if it was asked, and in the end."""

    final: int | None = None
    blind: int | None = None
    reason: str = ""


FORECASTS = select(FORECAST.c.market_id, FORECAST.c.stage, FORECAST.c.probability, FORECAST.c.reason).where(
    FORECAST.c.turn_id == TURN_ID
)


def read_forecasts(connection: Connection, turn: Decided) -> dict[MarketId, Stated]:
    """What a turn said of each market."""
    said: dict[MarketId, dict[str, Any]] = defaultdict(dict)
    for row in connection.execute(FORECASTS, {"turn_id": turn.id}):
        said[row.market_id][row.stage] = row
    return {market: _stated(stages) for market, stages in said.items()}


def _stated(stages: dict[str, Any]) -> Stated:
    final, blind = stages.get("final"), stages.get("blind")
    spoken = final if final is not None else blind
    return Stated(
        None if final is None else final.probability,
        None if blind is None else blind.probability,
        "" if spoken is None else spoken.reason,
    )


FILL_NAMES = [name for name in Fill.__dataclass_fields__ if name != "levels"]
FILLS = (
    select(FILL.c.id, *(FILL.c[name] for name in FILL_NAMES))
    .where(FILL.c.turn_id == TURN_ID)
    .order_by(FILL.c.position)
)
LEVELS = (
    select(LEVEL.c.fill_id, *(LEVEL.c[name] for name in FillLevel.__dataclass_fields__))
    .where(LEVEL.c.fill_id.in_(bindparam("ids", expanding=True)))
    .order_by(LEVEL.c.fill_id, LEVEL.c.position)
)


def read_fills(connection: Connection, turn: Decided) -> list[Fill]:
    """What a turn bought and sold, level by level."""
    rows = connection.execute(FILLS, {"turn_id": turn.id}).all()
    levels: dict[int, list[FillLevel]] = defaultdict(list)
    for fill_id, *level in connection.execute(LEVELS, {"ids": [row.id for row in rows]}):
        levels[fill_id].append(FillLevel(*level))
    return [_fill(row, levels[row.id]) for row in rows]


def _fill(row: Row[Any], levels: Sequence[FillLevel]) -> Fill:
    return Fill(**{name: getattr(row, name) for name in FILL_NAMES}, levels=tuple(levels))


REFUSED = (
    select(REJECTION.c.code, REJECTION.c.message, REJECTION.c.market_id)
    .where(REJECTION.c.turn_id == TURN_ID)
    .order_by(REJECTION.c.position)
)


def read_rejections(connection: Connection, turn: Decided) -> list[Rejection]:
    """What a turn wished for in vain."""
    return [Rejection(*row) for row in connection.execute(REFUSED, {"turn_id": turn.id})]
