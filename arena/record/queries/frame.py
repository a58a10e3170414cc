"""What the readers of columns share: a few queries whatever the size, and no row made into an object."""

from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from arena.record.model.columns import NO_SCORE, OPEN, Ints
from arena.record.schema.tables import COHORT, ENTRANT, RESOLUTION, ROUND, TURN
from markets.millionths import ONE

__all__ = ["IN_ORDER", "TURNS", "Connection", "columns", "ints", "outcomes"]

TURNS = (
    TURN.join(ROUND, TURN.c.round_id == ROUND.c.id)
    .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
)
IN_ORDER = (COHORT.c.number, ROUND.c.number, ENTRANT.c.position)


def outcomes(connection: Connection, markets: tuple[str, ...]) -> Ints:
    """How each market ended by the latest version of its resolution."""
    rows = connection.execute(
        select(RESOLUTION.c.market_id, RESOLUTION.c.payout).order_by(RESOLUTION.c.version)
    )
    ended = {row.market_id: {ONE: 1, 0: 0}.get(row.payout, NO_SCORE) for row in rows}
    return ints([ended.get(market, OPEN) for market in markets])


def columns(rows: Any, width: int) -> list[Any]:
    """Rows turned on their side; empty columns when there is none."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def ints(values: Any) -> Ints:
    """A column of whole numbers."""
    return np.array(values, dtype=np.int64)
