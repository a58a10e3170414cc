"""How far each open cohort has come: its rounds, when it was last looked at, whose turns are missing."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam, exists, func, select

from arena.record.queries import read
from arena.record.queries.read import LineUps, StoredCohort
from arena.record.schema.tables import MARK, ROUND, SNAPSHOT

IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)


@dataclass(frozen=True, slots=True)
class Begun:
    """A round that has begun, when its prices were really looked at, and whether it is done.

    Of one that isn't, `silent` counts the turns that are missing, and `failed` those that have failed.
    """

    number: int
    at: datetime
    taken_at: datetime
    done: bool
    silent: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Course:
    """A cohort, its rounds in order, and its newest snapshot: of what time, and whether it was marked."""

    stored: StoredCohort
    rounds: tuple[Begun, ...] = ()
    looked: datetime | None = None
    marked: bool = True


BEGUN = (
    select(ROUND.c.id, ROUND.c.cohort_id, ROUND.c.number, ROUND.c.at, SNAPSHOT.c.taken_at, ROUND.c.done)
    .select_from(ROUND.join(SNAPSHOT, ROUND.c.snapshot_id == SNAPSHOT.c.id))
    .where(ROUND.c.cohort_id.in_(IDS))
    .order_by(ROUND.c.cohort_id, ROUND.c.number)
)
LAST = (
    select(SNAPSHOT.c.cohort_id, func.max(SNAPSHOT.c.at).label("at"))
    .where(SNAPSHOT.c.cohort_id.in_(IDS))
    .group_by(SNAPSHOT.c.cohort_id)
    .subquery()
)
OF_THE_LAST = (SNAPSHOT.c.cohort_id == LAST.c.cohort_id) & (SNAPSHOT.c.at == LAST.c.at)
MARKED = exists().where(MARK.c.at == SNAPSHOT.c.at, MARK.c.snapshot_id == SNAPSHOT.c.id)
LOOKED = select(SNAPSHOT.c.cohort_id, SNAPSHOT.c.at, MARKED).select_from(SNAPSHOT.join(LAST, OF_THE_LAST))


def read_courses(connection: Connection, line_ups: LineUps) -> list[Course]:
    """All cohorts, oldest first; of those that have ended only the cohort itself."""
    known = read.cohorts(connection, line_ups)
    ids = {"ids": [stored.id for stored in known if stored.ended_at is None]}
    looked = {cohort_id: rest for cohort_id, *rest in connection.execute(LOOKED, ids)}
    rounds: dict[int, list[Begun]] = defaultdict(list)
    size = {stored.id: len(stored.entrant_ids) for stored in known}
    for row in connection.execute(BEGUN, ids).all():
        silent, failed = (0, 0) if row.done else _left(connection, row.id, size[row.cohort_id])
        rounds[row.cohort_id].append(Begun(row.number, row.at, row.taken_at, bool(row.done), silent, failed))
    return [
        Course(stored, tuple(rounds[stored.id]), *looked.get(stored.id, (None, True))) for stored in known
    ]


def _left(connection: Connection, round_id: int, size: int) -> tuple[int, int]:
    verdicts = read.verdicts(connection, round_id)
    return size - len(verdicts), sum(verdict == "failed" for verdict in verdicts.values())
