"""What agents from outside come to the desk for: who they are, the turn that is open, how things ended."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam
from sqlmodel import case, or_

from agents.model import Forecast, PastForecast
from arena.record.queries.cohorts import PLACE, item_of, read_resolutions
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.dialects import NOW
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import clause, col, joined, read_nouns, select, select_as, select_noun
from arena.record.schema.work import DeskKeyRow, DeskTurnRow
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from markets.model import MarketId

MOST_TURNS, MOST_RESULTS = 20, 500
"""So many turns and ended forecasts are told of, the latest."""
AGENT: BindParameter[str] = bindparam("agent")
AGENT_OF_KEY = select(DeskKeyRow.agent).where(DeskKeyRow.hash == bindparam("hash"))
IS_OVER = or_(DeskTurnRow.expires_at <= NOW, RoundRow.done == 1)


@dataclass(frozen=True, slots=True)
class DeskTurn:
    """A turn at the desk, and the ids of its rows; `over` is whether it is too late for an answer."""

    entrant_id: int
    round_id: int
    cohort_id: int
    cohort: int
    round: int
    at: datetime
    view: str
    expires_at: datetime
    answer: str | None
    answered_at: datetime | None
    over: int

    @property
    def name(self) -> str:
        """What an agent calls it: the numbers of cohort and round."""
        return f"{self.cohort}-{self.round}"


DESK_TURNS = (
    select_noun(DeskTurn, DeskTurnRow, **PLACE, cohort_id=CohortRow.id, over=case((IS_OVER, 1), else_=0))
    .select_from(
        DeskTurnRow.__table__.join(RoundRow, clause(RoundRow.id == DeskTurnRow.round_id))
        .join(EntrantRow, clause(EntrantRow.id == DeskTurnRow.entrant_id))
        .join(CohortRow, clause(CohortRow.id == RoundRow.cohort_id))
    )
    .where(EntrantRow.name == AGENT)
    .order_by(DeskTurnRow.expires_at)
)


def read_agent_of_key(connection: Connection, key_hash: str) -> str | None:
    """The agent whose key has this hash."""
    agent: str | None = connection.execute(AGENT_OF_KEY, {"hash": key_hash}).scalar_one_or_none()
    return agent


def read_desk_turns(connection: Connection, agent: str) -> list[DeskTurn]:
    """An agent's last turn in each of its cohorts, open or over, the first to be over first."""
    return read_nouns(DeskTurn, connection.execute(DESK_TURNS, {"agent": agent}))


@dataclass(frozen=True, slots=True)
class OverTurn:
    """Where a turn that is over is found."""

    cohort: int
    round: int
    at: datetime
    round_id: int
    entrant_id: int


LAST_TURNS = (
    select_noun(OverTurn, TurnRow, **PLACE)
    .select_from(
        joined(TurnRow, RoundRow, EntrantRow).join(CohortRow, clause(CohortRow.id == RoundRow.cohort_id))
    )
    .where(EntrantRow.name == AGENT, RoundRow.done == 1)
    .order_by(col(RoundRow.at).desc(), CohortRow.number)
    .limit(MOST_TURNS)
)


def read_last_turns(connection: Connection, agent: str) -> list[OverTurn]:
    """An agent's last turns that are over, the latest first."""
    return read_nouns(OverTurn, connection.execute(LAST_TURNS, {"agent": agent}))


ENDED_FORECASTS = (
    select_as(
        round=RoundRow.number,
        at=RoundRow.at,
        market=ForecastRow.market_id,
        chance=ForecastRow.probability,
        reason=ForecastRow.reason,
        question=MarketVersionRow.question,
        price=QuoteRow.mid,
    )
    .select_from(
        joined(TurnRow, RoundRow, EntrantRow)
        .join(ForecastRow, clause(ForecastRow.turn_id == TurnRow.id))
        .join(SnapshotItemRow, item_of(ForecastRow.market_id))
        .join(MarketVersionRow, clause(MarketVersionRow.id == SnapshotItemRow.version_id))
        .outerjoin(QuoteRow, clause(QuoteRow.id == SnapshotItemRow.quote_id))
    )
    .where(EntrantRow.name == AGENT, ForecastRow.stage == "final")
    .where(col(ForecastRow.market_id).in_(select(ResolutionRow.market_id)))
    .order_by(col(RoundRow.at).desc(), EntrantRow.id, ForecastRow.market_id)
    .limit(MOST_RESULTS)
)


def read_ended_forecasts(connection: Connection, agent: str, now: datetime) -> list[PastForecast]:
    """An agent's last forecasts of markets that have ended, the latest first, and how these ended."""
    rows = connection.execute(ENDED_FORECASTS, {"agent": agent}).all()
    ends = read_resolutions(connection, sorted({MarketId(row.market) for row in rows}), now) if rows else []
    paid = {end.market_id: end.outcome for end in ends}
    return [
        PastForecast(
            Forecast(row.market, None, "final", row.reason, millionths=row.chance),
            row.round,
            row.at,
            row.question,
            row.price,
            paid[row.market],
        )
        for row in rows
        if row.market in paid
    ]
