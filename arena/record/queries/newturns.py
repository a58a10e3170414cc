"""The newest turns of a record, looked for round by round from the newest on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, Select, and_, bindparam, func, select

from arena.record.schema.tables import CALL, COHORT, ENTRANT, FILL, REJECTION, ROUND, TURN

IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)
FIRST = 8
"""So many rounds are looked through at first; twice as many each time that these are not enough."""


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn in a list: what it bought, sold and was refused, and what its calls cost.

    `cost` are millionths of a dollar, None without a call and where the cost of one is `unknown`.
    """

    cohort: int
    round: int
    agent: str
    at: datetime
    verdict: str
    bought: int
    sold: int
    rejected: int
    spent: int
    calls: int
    unknown: int
    cost: int | None


ROUNDS = (
    select(ROUND.c.id)
    .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
    .order_by(ROUND.c.at.desc(), COHORT.c.number.desc())
)
IS_MINE = FILL.c.turn_id == TURN.c.id
MY_CALLS = and_(CALL.c.round_id == TURN.c.round_id, CALL.c.entrant_id == TURN.c.entrant_id)


def _sum_of(figure: ColumnElement[Any], *where: ColumnElement[bool]) -> ColumnElement[Any]:
    return select(figure).where(*where).correlate(TURN).scalar_subquery()


TURNS = (
    select(
        COHORT.c.number,
        ROUND.c.number,
        ENTRANT.c.name,
        ROUND.c.at,
        TURN.c.verdict,
        _sum_of(func.count(), IS_MINE, FILL.c.action == "buy"),
        _sum_of(func.count(), IS_MINE, FILL.c.action == "sell"),
        _sum_of(func.count(), REJECTION.c.turn_id == TURN.c.id),
        _sum_of(func.coalesce(func.sum(FILL.c.amount), 0), IS_MINE, FILL.c.action == "buy"),
        _sum_of(func.count(), MY_CALLS),
        _sum_of(func.count() - func.count(CALL.c.cost), MY_CALLS),
        _sum_of(func.sum(CALL.c.cost), MY_CALLS),
    )
    .select_from(
        TURN.join(ROUND, TURN.c.round_id == ROUND.c.id)
        .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
        .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    )
    .where(TURN.c.round_id.in_(IDS))
    .order_by(ROUND.c.at.desc(), COHORT.c.number.desc(), ENTRANT.c.position)
    .limit(bindparam("most"))
)


def newest_turns(connection: Connection, most: int, agent: str = "", verdict: str = "") -> list[NewTurn]:
    """The newest turns, of one agent or with one verdict if these are given; no more than `most`."""
    query, rounds = _asked(agent, verdict), list(connection.scalars(ROUNDS))
    found, start, size = list[NewTurn](), 0, FIRST
    while start < len(rounds) and len(found) < most:
        wanted = {"ids": rounds[start : start + size], "most": most - len(found)}
        found += [_turn(row) for row in connection.execute(query, wanted)]
        start, size = start + size, 2 * size
    return found


def _asked(agent: str, verdict: str) -> Select[Any]:
    query = TURNS.where(ENTRANT.c.name == agent) if agent else TURNS
    return query.where(TURN.c.verdict == verdict) if verdict else query


def _turn(row: Any) -> NewTurn:
    *figures, spent, calls, unknown, cost = row
    known = int(cost) if cost is not None and not unknown else None
    return NewTurn(*[*figures, int(spent), calls, unknown, known])
