"""What tells one state of a record from the next, at the cost of a few looks into indices."""

from sqlalchemy import Connection, func, select

from arena.record.schema.tables import (
    COHORT,
    ENTRY,
    INCIDENT,
    JOB,
    MARK,
    QUOTE,
    RESOLUTION,
    ROLLUP,
    ROUND,
    SET_ASIDE,
    SNAPSHOT,
    TURN,
)

GROWING = (TURN, ENTRY, QUOTE, RESOLUTION, SNAPSHOT, ROUND)
"""Tables whose rows get ever higher numbers; what else may change in a round comes with its marks."""
HALTED = (COHORT.c.ended_at, COHORT.c.paused_at, COHORT.c.stopped_at)
PARTS = [
    *(func.max(table.c.id) for table in GROWING),
    *(func.count(column) for column in HALTED),
    func.max(MARK.c.at),
    func.max(ROLLUP.c.made_at),
    func.max(JOB.c.started_at),
    func.max(JOB.c.ended_at),
    func.max(INCIDENT.c.id),
    func.count(INCIDENT.c.ended_at),
    func.count(INCIDENT.c.told_at),
    func.max(SET_ASIDE.c.last_seen_at),
]
VERSION = select(*(select(part).scalar_subquery() for part in PARTS))


def read_version(connection: Connection) -> tuple[str, ...]:
    """Changes with everything that a reader of the record would want to see."""
    return tuple(map(str, connection.execute(VERSION).one()))
