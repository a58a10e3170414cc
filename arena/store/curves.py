"""From the record to curves: what each account of a cohort was worth at every mark."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from arena.store.tables import COHORT, ENTRANT, MARK


@dataclass(frozen=True, slots=True)
class Worth:
    """An account at one instant, in millionths: cash with open positions at mid."""

    agent: str
    at: datetime
    total: int


def read_worth(connection: Connection, cohort: int) -> list[Worth]:
    """Every mark of a cohort's accounts, by time and then in line-up order."""
    joined = MARK.join(ENTRANT, MARK.c.entrant_id == ENTRANT.c.id)
    joined = joined.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
    rows = connection.execute(
        select(ENTRANT.c.name, MARK.c.at, MARK.c.cash + MARK.c.value)
        .select_from(joined)
        .where(COHORT.c.number == cohort)
        .order_by(MARK.c.at, ENTRANT.c.position)
    )
    return [Worth(*row) for row in rows]
