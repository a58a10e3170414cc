"""Single turns: one whole, by its place in the season; the newest ones; the busiest of a round."""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, bindparam, cast, func
from sqlmodel import and_, case

from agents.model import Message
from arena.record.queries.cohorts import IS_TRADING, PLACE, item_of
from arena.record.schema.codec import orders_of
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.dialects import BigInt
from arena.record.schema.turn import AttemptRow, CallRow, FillRow, ForecastRow, RejectionRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    Condition,
    col,
    count,
    joined,
    read_nouns,
    select,
    select_noun,
    total,
)
from arena.record.schema.world import MarketVersionRow, QuoteRow
from markets.model import MarketId
from portfolio.model import Bet, Sale

TURN_ID: BindParameter[int] = bindparam("turn_id")


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """A turn by its place, how it ended, and the orders of it as JSON."""

    id: int
    round_id: int
    snapshot_id: int
    entrant_id: int
    cohort: int
    round: int
    agent: str
    kind: str
    at: datetime
    status: str
    note: str
    cash: int
    code_version: str
    orders: str
    repaired: str

    @property
    def bets(self) -> tuple[Bet, ...]:
        """What was to be bought."""
        return orders_of(self.orders)[0]

    @property
    def sales(self) -> tuple[Sale, ...]:
        """What was to be sold."""
        return orders_of(self.orders)[1]


PLACED_TURNS = joined(TurnRow, EntrantRow, RoundRow, CohortRow)
TURN_OF_AGENT = and_(CohortRow.number == bindparam("cohort"), EntrantRow.name == bindparam("agent"))
ONE_TURN = (
    select_noun(PlacedTurn, TurnRow, RoundRow, **PLACE)
    .select_from(PLACED_TURNS)
    .where(TURN_OF_AGENT, RoundRow.number == bindparam("round"), EntrantRow.cohort_id == CohortRow.id)
)


def find_turn(connection: Connection, cohort: int, round_number: int, agent: str) -> PlacedTurn | None:
    """An agent's turn in a round of a cohort, if it is in."""
    rows = connection.execute(ONE_TURN, {"cohort": cohort, "round": round_number, "agent": agent})
    return next(iter(read_nouns(PlacedTurn, rows)), None)


@dataclass(frozen=True, slots=True)
class TurnFailure:
    """That a turn failed, and why; `at` is when, where that is known."""

    number: int
    note: str
    at: datetime | None


FAILURES = (
    select_noun(TurnFailure, AttemptRow)
    .where(AttemptRow.round_id == bindparam("round_id"), AttemptRow.entrant_id == bindparam("entrant_id"))
    .order_by(AttemptRow.number)
)


def read_failures(connection: Connection, turn: PlacedTurn) -> list[TurnFailure]:
    """Each time that a turn failed, the first one first."""
    whose = {"round_id": turn.round_id, "entrant_id": turn.entrant_id}
    return read_nouns(TurnFailure, connection.execute(FAILURES, whose))


TURN_ROUNDS = (
    select(RoundRow.number)
    .select_from(PLACED_TURNS)
    .where(TURN_OF_AGENT, EntrantRow.cohort_id == CohortRow.id)
    .order_by(RoundRow.number)
)


def read_turn_rounds(connection: Connection, cohort: int, agent: str) -> list[int]:
    """The rounds of a cohort in which an agent's turn is in."""
    return list(connection.scalars(TURN_ROUNDS, {"cohort": cohort, "agent": agent}))


@dataclass(frozen=True, slots=True)
class CallAttempt:
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
    host: str
    tokens_reasoning: int
    tokens_out: int
    tokens_cached: int
    tokens_cache_write: int
    cost: int | None
    worst: int | None
    latency_ms: int
    status: int | None
    error_code: str | None
    error_message: str | None
    error_retry: int
    made_at: datetime


ATTEMPTS = (
    select_noun(CallAttempt, CallRow)
    .where(CallRow.round_id == bindparam("round_id"), CallRow.entrant_id == bindparam("entrant_id"))
    .order_by(CallRow.stage, CallRow.sample, CallRow.attempt)
)


def read_attempts(connection: Connection, turn: PlacedTurn) -> list[CallAttempt]:
    """Every call of a turn: first those before the prices were shown, each stage sample by sample."""
    place = {"round_id": turn.round_id, "entrant_id": turn.entrant_id}
    return read_nouns(CallAttempt, connection.execute(ATTEMPTS, place))


@dataclass(frozen=True, slots=True)
class CallTexts:
    """What was asked in a call, what was thought and answered, and the addresses it names as sources."""

    messages: tuple[Message, ...]
    reply: str | None
    thinking: str
    citations: tuple[str, ...]


def read_call_texts(connection: Connection, call_id: int) -> CallTexts:
    """The texts of a call."""
    query = select(CallRow.messages, CallRow.reply, CallRow.thinking, CallRow.citations)
    messages, reply, thinking, citations = connection.execute(query.where(CallRow.id == call_id)).one()
    asked = tuple(Message(**message) for message in json.loads(messages))
    return CallTexts(asked, reply, thinking, tuple(json.loads(citations)))


@dataclass(frozen=True, slots=True)
class SeenMarket:
    """A market as a turn saw it: its page then, and the price if it had one."""

    id: MarketId
    question: str
    event_id: str
    shown: bool
    mid: int | None
    slug: str
    event_slug: str
    story: str


SEEN_MARKETS = (
    select_noun(
        SeenMarket, MarketVersionRow, QuoteRow, id=SnapshotItemRow.market_id, shown=SnapshotItemRow.shown == 1
    )
    .select_from(joined(SnapshotItemRow, MarketVersionRow).outerjoin(QuoteRow))
    .where(SnapshotItemRow.snapshot_id == bindparam("snapshot_id"))
    .order_by(SnapshotItemRow.position)
)


def read_seen_markets(connection: Connection, turn: PlacedTurn) -> list[SeenMarket]:
    """The markets that a turn saw: what was on offer, then what else was held."""
    rows = connection.execute(SEEN_MARKETS, {"snapshot_id": turn.snapshot_id})
    return sorted(read_nouns(SeenMarket, rows), key=lambda seen: not seen.shown)


@dataclass(frozen=True, slots=True)
class StatedForecast:
    """What an agent said of a market: before it saw a price, if it was asked, and in the end."""

    final: int | None = None
    blind: int | None = None
    reason: str = ""


TURN_FORECASTS = select(
    ForecastRow.market_id, ForecastRow.stage, ForecastRow.probability, ForecastRow.reason
).where(ForecastRow.turn_id == TURN_ID)


def read_forecasts(connection: Connection, turn: PlacedTurn) -> dict[MarketId, StatedForecast]:
    """What a turn said of each market."""
    forecasts: dict[MarketId, dict[str, Any]] = defaultdict(dict)
    for row in connection.execute(TURN_FORECASTS, {"turn_id": turn.id}):
        forecasts[row.market_id][row.stage] = row
    return {
        market: StatedForecast(
            final=stages["final"].probability if "final" in stages else None,
            blind=stages["blind"].probability if "blind" in stages else None,
            reason=stages["final" if "final" in stages else "blind"].reason,
        )
        for market, stages in forecasts.items()
    }


FIRST_ROUNDS = 8
"""So many rounds are looked through at first; twice as many each time that these are not enough."""


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """A turn in a list: what it bought, sold and was refused, and what its calls cost.

    `cost` are millionths of a dollar, None without a call and where the cost of one is `unknown`.
    """

    cohort: int
    round: int
    agent: str
    at: datetime
    status: str
    bought: int
    sold: int
    rejected: int
    spent: int
    calls: int
    unknown: int
    cost: int | None


NEWEST_ROUNDS = (
    select(RoundRow.id)
    .join(CohortRow, RoundRow.cohort_id == CohortRow.id)
    .where(IS_TRADING)
    .order_by(col(RoundRow.at).desc(), col(CohortRow.number).desc())
)
FILL_OF_TURN = FillRow.turn_id == TurnRow.id
KNOWN_COST = cast(func.sum(CallRow.cost), BigInt)
CALLS_OF_TURN = and_(CallRow.round_id == TurnRow.round_id, CallRow.entrant_id == TurnRow.entrant_id)


def _sum_of(figure: ColumnElement[Any], *where: Condition) -> ColumnElement[Any]:
    return select(figure).where(*where).correlate(TurnRow.__table__).scalar_subquery()


TURN_SUMMARIES = (
    select_noun(
        TurnSummary,
        TurnRow,
        **PLACE,
        bought=_sum_of(func.count(), FILL_OF_TURN, FillRow.action == "buy"),
        sold=_sum_of(func.count(), FILL_OF_TURN, FillRow.action == "sell"),
        rejected=_sum_of(func.count(), RejectionRow.turn_id == TurnRow.id),
        spent=_sum_of(total(FillRow.amount), FILL_OF_TURN, FillRow.action == "buy"),
        calls=_sum_of(func.count(), CALLS_OF_TURN),
        unknown=_sum_of(func.count() - count(CallRow.cost), CALLS_OF_TURN),
        cost=_sum_of(case((func.count() == count(CallRow.cost), KNOWN_COST)), CALLS_OF_TURN),
    )
    .select_from(PLACED_TURNS)
    .where(col(TurnRow.round_id).in_(IDS))
    .order_by(col(RoundRow.at).desc(), col(CohortRow.number).desc(), EntrantRow.position)
    .limit(bindparam("most"))
)


def read_newest_turns(
    connection: Connection, most: int, agent: str = "", status: str = ""
) -> list[TurnSummary]:
    """The newest turns, of one agent or with one status if these are given; no more than `most`."""
    named = [EntrantRow.name == agent] if agent else []
    query = TURN_SUMMARIES.where(*named, *([TurnRow.status == status] if status else []))
    rounds = list(connection.scalars(NEWEST_ROUNDS))
    turns, start, size = list[TurnSummary](), 0, FIRST_ROUNDS
    while start < len(rounds) and len(turns) < most:
        wanted = {"ids": rounds[start : start + size], "most": most - len(turns)}
        turns += read_nouns(TurnSummary, connection.execute(query, wanted))
        start, size = start + size, 2 * size
    return turns


@dataclass(frozen=True, slots=True)
class PlacedForecast:
    """A final probability of a turn and why it was stated; money and prices in millionths."""

    cohort: int
    round: int
    agent: str
    kind: str
    market_id: MarketId
    question: str
    probability: int
    reason: str


@dataclass(frozen=True, slots=True)
class FarForecast(PlacedForecast):
    """One that lay far from the price that its agent was shown."""

    mid: int


@dataclass(frozen=True, slots=True)
class ExplainedTrade(PlacedForecast):
    """One on which the agent traded."""

    mid: int | None
    at: datetime
    action: str
    side: str
    shares: int
    amount: int


STATED_IN_TURN = (
    joined(TurnRow, EntrantRow, RoundRow, CohortRow)
    .join(ForecastRow, and_(ForecastRow.turn_id == TurnRow.id, ForecastRow.stage == "final"))
    .join(SnapshotItemRow, item_of(ForecastRow.market_id))
    .join(MarketVersionRow)
    .outerjoin(QuoteRow)
)
STATED = (ForecastRow, MarketVersionRow, QuoteRow)
FILL_ON_FORECAST = and_(FillRow.turn_id == TurnRow.id, FillRow.market_id == ForecastRow.market_id)
EXPLAINED_TRADES = (
    select_noun(ExplainedTrade, *STATED, FillRow, **PLACE)
    .select_from(STATED_IN_TURN.join(FillRow, FILL_ON_FORECAST))
    .where(col(TurnRow.round_id).in_(IDS))
    .order_by(ForecastRow.reason == "", col(FillRow.amount).desc(), ForecastRow.market_id, EntrantRow.name)
    .limit(bindparam("most"))
)


def read_explained_trades(connection: Connection, rounds: int, most: int) -> list[ExplainedTrade]:
    """The trades of the newest rounds, those first that have a reason, then the largest."""
    ids = list(connection.scalars(NEWEST_ROUNDS.limit(rounds)))
    rows = connection.execute(EXPLAINED_TRADES, {"ids": ids, "most": most})
    return read_nouns(ExplainedTrade, rows)


FROM_PRICE = func.abs(ForecastRow.__table__.c.probability - QuoteRow.__table__.c.mid)
FAR_FORECASTS = (
    select_noun(FarForecast, *STATED, **PLACE)
    .select_from(STATED_IN_TURN)
    .where(col(TurnRow.round_id).in_(IDS), col(QuoteRow.mid).is_not(None))
    .order_by(FROM_PRICE.desc(), ForecastRow.market_id, EntrantRow.name)
    .limit(bindparam("most"))
)


def read_far_forecasts(connection: Connection, rounds: int, most: int) -> list[FarForecast]:
    """The probabilities of the newest rounds that lay furthest from the price then."""
    ids = list(connection.scalars(NEWEST_ROUNDS.limit(rounds)))
    return read_nouns(FarForecast, connection.execute(FAR_FORECASTS, {"ids": ids, "most": most}))
