"""What has ended of a cohort: how many of its markets, and when its accounts were paid out."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, select

from arena.record.schema.tables import COHORT, ENTRANT, ENTRY, ITEM, RESOLUTION, ROUND

NUMBER = COHORT.c.number == bindparam("number")
SHOWN = (
    select(ITEM.c.market_id)
    .select_from(
        COHORT.join(ROUND, ROUND.c.cohort_id == COHORT.c.id).join(
            ITEM, ITEM.c.snapshot_id == ROUND.c.snapshot_id
        )
    )
    .where(NUMBER, ITEM.c.shown == 1)
)
ENDS = select(func.count(), func.coalesce(func.max(RESOLUTION.c.id), 0)).where(
    RESOLUTION.c.market_id.in_(SHOWN)
)


def count_ends(connection: Connection, cohort: int) -> str:
    """How far the ends of a cohort's own markets have come: another text with each end and each round."""
    count, last = connection.execute(ENDS, {"number": cohort}).one()
    rounds = select(func.count()).select_from(ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id))
    begun = connection.scalar(rounds.where(NUMBER), {"number": cohort})
    return f"{count} ends in {begun} rounds, the last is {last}"


@dataclass(frozen=True, slots=True)
class Settled:
    """At an instant so many of a cohort's markets were paid out or refunded to its accounts."""

    at: datetime
    markets: int


SETTLED = (
    select(ENTRY.c.at, func.count(ENTRY.c.market_id.distinct()))
    .select_from(
        COHORT.join(ENTRANT, ENTRANT.c.cohort_id == COHORT.c.id).join(
            ENTRY, ENTRY.c.entrant_id == ENTRANT.c.id
        )
    )
    .where(NUMBER, ENTRY.c.kind.in_(("settle", "refund")))
    .group_by(ENTRY.c.at)
    .order_by(ENTRY.c.at)
)


def read_settled(connection: Connection, cohort: int) -> list[Settled]:
    """When a cohort's accounts were paid, oldest first."""
    return [Settled(*row) for row in connection.execute(SETTLED, {"number": cohort})]
