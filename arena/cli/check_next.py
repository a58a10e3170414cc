"""`arena check`: which cohort starts next, as the record and the clock have it."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Config


@dataclass(frozen=True, slots=True)
class Begun:
    """What the record says has begun: when each cohort started, and the last time that was played.

    With `trouble` there is a record, or a place for one, that can't be read, and that is why.
    """

    starts: tuple[datetime, ...] = ()
    newest: datetime | None = None
    trouble: str = ""


def read_begun(database: str) -> Begun:
    """That of the record at an address; nothing where there is none yet. Nothing is written."""
    from arena.store.database import NoRecord, connect
    from arena.store.record import Record

    try:
        record = Record(connect(database, read_only=True))
        try:
            starts = tuple(stored.cohort.starts_at for stored in record.cohorts())
            return Begun(starts, record.newest_time())
        finally:
            record.close()
    except NoRecord:
        return Begun()
    except ArenaError as error:
        return Begun(trouble=error.message)


def next_cohort(config: "Config", begun: Begun, at: datetime) -> dict[str, Any]:
    """Its number and its start, None once all have begun, and how many have."""
    from arena.due import next_start
    from arena.plan import plan_of, stamp_of

    plan = plan_of(config, at, min(begun.starts, default=None))
    start = next_start(plan, begun.starts, begun.newest, stamp_of(config) == "live", at)
    return {
        "first_start": plan.first.isoformat(),
        "cohorts_begun": len(begun.starts),
        "next_cohort": None if start is None else len(begun.starts) + 1,
        "next_start": None if start is None else start.isoformat(),
        "record_trouble": begun.trouble or None,
    }


def say_next(found: dict[str, Any]) -> str:
    """The next start in words."""
    count = found["cohorts"]
    if found["next_start"] is None:
        return f"none: {found['cohorts_begun']} of {count} cohorts have begun, and no start is to come"
    start = datetime.fromisoformat(found["next_start"])
    of = f" of {count}" if count else ""
    return f"{start:%Y-%m-%d %H:%M} UTC, cohort {found['next_cohort']}{of}; a new one every week"
