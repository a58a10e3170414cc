"""What was mended, taken out again one by one: a simulator that then finds nothing looks at the wrong things.

Each is the behaviour of before, by its name; what finds it is in benchmarks/README.md.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from agents.llm import patience as waiting
from arena.calls.faults import raise_past_agent
from arena.calls.reservations import CallReservations, new_reservation_id
from arena.cohorts.schedule import Job, job_due_at
from arena.errors import ArenaError
from arena.operations import due
from arena.operations import jobs as jobs_of_run
from arena.operations.due import Due, DueSituation, DueWork
from arena.operations.jobs import JobContext
from arena.operations.progress import RunProgress
from arena.operations.run import DueTask, due_tasks
from arena.record.model.cohort import JobState
from arena.record.model.lease import LEASE_LENGTH, Hold, Watch
from arena.record.model.reservation import ReservationAnswer, ReservationRequest, ReservationTerms
from arena.record.queries.cohorts import StoredCohort
from arena.record.queries.progress import BegunRound
from arena.record.write.reservations import reserve
from arena.rounds.round import finish_round
from arena.rounds.world import World
from tests.chaos.database_faults import DatabaseFaults
from tests.chaos.loop import PROCESS
from tests.chaos.simulated_queue import Queue
from tests.chaos.simulation import Simulation
from tests.opened_record import OpenedRecord


async def close_earlier_rounds(
    stored: StoredCohort, at: datetime, world: World, record: OpenedRecord
) -> None:
    """Finish every round before this time, even if somebody is still playing it."""
    for stored_round in record.rounds(stored.id):
        if not stored_round.done and stored_round.at < at:
            await finish_round(stored, stored_round, world, record, late=True)


def go_past(waiting: Sequence[DueTask], resting: Collection[str]) -> list[DueTask]:
    """Leave out what another process has in hand, and let the rest go ahead."""
    return [task for task in waiting if task.name not in resting]


@contextmanager
def rounds_are_passed() -> Iterator[None]:
    """Let a command beside a running arena, and the arena itself, walk past a round that another plays."""
    with (
        patch("arena.operations.run.ready_tasks", go_past),
        patch("arena.rounds.round.finish_earlier_rounds", close_earlier_rounds),
    ):
        yield


@asynccontextmanager
async def timer_wins(longest: float) -> AsyncIterator[None]:
    """Throw away an answer that has arrived if the timer is over."""
    async with asyncio.timeout(longest):
        yield


def same_connection(open_connection: Any) -> Any:
    """Work on the queue by the lost connection again."""
    used: list[str] = []

    @asynccontextmanager
    async def opened(self: Any, database: str) -> AsyncIterator[list[str]]:
        async with open_connection(self, database):
            yield used

    return opened


def mark_without(todo: DueWork, *words: Any) -> list[DueTask]:
    """Mark resting cohorts a week late."""
    now: datetime = words[2]
    ready = tuple(one for one in todo.due if one.after is None or one.after <= now)
    return due_tasks(replace(todo, due=ready), *words)


def jobs_read_ahead(
    work: DueWork, jobs: Sequence[Job], states: Mapping[str, JobState], now: datetime, live: bool
) -> list[DueTask]:
    """Run jobs of a made-up world at their real time while a round waits to be tried again."""
    tasks = due_tasks(work, jobs, states, now, live)
    names = {task.name for task in tasks} | {"marks"}
    for order, job in enumerate(jobs, len(work.due)):
        at = job_due_at(job, states.get(job.name), now)
        if at is not None and job.name not in names:
            tasks.append(DueTask(job.name, at, order, live))
    return tasks


async def look_past_rounds(context: JobContext, *words: Any) -> int:
    """Look at a made-up world while a cohort has an earlier step to do."""
    return await AT_EVERY_VENUE(replace(context, blocked=()), *words)


@contextmanager
def future_is_read() -> Iterator[None]:
    """Let jobs read the future of a made-up season after an interrupted round."""
    with (
        patch("arena.operations.run.due_tasks", jobs_read_ahead),
        patch("arena.operations.jobs._at_every_venue", look_past_rounds),
    ):
        yield


@dataclass
class ExpiryWatch(Watch):
    """Takes over what has expired by the wall clocks of who holds it and of who wants it."""

    season: Simulation | None = None

    def is_over(self, hold: Hold, lease: timedelta = LEASE_LENGTH) -> bool:
        """Tell whether a hold has expired, even if its holder lives."""
        season = self.season
        if season is None:
            return False
        holder = season.holds.processes[hold.holder]
        own_clock = season.clocks.clock_of(PROCESS.get())
        clocks_differ = own_clock.ahead - season.clocks.clock_of(holder).ahead
        age = season.lives.time() - season.holds.changed_at[hold.what] + clocks_differ
        return age > lease.total_seconds()


def open_with_expiry(season: Simulation) -> OpenedRecord:
    """Open a record whose leases end by the clock."""
    record = OPEN_RECORD(season)
    return replace(record, watch=ExpiryWatch(record.watch.timer, season=season))


def give_up_round(begun: BegunRound, stored: StoredCohort, situation: DueSituation) -> Due:
    """Finish a round of a made-up world once all were asked, whether or not their models answered."""
    return RETRY(begun, stored, replace(situation, leaves_failed=True))


def reserve_anew(
    self: CallReservations, record: OpenedRecord, request: ReservationRequest
) -> ReservationAnswer:
    """Reserve a call once more under another number if the answer to a commit was lost."""
    terms = ReservationTerms(self.budget, self.limiter.per_provider, record.watch.is_over, self.limiter.timed)
    with raise_past_agent():
        record.hold_room(len(self.under_way) + 1)
        try:
            return record.write(reserve, request, terms, new_reservation_id())
        except ArenaError as error:
            if error.code != "unreachable":
                raise
            return record.write(reserve, request, terms, new_reservation_id())


def nothing_failed(progress: RunProgress) -> bool:
    """Tell whether nothing failed, without regard to a round in another's hands."""
    return not progress.failed


AT_EVERY_VENUE = jobs_of_run._at_every_venue
OPEN_RECORD = Simulation.open_record
RETRY = due._retry
MENDS: Mapping[str, Callable[[], AbstractContextManager[object]]] = {
    "clock": lambda: patch.object(Simulation, "open_record", open_with_expiry),
    "future": future_is_read,
    "given up": lambda: patch("arena.operations.due._retry", give_up_round),
    "left": lambda: patch.object(Simulation, "says_all_is_done", staticmethod(nothing_failed)),
    "phantom": lambda: patch.object(CallReservations, "_try_reserve", reserve_anew),
    "queue": lambda: patch.object(Queue, "open", same_connection(Queue.open)),
    "rounds": rounds_are_passed,
    "timer": lambda: patch.object(waiting, "patience", timer_wins),
    "marks": lambda: patch("arena.operations.run.due_tasks", mark_without),
    "room": lambda: patch.object(DatabaseFaults, "release", lambda _faults, _room: False),
}
