"""From the record to curves: what each account of a cohort was worth, at no more instants than are drawn.

The instants are picked first, among the cohort's snapshots; the marks are then looked up one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import BindParameter, Connection, bindparam, func, or_, select

from arena.record.schema.tables import COHORT, ENTRANT, MARK, SNAPSHOT
from arena.record.schema.types import UtcTime

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
FIRST: BindParameter[datetime] = bindparam("first", type_=UtcTime())
LAST: BindParameter[datetime] = bindparam("last", type_=UtcTime())
MOST: BindParameter[int] = bindparam("most")
IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)
TIMES: BindParameter[Sequence[datetime]] = bindparam("times", expanding=True)


@dataclass(frozen=True, slots=True)
class Worth:
    """An account at one instant, in millionths: cash with open positions at mid."""

    agent: str
    at: datetime
    total: int


LINE_UP = (
    select(ENTRANT.c.id, ENTRANT.c.name, ENTRANT.c.cohort_id)
    .join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
    .where(COHORT.c.number == bindparam("number"))
    .order_by(ENTRANT.c.position)
)
NEWEST = (
    select(MARK.c.at).where(MARK.c.entrant_id == bindparam("entrant_id")).order_by(MARK.c.at.desc()).limit(1)
)
numbered = (
    select(
        SNAPSHOT.c.at,
        (func.row_number().over(order_by=SNAPSHOT.c.at) - 1).label("place"),
        func.count().over().label("count"),
    )
    .where(SNAPSHOT.c.cohort_id == bindparam("cohort_id"), SNAPSHOT.c.at >= FIRST, SNAPSHOT.c.at <= LAST)
    .subquery()
)
STEP = (numbered.c.place * (MOST - 1)) // (numbered.c.count - 1)
BEFORE = ((numbered.c.place - 1) * (MOST - 1)) // (numbered.c.count - 1)
PICKED = (
    select(numbered.c.at)
    .where(or_(numbered.c.place == 0, numbered.c.count <= MOST, STEP > BEFORE))
    .order_by(numbered.c.at)
)
"""Of the instants between two, `most` evenly by their place, the first and the last one among them."""
MARKED = select(MARK.c.entrant_id, MARK.c.at, MARK.c.cash + MARK.c.value).where(
    MARK.c.entrant_id.in_(IDS), MARK.c.at.in_(TIMES)
)


def read_worth(
    connection: Connection, cohort: int, points: int = 2_000, back: timedelta | None = None
) -> list[Worth]:
    """A cohort's accounts by time and in line-up order, so many points in all.

    `back` is how far to go from the newest mark; from the first one on without it.
    """
    line_up = connection.execute(LINE_UP, {"number": cohort}).all()
    newest = connection.scalar(NEWEST, {"entrant_id": line_up[0].id}) if line_up else None
    if newest is None:
        return []
    first = EARLIEST if back is None else newest - back
    some = {
        "cohort_id": line_up[0].cohort_id, "first": first, "last": newest,
        "most": max(points // len(line_up), 2),
    }  # fmt: skip
    times = list(connection.scalars(PICKED, some))
    place = {row.id: (number, row.name) for number, row in enumerate(line_up)}
    rows = connection.execute(MARKED, {"ids": list(place), "times": times})
    found = [(at, *place[entrant], total) for entrant, at, total in rows]
    return [Worth(name, at, total) for at, _, name, total in sorted(found)]
