"""When jobs are due: at times that are the same for everybody, each once, however often it was missed."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cohorts.schedule import (
    JOB_NAMES,
    LONGEST_PAUSE,
    Job,
    configured_jobs,
    job_due_at,
    next_job_time,
    retry_at,
)
from arena.config import cadence
from arena.config.sections import RunSection, WatchSection
from tests.arena.status_parts import a_job_state

NOW = datetime(2026, 3, 4, 12, 34, 56, tzinfo=UTC)
DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
CADENCES = (
    "10s",
    "every 6 hours",
    "daily at 12:30",
    "15m",
    "1h",
    "6h",
    "1d",
    "1w",
    "90m",
    "mon 00:00",
    "sun 04:00",
    "sat 23:59",
)

instants = st.datetimes(datetime(1999, 1, 1), datetime(2101, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
a_job = st.sampled_from(CADENCES).map(lambda text: Job("marks", cadence(text)))


@pytest.fixture(params=["America/New_York", "Europe/Berlin", "Pacific/Kiritimati"])
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    del os.environ["TZ"]
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


def last_before(text: str, at: datetime) -> datetime:
    return Job("marks", cadence(text)).latest(at)


@given(job=a_job, at=instants)
def test_the_times_around_an_instant_are_a_period_apart_and_no_time_lies_between(
    job: Job, at: datetime
) -> None:
    before = job.latest(at)
    after = job.following(at)
    assert before <= at < after
    assert after - before == job.cadence.every
    assert job.latest(before) == before
    assert job.following(before) == after


@given(job=a_job, first=instants, second=instants)
def test_due_times_do_not_depend_on_when_one_asks(job: Job, first: datetime, second: datetime) -> None:
    assert (job.latest(first) - job.latest(second)) % job.cadence.every == timedelta()


def test_durations_count_from_midnight_of_a_sunday_and_weekdays_are_those_of_the_calendar() -> None:
    assert last_before("15m", NOW) == NOW.replace(minute=30, second=0)
    assert last_before("1d", NOW) == NOW.replace(hour=0, minute=0, second=0)
    assert last_before("1w", NOW) == datetime(2026, 3, 1, tzinfo=UTC)
    assert last_before("1w", NOW).strftime("%a") == last_before("sun 04:00", NOW).strftime("%a") == "Sun"
    assert last_before("tue 07:30", NOW) == datetime(2026, 3, 3, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "night",
    [
        datetime(2026, 3, 29, tzinfo=UTC),  # clocks go forward in Berlin
        datetime(2026, 11, 1, tzinfo=UTC),  # and back in New York
        datetime(2024, 2, 29, tzinfo=UTC),
        datetime(2026, 12, 31, tzinfo=UTC),
    ],
)
def test_every_hour_has_its_time_on_odd_nights_wherever_one_is(zone: str, night: datetime) -> None:
    job = Job("quotes", cadence("1h"))
    at = night - timedelta(seconds=1)
    found = []
    while at < night + DAY:
        at = job.following(at)
        found.append(at)
    assert found == [night + timedelta(hours=number) for number in range(25)]
    assert [job.following(at).tzinfo for at in found] == [UTC] * 25
    weekly = Job("retention", cadence(f"{night:%a} 01:30".lower()))
    assert weekly.latest(night + DAY) == night + timedelta(minutes=90)


def test_what_was_missed_many_times_is_done_once_for_the_last_of_them() -> None:
    job = Job("marks", cadence("15m"))
    newest = NOW.replace(minute=30, second=0)
    assert job_due_at(job, a_job_state(at=NOW - 100 * DAY), NOW) == newest
    assert job_due_at(job, a_job_state(at=newest), NOW) is None
    assert next_job_time(job, a_job_state(at=newest), NOW) == newest + timedelta(minutes=15)


def test_what_was_never_done_or_broken_off_is_due_at_once() -> None:
    job = Job("marks", cadence("1d"))
    newest = NOW.replace(hour=0, minute=0, second=0)
    assert job_due_at(job, None, NOW) == newest
    assert job_due_at(job, a_job_state(at=newest, ended_at=None), NOW) == newest


def test_what_failed_is_tried_again_after_pauses_that_grow_to_an_hour() -> None:
    job = Job("marks", cadence("1d"))
    pauses = [retry_at(a_job_state(at=NOW, failures=failures)) - NOW for failures in range(1, 40)]
    assert pauses[:4] == [timedelta(minutes=minutes) for minutes in (1, 2, 4, 8)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE
    failed = a_job_state(at=NOW, failures=2)
    assert job_due_at(job, failed, NOW + timedelta(seconds=119)) is None
    assert next_job_time(job, failed, NOW) == NOW + timedelta(minutes=2)
    assert job_due_at(job, failed, NOW + timedelta(minutes=2)) == NOW.replace(hour=0, minute=0, second=0)


def test_a_clock_that_goes_back_repeats_nothing() -> None:
    job = Job("marks", cadence("1h"))
    assert job_due_at(job, a_job_state(at=job.latest(NOW)), NOW - timedelta(hours=5)) is None


def test_what_was_done_while_the_clock_was_days_ahead_is_due_again_once_it_is_right() -> None:
    job = Job("backup", cadence("1d"))
    ahead = a_job_state("backup", job.latest(NOW + 30 * DAY))
    assert job_due_at(job, ahead, NOW) == job.latest(NOW)
    assert job_due_at(job, a_job_state(at=job.latest(NOW)), NOW) is None


def test_what_failed_before_a_clock_went_back_is_tried_again_at_once() -> None:
    job = Job("marks", cadence("1d"))
    earlier = NOW - 7 * DAY
    assert job_due_at(job, a_job_state(at=NOW, failures=2), earlier) == job.latest(earlier)


def test_the_config_turns_jobs_on_and_off() -> None:
    hooked = WatchSection(webhook="$A_HOOK")
    assert [job.name for job in configured_jobs(RunSection(), hooked)] == [
        name for name in JOB_NAMES if name != "retention"
    ]
    assert "digest" not in [job.name for job in configured_jobs(RunSection(), WatchSection())]
    pruning = configured_jobs(RunSection.model_validate({"keep_quotes": "90d"}), hooked)
    assert [job.name for job in pruning] == [*JOB_NAMES]
    off = RunSection().model_copy(update=dict.fromkeys(JOB_NAMES, cadence("off")))
    assert [job.name for job in configured_jobs(off, hooked)] == ["verify"], (
        "it costs nothing, and is always done"
    )
