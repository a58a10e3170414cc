"""Clocks step and differ: a living holder keeps what it holds, and a dead one loses it."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from procrastinate import App
from sqlalchemy import event

from arena.operations.leader import LEASE, LOOK, take_lead
from arena.record.model.lease import HEARTBEAT_INTERVAL, LEASE_LENGTH, Watch
from arena.record.write.turn_queue import (
    HEARTBEAT_SECONDS,
    SILENCE,
    TurnJob,
    count_workers,
    enqueue_turns,
    open_queue,
    requeue_stalled,
)
from arena.rounds.round import play_round
from tests.faults.test_late import Model, facts, waiting, worker
from tests.opened_record import OpenedRecord, opened_record
from tests.program.clocks import SteppedClock, step_server

HOUR, DAY = 3_600, 86_400
STEPS = (HOUR, -HOUR, DAY, -DAY)
A, B = "a.invalid/1/x", "b.invalid/1/x"
"""Processes on machines of which nothing is known."""


@dataclass
class Timer:
    """The monotonic clock of a process, moved by hand."""

    seconds: float = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Clocks:
    """A record as another process has it, with that one's timer; the database's clock can be stepped."""

    database: str
    other: OpenedRecord
    timer: Timer
    step: Callable[[int], None]


@pytest.fixture
def clocks(database: str, record: OpenedRecord) -> Iterator[Clocks]:
    """What another process sees of `record`, whose database has a clock that can be stepped."""
    stepped, timer = SteppedClock(), Timer()
    with opened_record(database) as opened:
        other = opened.timed_by(timer)

        def step(seconds: int) -> None:
            stepped.seconds = seconds
            if record.engine.dialect.name == "postgresql":
                with record.engine.begin() as connection:
                    step_server(connection, seconds)
            for engine in (record.engine, other.engine):
                engine.dispose()

        for engine in (record.engine, other.engine):
            event.listen(engine, "connect", stepped.put_into)
        step(0)
        yield Clocks(database, other, timer, step)


HOLDS = ("turn", "lead", "call")


def take(record: OpenedRecord, what: str, holder: str) -> bool:
    """Take a turn, the lead or the only place at a provider; return whether it was free."""
    if what == "turn":
        return bool(record.claim(1, [1], holder, gone=None))
    if what == "lead":
        return take_lead(record, holder) is not None

    return record.reserve(holder, 5, most=1) is not None


def renew(record: OpenedRecord, what: str) -> None:
    """Show that the holder lives."""
    if what == "turn":
        assert record.renew_claims(1, {1: 1}) == {1}
    elif what == "lead":
        assert record.renew_lease("scheduler", 1)
    else:
        with record.engine.connect() as connection:
            ids = (
                connection.exec_driver_sql("SELECT id FROM reservation WHERE beat IS NOT NULL")
                .scalars()
                .all()
            )
        record.renew_reservations(ids)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("what", HOLDS)
def test_what_is_renewed_is_never_taken_over_however_clocks_step(
    what: str, step: int, record: OpenedRecord, clocks: Clocks
) -> None:
    assert take(record, what, A)
    for number in range(20):  # a quarter of an hour, in which the clock steps again and again
        clocks.step(step * (number % 3))
        if number % 2:
            renew(record, what)
        clocks.timer.seconds += HEARTBEAT_INTERVAL.total_seconds() / 2
        assert not take(clocks.other, what, B)


@pytest.mark.parametrize("step", [0, *STEPS])
@pytest.mark.parametrize("what", HOLDS)
def test_what_is_not_renewed_is_taken_over_after_a_lease_of_ones_own_time(
    what: str, step: int, record: OpenedRecord, clocks: Clocks
) -> None:
    assert take(record, what, A)
    clocks.step(step)
    waited, length = timedelta(), LEASE if what == "lead" else LEASE_LENGTH
    while not take(clocks.other, what, B):
        assert waited < length
        assert clocks.other.watch.is_in_doubt()
        clocks.timer.seconds += LOOK.total_seconds()
        waited += LOOK
    assert waited == length


@pytest.mark.parametrize("what", HOLDS)
def test_whoever_has_stood_still_itself_gives_others_the_time_to_be_heard(
    what: str, record: OpenedRecord, clocks: Clocks
) -> None:
    """As where a machine was suspended with all that run on it, for an hour by a clock that went on."""
    assert take(record, what, A)
    assert not take(clocks.other, what, B)
    clocks.timer.seconds += HOUR
    assert not take(clocks.other, what, B)
    renew(record, what)
    clocks.timer.seconds += HOUR
    assert not take(clocks.other, what, B)
    assert not clocks.other.watch.is_in_doubt()


@pytest.mark.parametrize("step", STEPS)
def test_no_call_under_way_is_made_again_when_the_clock_steps(step: int, database: str) -> None:
    with waiting(database, "ann") as record, opened_record(database) as other:
        [stored] = record.cohorts()
        stepped, quick = SteppedClock(), Model()

        def put(seconds: int) -> None:
            stepped.seconds = seconds
            for engine in (record.engine, other.engine):
                event.listen(engine, "connect", stepped.put_into)
                engine.dispose()
            if record.engine.dialect.name == "postgresql":
                with record.engine.begin() as connection:
                    step_server(connection, seconds)
                record.engine.dispose()

        class Slow(Model):
            async def meanwhile(self) -> None:
                put(step)
                report = await play_round(stored, 1, worker(other, "b", quick), other)
                assert report.waiting == ("ann",)

        slow = Slow()
        assert asyncio.run(play_round(stored, 1, worker(record, "a", slow), record)).done
        put(0)
        assert (slow.asked, quick.asked) == (["question 1", "question 2"], [])
        assert facts(record) == {"call": 2, "turn": 1, "fill": 1, "entry": 2, "reservation": 0}


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_that_beats_keeps_its_job_however_the_servers_clock_steps(
    step: int, new_server_record: Callable[[], str]
) -> None:
    database, timer = new_server_record(), Timer()
    watch = Watch(timer)

    async def step_to(seconds: int) -> None:
        with opened_record(database) as opened, opened.engine.begin() as connection:
            step_server(connection, seconds)

    async def look(app: App) -> tuple[int, int]:
        return await count_workers(app, watch), await requeue_stalled(app)

    async def play() -> None:
        async with open_queue(database) as app:
            worker_id = await app.job_manager.register_worker()
            await enqueue_turns(app, [TurnJob(1, 1, ("ann",), "1")])
            assert await app.job_manager.fetch_job(["turns"], worker_id) is not None
        for number in range(12):
            await step_to(step * (number % 3))
            async with open_queue(database) as app:
                if number % 2:
                    await app.job_manager.update_heartbeat(worker_id)
                timer.seconds += HEARTBEAT_SECONDS
                assert await look(app) == (1, 0)
        async with open_queue(database) as app:
            for _ in range(2):
                timer.seconds += SILENCE.total_seconds() / 3
                assert await look(app) == (1, 0)
            timer.seconds += SILENCE.total_seconds() / 3
            assert await look(app) == (0, 1), "the last one is dead, and its job is given to others"

            other_id = await app.job_manager.register_worker()
            job = await app.job_manager.fetch_job(["turns"], other_id)
            assert job is not None, "it waits until the server's clock shows the time of ours"

    asyncio.run(play())
