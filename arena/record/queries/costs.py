"""What calls have cost lately and in what still plays, and what those under way may cost, by indices."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam, case, func, select

from arena.record.model.status import UnderWay
from arena.record.schema.clock import NOW
from arena.record.schema.tables import CALL, COHORT, ENTRANT, RESERVATION, ROUND
from arena.record.write.spending import COST

PLAYING = select(COHORT.c.id).where(COHORT.c.ended_at.is_(None))
IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)

MADE_AT: BindParameter[datetime] = bindparam("since", type_=CALL.c.made_at.type)
SPENT_SINCE = select(func.coalesce(func.sum(COST), 0)).where(CALL.c.made_at >= MADE_AT)


def spent_since(connection: Connection, since: datetime) -> int:
    """What calls have cost since an instant, at their worst where it is unknown."""
    return int(connection.execute(SPENT_SINCE, {"since": since}).scalar_one())


ALL_SPENT = select(func.coalesce(func.sum(COST), 0)).select_from(CALL)


def spent_ever(connection: Connection) -> int:
    """What all calls have cost: a sum over an index of them."""
    return int(connection.execute(ALL_SPENT).scalar_one())


SUM = select(func.coalesce(func.sum(COST), 0))
OF_ROUND = SUM.where(CALL.c.round_id == ROUND.c.id).correlate(ROUND).scalar_subquery().label("cost")
OF_AGENT = SUM.where(CALL.c.entrant_id == ENTRANT.c.id).correlate(ENTRANT).scalar_subquery().label("cost")
COST_OF_ROUND = (
    select(COHORT.c.number, ROUND.c.number, OF_ROUND)
    .select_from(ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id))
    .where(ROUND.c.id.in_(IDS))
    .order_by(OF_ROUND.desc(), COHORT.c.number, ROUND.c.number)
    .limit(1)
)
COST_OF_AGENT = (
    select(COHORT.c.number, ENTRANT.c.name, OF_AGENT)
    .select_from(ENTRANT.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id))
    .where(ENTRANT.c.cohort_id.in_(PLAYING))
    .order_by(OF_AGENT.desc(), COHORT.c.number, ENTRANT.c.name)
    .limit(1)
)


def dearest_round(connection: Connection, ids: Collection[int]) -> tuple[str, int]:
    """Of these rounds the one whose calls have cost most."""
    row = connection.execute(COST_OF_ROUND, {"ids": list(ids)}).first()
    return ("", 0) if row is None else (f"round {row[1]} of cohort {row[0]}", int(row.cost))


def dearest_agent(connection: Connection) -> tuple[str, int]:
    """The agent whose calls have cost most in a cohort that has not ended."""
    row = connection.execute(COST_OF_AGENT).first()
    return ("", 0) if row is None else (f"{row[1]} in cohort {row[0]}", int(row.cost))


RUNS = RESERVATION.c.expires_at > NOW
WORST = func.coalesce(RESERVATION.c.worst, 0)
RESERVED = select(
    *(
        func.coalesce(func.sum(case((condition, value), else_=0)), 0)
        for condition in (RUNS, ~RUNS)
        for value in (1, WORST)
    )
)


def read_under_way(connection: Connection) -> UnderWay:
    """Calls that are being made, and those whose worker was lost."""
    return UnderWay(*map(int, connection.execute(RESERVED).one()))
