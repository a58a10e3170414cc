"""Queries of the desk: an agent by its key, its open turn, and its past turns and results."""

from dataclasses import dataclass, replace
from datetime import datetime

from agents.model import Forecast, PastForecast
from arena.record.queries.cohorts import PLACE, item_of, read_hidden_rounds, read_resolutions
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.dialects import NOW
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import (
    case,
    clause,
    col,
    joined,
    or_,
    read_objects,
    select,
    select_as,
    select_fields,
)
from arena.record.schema.work import DeskKeyRow, DeskTurnRow
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from markets.model import MarketId

MOST_TURNS = 20
"""So many turns are told of, the latest."""
MOST_RESULTS = 500
"""So many ended forecasts are told of, the latest."""


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
        """Return the name of the turn: the numbers of cohort and round."""
        return f"{self.cohort}-{self.round}"


def read_agent_of_key(connection: Connection, key_hash: str) -> str | None:
    """Return the agent whose key has this hash."""
    agent: str | None = connection.scalar(select(DeskKeyRow.agent).where(DeskKeyRow.hash == key_hash))
    return agent


def read_desk_turns(connection: Connection, agent: str) -> list[DeskTurn]:
    """Return an agent's last turn in each of its cohorts, open or over, the earliest deadline first."""
    is_over = or_(DeskTurnRow.expires_at <= NOW, RoundRow.done == 1)
    query = (
        select_fields(
            DeskTurn, DeskTurnRow, **PLACE, cohort_id=CohortRow.id, over=case((is_over, 1), else_=0)
        )
        .select_from(
            DeskTurnRow.__table__.join(RoundRow, clause(RoundRow.id == DeskTurnRow.round_id))
            .join(EntrantRow, clause(EntrantRow.id == DeskTurnRow.entrant_id))
            .join(CohortRow, clause(CohortRow.id == RoundRow.cohort_id))
        )
        .where(EntrantRow.name == agent)
        .order_by(DeskTurnRow.expires_at)
    )
    return read_objects(DeskTurn, connection.execute(query))


@dataclass(frozen=True, slots=True)
class OverTurn:
    """A turn that is over."""

    cohort: int
    round: int
    at: datetime
    round_id: int
    entrant_id: int


def read_last_turns(connection: Connection, agent: str) -> list[OverTurn]:
    """Return an agent's last turns that are over, the latest first."""
    turns = joined(TurnRow, RoundRow, EntrantRow)
    query = (
        select_fields(OverTurn, TurnRow, **PLACE)
        .select_from(turns.join(CohortRow, clause(CohortRow.id == RoundRow.cohort_id)))
        .where(EntrantRow.name == agent, RoundRow.done == 1)
        .order_by(col(RoundRow.at).desc(), CohortRow.number)
    )
    return read_objects(OverTurn, connection.execute(query.limit(MOST_TURNS)))


def read_ended_forecasts(connection: Connection, agent: str, now: datetime) -> list[PastForecast]:
    """Return an agent's last forecasts of markets that have ended, the latest first, and how they ended.

    Prices of rounds that are hidden for now are left out.
    """
    query = (
        select_as(
            round_id=RoundRow.id,
            round=RoundRow.number,
            at=RoundRow.at,
            market=ForecastRow.market_id,
            probability=ForecastRow.probability,
            distribution=ForecastRow.distribution,
            reason=ForecastRow.reason,
            question=MarketVersionRow.question,
            form=MarketVersionRow.form,
            price=QuoteRow.mid,
        )
        .select_from(
            joined(TurnRow, RoundRow, EntrantRow)
            .join(ForecastRow, clause(ForecastRow.turn_id == TurnRow.id))
            .join(SnapshotItemRow, item_of(ForecastRow.market_id))
            .join(MarketVersionRow, clause(MarketVersionRow.id == SnapshotItemRow.version_id))
            .outerjoin(QuoteRow, clause(QuoteRow.id == SnapshotItemRow.quote_id))
        )
        .where(EntrantRow.name == agent, ForecastRow.stage == "final", ForecastRow.distribution == "")
        .where(col(ForecastRow.market_id).in_(select(ResolutionRow.market_id)))
        .order_by(col(RoundRow.at).desc(), EntrantRow.id, ForecastRow.market_id)
    )
    rows = connection.execute(query.limit(MOST_RESULTS)).all()
    markets = sorted({MarketId(row.market) for row in rows})
    ends = {end.market_id: end for end in read_resolutions(connection, markets, now)}

    hidden = read_hidden_rounds(connection)
    forecasts = []
    for row in rows:
        if row.market not in ends:
            continue
        end = ends[row.market]
        stated = Forecast(
            row.market, reason=row.reason, millionths=row.probability, distribution=row.distribution
        )
        price = None if row.round_id in hidden else row.price
        past = PastForecast(stated, row.round, row.at, row.question, price)
        forecasts.append(replace(past, outcome=end.outcome, form=row.form, answer=end.answer))
    return forecasts
