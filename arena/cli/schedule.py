"""`arena run --list`: the jobs of `arena run`, and the next times at which cohorts start or decide."""

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from arena.cli.options import Options, clock_of
from arena.cli.output import Data, minute, plain, typed
from arena.cli.page import Page
from arena.cli.table import Table
from arena.cohorts.freeze import plan_of, stamp_of
from arena.cohorts.schedule import JOB_NAMES, Job, job_due_at, next_job_time
from arena.config import Config
from arena.errors import count_text
from arena.operations.due import DueSituation, upcoming_work
from arena.record.model.cohort import JobState
from arena.record.queries.progress import read_progress
from arena.record.record import Record
from arena.record.schema.database import NoRecord, connect
from arena.record.write.operations import read_jobs

DECISIONS = 5
"""How many decision times are shown."""


@dataclass(frozen=True, slots=True)
class JobTimes:
    """A job: how often it is done, for which time it last was and how that went, and when it is due next."""

    job: str
    cadence: str
    last: datetime | None = None
    note: str = ""
    failures: int = 0
    next: datetime | None = None


def list_work(chosen: Options, clock: Path | None) -> None:
    """Show the jobs and the next decisions. Nothing is written, and a record need not be there."""
    config = chosen.load()
    at = clock_of(clock)().now()
    is_live = stamp_of(config) == "live"
    try:
        with closing(Record(connect(config.database, read_only=True))) as record:
            began = record.begun()
            states = record.read(read_jobs)
            courses = record.read(read_progress, record.line_ups)
    except NoRecord:
        began = ()
        states = {}
        courses = []

    plan = plan_of(config, at, began)
    situation = DueSituation(plan, courses, states, is_live, config.cohorts.catch_up, at)
    jobs = [job_times(name, config, states.get(name), at) for name in JOB_NAMES]
    decisions = [{"at": due_at, "what": what} for due_at, what in upcoming_work(situation, DECISIONS)]
    chosen.answer({"now": at, "jobs": jobs, "decisions": decisions}, schedule_page)


def job_times(name: str, config: Config, state: JobState | None, at: datetime) -> JobTimes:
    """Return the times of a job; one that is turned off has no next time."""
    cadence = getattr(config.run, name)
    coming = None
    if cadence:
        job = Job(name, cadence)
        coming = job_due_at(job, state, at) or next_job_time(job, state, at)
    if state is None:
        return JobTimes(name, str(cadence), next=coming)

    note = state.note if state.ended_at else "broken off"
    return JobTimes(name, str(cadence), state.due_at, note, state.failures, coming)


def schedule_page(data: Data) -> Page:
    """Yield the jobs, then the decisions to come."""
    rows = []
    for job in data["jobs"]:
        result = plain(job.note)
        if job.failures:
            result = f"failed {count_text(job.failures, 'time')}: {result}"
        last = job.last and minute(job.last)
        coming = job.next and minute(job.next)
        if job.next is not None and job.next <= data["now"]:
            coming = "now"
        rows.append((job.job, job.cadence, last, result, coming))
    yield Table(("job", "how often", "last (UTC)", "result", "next (UTC)"), rows)

    if data["decisions"]:
        decisions = [(minute(decision["at"]), decision["what"]) for decision in data["decisions"]]
        yield Table(("decision (UTC)", "what"), decisions)
    yield f"Next: {typed('run')}"
