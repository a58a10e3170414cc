"""One is on duty, the others stand by; who was replaced writes nothing more and learns of it."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from arena.clock import sleep_unless_stopped
from arena.errors import ArenaError
from arena.operations import leader
from arena.operations.leader import LEADER_LEASE, wait_to_lead, work_as_leader
from arena.record.write.operations import (
    LeaseLost,
    release_lease,
    renew_lease,
    take_lease,
)
from tests.builders import NOW
from tests.opened_record import OpenedRecord, wait_at_most


def take(record: OpenedRecord, holder: str = "host/1/one", gone: bool = False) -> int:
    token = record.write_unfenced(take_lease, LEADER_LEASE, holder, lambda _: gone)
    assert token is not None
    return token


def fail(error: ArenaError) -> None:
    raise AssertionError(f"the record is well, and yet: {error}")


def note(record: Any, name: str) -> None:
    record.put_job(name, NOW)


def test_who_has_worked_to_the_end_or_failed_lets_go_of_the_duty(record: OpenedRecord) -> None:
    async def work(fenced: Any) -> None:
        note(fenced, "marks")

    async def fails(fenced: Any) -> None:
        raise ZeroDivisionError("no such luck")

    assert asyncio.run(work_as_leader(record, take(record), work))
    assert list(record.jobs()) == ["marks"]
    with pytest.raises(ZeroDivisionError):
        asyncio.run(work_as_leader(record, take(record), fails))
    assert take(record, "host/2/two") == 3


def test_who_was_replaced_writes_nothing_more_and_is_told(record: OpenedRecord) -> None:
    async def work(fenced: Any) -> None:
        note(fenced, "before")
        take(record, "host/2/two", gone=True)
        with pytest.raises(LeaseLost, match="scheduler"):
            note(fenced, "after")
        note(fenced, "after")
        raise AssertionError("it was replaced, and went on")

    assert not asyncio.run(work_as_leader(record, take(record), work))
    assert list(record.jobs()) == ["before"]
    assert record.renew_lease(LEADER_LEASE, 2), "the second has its duty still"


def beats(record: OpenedRecord) -> int:
    """Return how often the duty was renewed."""
    with record.engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT beat FROM lease").scalar() or 0)


def test_who_leads_renews_the_duty_also_after_a_moment_without_a_record(
    record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [ArenaError("unreachable", "it is away")] * 2

    def renew(connection: Connection, name: str, token: int) -> bool:
        if faults:
            raise faults.pop()
        return renew_lease(connection, name, token)

    async def work(_fenced: Any) -> None:
        async with asyncio.timeout(20):
            while beats(record) < 3:
                await sleep_unless_stopped(timedelta(milliseconds=1), asyncio.Event())

    monkeypatch.setattr(leader, "BEAT", timedelta(milliseconds=1))
    monkeypatch.setattr(leader, "renew_lease", renew)
    assert asyncio.run(work_as_leader(record, take(record), work))
    assert faults == []


def test_who_was_replaced_is_told_though_it_writes_nothing(
    record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(_fenced: Any) -> None:
        take(record, "host/2/two", gone=True)
        await asyncio.sleep(20)
        raise AssertionError("it was replaced, and went on")

    monkeypatch.setattr(leader, "BEAT", timedelta(milliseconds=1))
    assert not asyncio.run(work_as_leader(record, take(record), work))


def test_a_second_one_waits_says_so_once_and_ends_when_told_to(record: OpenedRecord) -> None:
    first = take(record, "elsewhere/1/one")

    async def waits() -> tuple[int | None, int]:
        stop = asyncio.Event()
        words = list[str]()
        waiting = asyncio.create_task(
            wait_to_lead(record, "host/2/two", stop, lambda: words.append("waits"), fail)
        )
        async with asyncio.timeout(20):
            while not words:
                await sleep_unless_stopped(timedelta(milliseconds=5), asyncio.Event())
        stop.set()
        return await waiting, len(words)

    assert asyncio.run(waits()) == (None, 1)
    record.write_unfenced(release_lease, LEADER_LEASE, first)
    assert asyncio.run(wait_to_lead(record, "host/2/two", asyncio.Event(), lambda: None, fail)) == 2


@pytest.fixture
def shut(
    tmp_path: Path, record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> Iterator[sqlite3.Connection]:
    """Open the record in another program too, with short waits for it."""
    record.close()
    wait_at_most(20, monkeypatch)
    with closing(sqlite3.connect(tmp_path / "arena.db", isolation_level=None)) as other:
        yield other


def test_who_stands_by_waits_out_a_record_that_cannot_be_used(
    shut: sqlite3.Connection, record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader, "LOOK", timedelta(milliseconds=1))
    shut.execute("BEGIN IMMEDIATE")
    troubles = list[str]()

    def troubled(error: ArenaError) -> None:
        troubles.append(error.code)
        asyncio.get_running_loop().call_later(0.05, shut.execute, "ROLLBACK")

    stop = asyncio.Event()
    assert asyncio.run(wait_to_lead(record, "host/1/one", stop, lambda: None, troubled)) == 1
    assert troubles == ["locked"]


def test_a_duty_that_cannot_be_let_go_of_hides_nothing(
    shut: sqlite3.Connection, record: OpenedRecord
) -> None:
    async def work(fenced: Any) -> None:
        note(fenced, "marks")
        shut.execute("BEGIN IMMEDIATE")

    assert asyncio.run(work_as_leader(record, take(record), work))
