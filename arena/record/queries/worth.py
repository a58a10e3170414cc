"""What every account is worth by its newest mark, one look into an index for each."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from arena.record.schema.tables import COHORT, ENTRANT, ENTRY, MARK

newest = MARK.alias("newest")
LAST = select(newest.c.at).where(newest.c.entrant_id == ENTRANT.c.id).order_by(newest.c.at.desc()).limit(1)
IS_LAST = (MARK.c.entrant_id == ENTRANT.c.id) & (MARK.c.at == LAST.correlate(ENTRANT).scalar_subquery())
GIVEN = (
    select(func.coalesce(func.sum(ENTRY.c.cash), 0))
    .where(ENTRY.c.entrant_id == ENTRANT.c.id, ENTRY.c.number == 1, ENTRY.c.kind == "deposit")
    .correlate(ENTRANT)
    .scalar_subquery()
)
VALUED = (
    select(COHORT.c.number, ENTRANT.c.name, ENTRANT.c.kind, GIVEN, MARK.c.cash + MARK.c.value)
    .select_from(ENTRANT.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id).outerjoin(MARK, IS_LAST))
    .order_by(COHORT.c.number, ENTRANT.c.position)
)


@dataclass(frozen=True, slots=True)
class Valued:
    """An account: what it was given and what it is worth, in millionths; None before its first mark."""

    cohort: int
    agent: str
    kind: str
    given: int
    total: int | None


def read_valued(connection: Connection, cohort: int | None = None) -> list[Valued]:
    """All accounts or those of a cohort, the oldest cohort first, in line-up order."""
    wanted = VALUED if cohort is None else VALUED.where(COHORT.c.number == cohort)
    return [Valued(*row) for row in connection.execute(wanted)]
