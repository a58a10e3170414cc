"""What wakes `arena run`: APScheduler by the real clock, a walk by a pretended one."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.clock import SystemClock, now
from arena.cohorts import schedule
from arena.cohorts.schedule import (
    Job,
    Schedule,
    job_schedule,
    next_time_of_any,
    schedule_times,
    trigger,
)
from arena.config import cadence, load
from arena.config.field_types import decision_cadence
from arena.errors import ArenaError
from arena.operations import wake
from arena.operations.due import DueSituation, due_work
from arena.operations.jobs import JOB_FUNCTIONS, JobContext
from arena.operations.progress import RunEvent
from arena.operations.run import Run, run
from arena.operations.wake import SchedulerWake
from arena.record.model.calendar import Calendar
from arena.record.queries.progress import BegunRound, CohortProgress
from tests.arena.config_files import MARKS_ONLY
from tests.arena.status_parts import a_job_state
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import a_cohort, a_plan, as_stored, live

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
WAITS = 60
"""Seconds after which a test that nothing wakes has failed."""

instants = st.datetimes(datetime(2020, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001
    lambda at: at.replace(microsecond=0)
)
counts = st.none() | st.integers(1, 60)
calendars = st.builds(
    Calendar, instants, st.integers(10, 2_000_000).map(lambda n: n * SECOND), counts
) | st.builds(
    lambda cadence, first, count: cadence.calendar(first, count),
    st.sampled_from(["daily at 12:00", "daily at 00:00", "sun 00:00", "wed 23:59"]).map(decision_cadence),
    instants,
    counts,
)


@given(calendar=calendars, at=instants)
def test_a_calendar_walked_by_its_trigger_is_the_calendar_that_was_frozen(
    calendar: Calendar, at: datetime
) -> None:
    count = min(calendar.count or 20, 20)
    found = list(schedule_times(calendar, calendar.first, calendar.time(count)))
    assert found == [calendar.time(number) for number in range(1, count + 1)]
    assert {later - at for at, later in pairwise(found[1:])} <= {calendar.every}
    assert all(timedelta() < later - calendar.first <= calendar.every for later in found[1:2])
    assert [calendar.number_at(time) for time in found] == list(range(1, count + 1))
    since = max(calendar.first, at - 3 * calendar.every)
    assert list(schedule_times(calendar.until(at), since)) == list(schedule_times(calendar, since, at))


def test_a_time_of_day_holds_from_the_second_round_on() -> None:
    first = datetime(2026, 3, 3, 8, 17, tzinfo=UTC)
    noons, weeks = (decision_cadence(text).calendar(first, 3) for text in ("daily at 12:00", "mon 09:30"))
    assert [f"{noons.time(n):%a %H:%M}" for n in (1, 2, 3)] == ["Tue 08:17", "Tue 12:00", "Wed 12:00"]
    assert [f"{weeks.time(n):%d %H:%M}" for n in (1, 2, 3)] == ["03 08:17", "09 09:30", "16 09:30"]


def test_all_that_is_scheduled_has_a_trigger_of_apscheduler() -> None:
    failed = a_job_state("cohort 1", failures=3)
    left = BegunRound(1, NOW, NOW, done=False, failed=1)
    course = CohortProgress(as_stored(live(a_cohort(["ann"]))), (left,), NOW)
    plan = a_plan(rounds=5, count=3)
    found = due_work(DueSituation(plan, [course], {"cohort 1": failed}, True, "latest", NOW)).schedules
    assert found == {
        "start": Calendar(NOW, WEEK, 3),
        "cohort 1": Calendar(NOW, WEEK, 5),
        "cohort 1 again": NOW + timedelta(minutes=4),
    }
    job = job_schedule(Job("quotes", cadence("1h")), failed)
    made = [type(trigger(one)).__name__ for one in (*found.values(), job)]
    assert made == ["IntervalTrigger", "IntervalTrigger", "DateTrigger", "DateTrigger"]


@pytest.fixture
def patient() -> Iterator[None]:
    """Keep every waiter from looking up by itself."""
    with patch.object(wake, "LONGEST_SLEEP", DAY):
        yield


def waiting(use: Callable[[SchedulerWake, asyncio.Event], Any]) -> None:
    """Use a waiter on the real clock, and close it."""

    async def used() -> None:
        waits = SchedulerWake()
        try:
            await asyncio.wait_for(use(waits, asyncio.Event()), WAITS)
        finally:
            waits.close()

    asyncio.run(used())


@pytest.mark.usefixtures("patient")
def test_on_the_real_clock_the_scheduler_wakes_at_each_time_and_not_before() -> None:
    async def use(waits: SchedulerWake, stop: asyncio.Event) -> None:
        begun = now()
        every: Mapping[str, Schedule] = {"soon": begun + SECOND / 20, "each": Calendar(begun, SECOND)}
        for _ in range(3):
            at = now()
            coming = next_time_of_any(every, at)
            assert coming is not None
            await waits.wait(every, at, stop)
            assert now() >= coming

    waiting(use)


@pytest.mark.usefixtures("patient")
def test_a_time_that_came_while_other_things_were_done_is_not_lost() -> None:
    async def use(waits: SchedulerWake, stop: asyncio.Event) -> None:
        begun = now()
        await waits.wait({"daily": Calendar(begun - SECOND, DAY)}, begun - 2 * SECOND, stop)
        both: Mapping[str, Schedule] = {"daily": Calendar(begun - SECOND, DAY), "soon": now() + SECOND / 20}
        await waits.wait(both, now(), stop)
        assert {job.id for job in waits.scheduler.get_jobs()} == {"daily"}
        waits.woken.set()  # as a job does that runs while the loop is at work
        await waits.wait(both, now(), stop)

    waiting(use)


@pytest.mark.usefixtures("patient")
def test_told_to_stop_it_waits_no_longer_and_what_is_no_schedule_any_more_has_no_job() -> None:
    async def use(waits: SchedulerWake, stop: asyncio.Event) -> None:
        stop.set()
        await waits.wait({"daily": Calendar(now(), DAY), "weekly": cadence("sun 04:00")}, now(), stop)
        jobs = {job.id: job.next_run_time for job in waits.scheduler.get_jobs()}
        await waits.wait({"weekly": cadence("sun 04:00"), "later": now() + DAY}, now(), stop)
        left = {job.id: job.next_run_time for job in waits.scheduler.get_jobs()}
        assert (set(jobs), set(left)) == ({"daily", "weekly"}, {"weekly", "later"})
        assert left["weekly"] == jobs["weekly"]

    waiting(use)


@pytest.mark.usefixtures("patient")
def test_arena_run_is_woken_by_the_scheduler_until_a_failing_job_is_done(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(MARKS_ONLY, "utf-8")
    record = OpenedRecord.at(tmp_path / "arena.db")
    events = list[str]()

    async def marks(_site: JobContext, _at: datetime) -> str:
        if len(events) < 4:
            raise ArenaError("broken", "not yet")
        return "at last"

    def tell(event: RunEvent) -> None:
        events.append(event.kind)
        if event.kind == "waiting":
            running.stop.signal()

    running = Run(load(tmp_path / "config.yaml"), record, SystemClock, tell)
    with patch.dict(JOB_FUNCTIONS, marks=marks), patch.object(schedule, "FIRST_PAUSE", SECOND / 20):
        asyncio.run(asyncio.wait_for(run(running), WAITS))
    record.close()
    assert events == ["started", "failed", "job", "failed", "job", "waiting"], (
        "the record is verified meanwhile"
    )


class BrokenOnce:
    """A wake whose first wait fails, and whose second one stops the run."""

    def __init__(self) -> None:
        self.waits = 0

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        self.waits += 1
        if self.waits == 1:
            raise RuntimeError("can't start new thread")
        stop.set()

    def close(self) -> None:
        """Leave nothing behind."""


def test_a_step_that_fails_is_reported_and_followed_by_another(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(MARKS_ONLY, "utf-8")
    record = OpenedRecord.at(tmp_path / "arena.db")
    broken = BrokenOnce()
    failures = list[str]()

    async def marks(_site: JobContext, _at: datetime) -> str:
        return "done"

    def tell(event: RunEvent) -> None:
        if event.kind == "failed":
            failures.append(event.words)

    running = Run(load(tmp_path / "config.yaml"), record, SystemClock, tell, open_wake=lambda: broken)
    with patch.dict(JOB_FUNCTIONS, marks=marks), patch("arena.operations.run.TROUBLED", SECOND / 20):
        asyncio.run(asyncio.wait_for(run(running), WAITS))
    record.close()
    assert broken.waits == 2
    assert len(failures) == 1
    assert "can't start new thread" in failures[0]
