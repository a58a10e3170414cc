"""The jobs of `arena run` with their times, and the next times at which cohorts start or decide."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime

from arena.cohorts.freeze import plan_of, stamp_of
from arena.cohorts.schedule import JOB_NAMES, Job, job_due_at, next_job_time
from arena.config import Config
from arena.operations.due import DueSituation, upcoming_work
from arena.record.dry_run import open_or_empty
from arena.record.model.cohort import JobState
from arena.record.queries.progress import read_progress
from arena.record.record import Record
from arena.record.write.operations import read_jobs

DECISIONS = 5
"""How many decision times are shown."""


@dataclass(frozen=True, slots=True)
class JobTimes:
    """A job: its cadence, its last time and result, and its next time."""

    job: str
    cadence: str
    last: datetime | None = None
    note: str = ""
    failures: int = 0
    next: datetime | None = None


@dataclass(frozen=True, slots=True)
class DecisionTime:
    """A time at which something is due for the cohorts, and a description of it."""

    at: datetime
    what: str


@dataclass(frozen=True, slots=True)
class Agenda:
    """The jobs, and the decisions to come, as of an instant."""

    now: datetime
    jobs: Sequence[JobTimes]
    decisions: Sequence[DecisionTime]


def read_agenda(config: Config, at: datetime) -> Agenda:
    """Return the agenda of a config and its record, which need not exist; write nothing."""
    with open_or_empty(config.database) as engine, closing(Record(engine)) as record:
        plan = plan_of(config, at, record.begun())
        states = record.read(read_jobs)
        progress = record.read(read_progress, record.line_ups)

    is_live = stamp_of(config) == "live"
    situation = DueSituation(plan, progress, states, is_live, config.cohorts.catch_up, at)
    jobs = [_job_times(name, config, states.get(name), at) for name in JOB_NAMES]
    decisions = [DecisionTime(due_at, what) for due_at, what in upcoming_work(situation, DECISIONS)]
    return Agenda(at, jobs, decisions)


def _job_times(name: str, config: Config, state: JobState | None, at: datetime) -> JobTimes:
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
