"""What is held in cohorts that play, and how old the prices of it are."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import Connection, case, func, select

from arena.record.model.status import Held
from arena.record.schema.tables import COHORT, ENTRANT, ENTRY, ITEM, SNAPSHOT

OPENED = case((ENTRY.c.held > 0, 1), else_=0) - case((ENTRY.c.held > ENTRY.c.shares, 1), else_=0)
"""Whether an entry opens a position (1), closes one (-1), or neither: `held` is what there is after it."""
PLAYING = select(COHORT.c.id).where(COHORT.c.ended_at.is_(None))
HELD = (
    select(ENTRANT.c.cohort_id, ENTRY.c.market_id, func.sum(OPENED))
    .select_from(ENTRANT.join(ENTRY, ENTRY.c.entrant_id == ENTRANT.c.id))
    .where(ENTRANT.c.cohort_id.in_(PLAYING), ENTRY.c.market_id != "")
    .group_by(ENTRANT.c.cohort_id, ENTRY.c.market_id)
    .having(func.sum(OPENED) > 0)
)

newer = SNAPSHOT.alias("newer")
LAST = select(newer.c.id).where(newer.c.cohort_id == COHORT.c.id).order_by(newer.c.at.desc()).limit(1)
IS_LAST = SNAPSHOT.c.id == LAST.correlate(COHORT).scalar_subquery()
PRICED = (
    select(COHORT.c.id, SNAPSHOT.c.taken_at, ITEM.c.market_id, ITEM.c.quoted_at)
    .select_from(COHORT.join(SNAPSHOT, IS_LAST).outerjoin(ITEM, ITEM.c.snapshot_id == SNAPSHOT.c.id))
    .where(COHORT.c.ended_at.is_(None))
)


def read_held(connection: Connection, ages: Mapping[int, timedelta]) -> tuple[Held, datetime | None]:
    """Open positions and their prices as each cohort last saw them, and when one last looked.

    `ages` says from what age on a price counts as old, by the id of the cohort.
    """
    positions = {(cohort, market): count for cohort, market, count in connection.execute(HELD)}
    looked, prices = list[datetime](), list[datetime]()
    priced, stale = set[tuple[int, str]](), set[str]()
    for cohort, taken_at, market, quoted_at in connection.execute(PRICED):
        looked.append(taken_at)
        if (cohort, market) not in positions or quoted_at is None:
            continue
        priced.add((cohort, market))
        prices.append(quoted_at)
        if taken_at - quoted_at > ages[cohort]:
            stale.add(market)
    stale.update(market for cohort, market in positions.keys() - priced)
    markets = {market for _, market in positions}
    held = Held(sum(positions.values()), len(markets), len(stale), min(prices, default=None))
    return held, max(looked, default=None)
