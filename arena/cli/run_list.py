"""`arena run --list`: what is done how often, when it was last done, and when it will be."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from arena.cli.markets_show import plain
from arena.cli.output import print_table, program

if TYPE_CHECKING:
    from arena.clock import Clock
    from arena.config import Config
    from arena.record.model.cohort import JobState

DECISIONS = 5
SHORT = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, slots=True)
class JobTimes:
    """A job: how often it is done, for which time it last was and how that went, and when it is due next."""

    job: str
    cadence: str
    last: datetime | None = None
    note: str = ""
    failures: int = 0
    next: datetime | None = None


@dataclass(frozen=True, slots=True)
class UpcomingWork:
    """The jobs, and the next times at which cohorts start or decide."""

    now: datetime
    jobs: tuple[JobTimes, ...]
    decisions: tuple[tuple[datetime, str], ...]


def upcoming(config: "Config", clock: "Clock") -> UpcomingWork:
    """What the config and the record say is to come. Nothing is written, and a record need not be there."""
    from arena.cohorts.freeze import plan_of, stamp_of
    from arena.operations.due import DueSituation, upcoming_work
    from arena.record.queries.progress import read_progress
    from arena.record.record import Record
    from arena.record.schema.database import NoRecord, connect
    from arena.record.write.operations import read_jobs

    now, live = clock.now(), stamp_of(config) == "live"
    try:
        record = Record(connect(config.database, read_only=True))
        try:
            began, courses, states = (
                record.begun(),
                record.read(read_progress, record.line_ups),
                record.read(read_jobs),
            )
        finally:
            record.close()
    except NoRecord:
        began, courses, states = (), [], {}
    plan = plan_of(config, now, began)
    whole = DueSituation(plan, courses, states, live, config.cohorts.catch_up, now)
    return UpcomingWork(now, tuple(job_times(config, states, now)), tuple(upcoming_work(whole, DECISIONS)))


def job_times(config: "Config", states: "Mapping[str, JobState]", now: datetime) -> list[JobTimes]:
    """The jobs, those that are turned off too."""
    from arena.cohorts.schedule import JOB_NAMES, Job, job_due_at, next_job_time

    found = []
    for name in JOB_NAMES:
        cadence, last = getattr(config.run, name), states.get(name)
        job = Job(name, cadence)
        ahead = (job_due_at(job, last, now) or next_job_time(job, last, now)) if cadence else None
        shape = JobTimes(name, str(cadence), next=ahead)
        if last is not None:
            note = last.note if last.ended_at else "broken off"
            shape = replace(shape, last=last.due_at, note=note, failures=last.failures)
        found.append(shape)
    return found


def as_dict(found: UpcomingWork) -> dict[str, Any]:
    """For JSON."""
    return {
        "now": found.now.isoformat(),
        "jobs": [asdict(job) | {"last": _iso(job.last), "next": _iso(job.next)} for job in found.jobs],
        "decisions": [{"at": at.isoformat(), "what": what} for at, what in found.decisions],
    }


def say(found: UpcomingWork) -> None:
    """For people."""
    rows = [
        (job.job, job.cadence, _time(job.last), plain(_went(job)), _ahead(job.next, found.now))
        for job in found.jobs
    ]
    print_table(("job", "how often", "last done for (UTC)", "how it went", "next (UTC)"), rows)
    if found.decisions:
        print_table(("decision (UTC)", "what"), [(_time(at), what) for at, what in found.decisions])
    print(f"Next: {program()} run")


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _time(at: datetime | None) -> str | None:
    return None if at is None else f"{at:{SHORT}}"


def _ahead(at: datetime | None, now: datetime) -> str | None:
    return "now" if at is not None and at <= now else _time(at)


def _went(job: JobTimes) -> str:
    if not job.failures:
        return job.note
    return f"failed {'once' if job.failures == 1 else f'{job.failures} times'}: {job.note}"
