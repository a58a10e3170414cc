"""A leader that was taken over while it worked: it learns so by its next write, and does nothing more."""

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest

from arena.clock import SystemClock
from arena.config import Config, load
from arena.errors import ArenaError
from arena.operations.jobs import JOB_FUNCTIONS, JobContext, marks
from arena.operations.leader import LEADER_LEASE
from arena.operations.progress import RunEvent
from arena.operations.run import Run, run
from tests.arena.config_files import MARKS_ONLY
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import WEEK, LittleVenue, a_cohort, a_source, a_world, begun, says


def taken_over(record: Any) -> None:
    """Let another process lead from now on."""
    record.take_lease(LEADER_LEASE, "elsewhere.invalid/1/x", gone=True)


async def ends_in_time(context: JobContext, _at: datetime) -> str:
    """Write nothing more after another process took over."""
    taken_over(context.record)
    return "done"


async def writes_too_late(context: JobContext, at: datetime) -> str:
    """Write after another process took over."""
    record: Any = context.record
    taken_over(record)
    record.put_job("late", at)
    return "done"


@pytest.mark.parametrize("job", [ends_in_time, writes_too_late])
def test_a_leader_that_was_taken_over_reports_that_and_no_trouble(
    job: Any, record: OpenedRecord, tmp_path: Path
) -> None:
    (tmp_path / "config.yaml").write_text(MARKS_ONLY, "utf-8")
    events: list[str] = []

    def tell(event: RunEvent) -> None:
        events.append(event.kind)
        if event.kind != "started":
            running.stop.signal()

    running = Run(load(tmp_path / "config.yaml"), record, SystemClock, tell)
    with patch.dict(JOB_FUNCTIONS, marks=job):
        asyncio.run(run(running))
    assert events == ["started", "superseded"]


def test_marking_cohorts_stops_at_the_first_that_another_process_has(record: OpenedRecord) -> None:
    """It is no fault of that cohort."""
    for number in (1, 2):
        begun(record, replace(a_cohort(["ann"]), number=number))
    record.take_lease(LEADER_LEASE, "here", gone=True)
    taken_over(record)
    context = JobContext(
        cast("Config", None),
        a_world(LittleVenue(), {"ann": says("0.5")}),
        record.fenced(LEADER_LEASE, 1),
        a_source("little", "simulated"),
        LittleVenue(),
    )
    with pytest.raises(ArenaError, match="another process has taken over") as lost:
        asyncio.run(marks(context, NOW + WEEK))
    assert lost.value.code == "superseded"
