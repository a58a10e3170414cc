"""From the record to answers in pairs: before and after the prices were shown."""

from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, and_, select

from arena.record.model.columns import NO_SCORE, OPEN, Ints, places
from arena.record.queries.trades import read_payouts
from arena.record.schema.tables import COHORT, ENTRANT, FORECAST, ITEM, QUOTE, ROUND, TURN
from markets.millionths import ONE

BEFORE, AFTER = FORECAST.alias("before"), FORECAST.alias("after")
PAIR = and_(
    AFTER.c.turn_id == BEFORE.c.turn_id,
    AFTER.c.market_id == BEFORE.c.market_id,
    AFTER.c.stage == "final",
)
HERE = and_(ITEM.c.snapshot_id == ROUND.c.snapshot_id, ITEM.c.market_id == BEFORE.c.market_id)
PAIRS = (
    BEFORE.join(AFTER, PAIR)
    .join(TURN, and_(BEFORE.c.turn_id == TURN.c.id, TURN.c.verdict == "played"))
    .join(ROUND, TURN.c.round_id == ROUND.c.id)
    .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
    .join(ITEM, HERE)
    .join(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
)


@dataclass(frozen=True, slots=True)
class Answers:
    """One row per market asked both ways in a turn; probabilities and prices in millionths."""

    before: Ints
    after: Ints
    price: Ints
    outcome: Ints
    market: Ints


def read_answers(connection: Connection, agent: str, cohort: int | None = None) -> Answers:
    """The pairs of an agent, over all its cohorts or in one; markets without a mid are left out."""
    query = (
        select(BEFORE.c.market_id, BEFORE.c.probability, AFTER.c.probability, QUOTE.c.mid)
        .select_from(PAIRS)
        .where(BEFORE.c.stage == "blind", ENTRANT.c.name == agent, QUOTE.c.mid.is_not(None))
        .order_by(COHORT.c.number, ROUND.c.number, ITEM.c.position)
    )
    rows = connection.execute(query if cohort is None else query.where(COHORT.c.number == cohort)).all()
    names, market = places([row[0] for row in rows])
    # Versions come in order, so the newest one stands.
    ended = {name: payout for (name, _), payout in read_payouts(connection, names).items()}
    scores = {None: NO_SCORE, ONE: 1, 0: 0}
    outcome = [scores.get(ended[name], NO_SCORE) if name in ended else OPEN for name in names]
    before, after, price = (np.array([row[k] for row in rows], dtype=np.int64) for k in (1, 2, 3))
    return Answers(before, after, price, np.array(outcome, dtype=np.int64)[market], market)
