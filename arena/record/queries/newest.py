"""The newest decisions: who did most in a round."""

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select

from arena.record.schema.tables import ENTRANT, FILL, TURN

TRADES = select(func.count()).where(FILL.c.turn_id == TURN.c.id).correlate(TURN).scalar_subquery()
BUSIEST = (
    select(ENTRANT.c.name, TURN.c.verdict, TRADES.label("trades"))
    .select_from(TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id))
    .where(TURN.c.round_id == bindparam("round_id"))
    .order_by(TRADES.desc(), ENTRANT.c.position)
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class Acted:
    """An agent's turn: how it ended, and how many trades it made."""

    agent: str
    verdict: str
    trades: int


def read_busiest(connection: Connection, round_id: int, most: int) -> list[Acted]:
    """The turns of a round with most trades."""
    rows = connection.execute(BUSIEST, {"round_id": round_id, "most": most})
    return [Acted(*row) for row in rows]
