"""Faults between the product and the driver: at a statement, at a commit before and after it took effect."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest
from sqlalchemy import Connection

from arena.errors import ArenaError
from tests.chaos.database_faults import ArmedFault, ArmedPause, DatabaseFaults, Dead
from tests.chaos.loop import PROCESS, SeededLoop
from tests.opened_record import OpenedRecord, new_record, opened_record
from tests.rows import TABLES

AT = datetime(2026, 1, 4, tzinfo=UTC)


def put(connection: Connection, name: str) -> None:
    """Write a row."""
    connection.execute(TABLES["job"].insert(), {"name": name, "due_at": AT, "started_at": AT})


def names(record: OpenedRecord) -> list[str]:
    """Return what was written."""
    return sorted(record.jobs())


@contextmanager
def watched(faults: DatabaseFaults, folder: Path) -> Iterator[OpenedRecord]:
    """Open a record whose connections meet faults, as a process."""
    with opened_record(folder / "arena.db") as record:
        record.engine.dispose()
        faults.watch(record.engine)
        token = PROCESS.set("one")
        with (
            patch.object(OpenedRecord, "write", faults.noting(OpenedRecord.write)),
            patch.object(OpenedRecord, "write_answer", faults.noting(OpenedRecord.write_answer)),
        ):
            yield record
        PROCESS.reset(token)


@pytest.fixture
def faults() -> Iterator[DatabaseFaults]:
    """Yield the faults of a season in which none was drawn."""
    loop = SeededLoop(Random(1), lambda: None)
    yield DatabaseFaults(loop)
    loop.close()


@pytest.mark.parametrize("at", ["statement", "commit", "committed"])
@pytest.mark.parametrize("code", ["disk_error", "disk_full", "locked", "unreachable"])
def test_a_fault_comes_once_with_the_code_that_the_product_gives_it(
    faults: DatabaseFaults, tmp_path: Path, at: str, code: str
) -> None:
    with watched(faults, tmp_path) as record:
        left = 2 if at == "statement" else 1  # a lock is waited for as a transaction begins
        faults.armed.append(ArmedFault(at, code, left, change="put"))
        with pytest.raises(ArenaError) as error:
            record.write(put, "a")

        assert error.value.code == code
        assert names(record) == (["a"] if at == "committed" else [])
        record.write(put, "b")
        assert "b" in names(record)


def test_a_fault_waits_for_the_change_and_the_statement_that_it_is_meant_for(
    faults: DatabaseFaults, tmp_path: Path
) -> None:
    with watched(faults, tmp_path) as record:
        faults.armed.append(ArmedFault("commit", "disk_error", left=2, change="put"))
        names(record)
        record.write(put, "a")
        with pytest.raises(ArenaError):
            record.write(put, "b")
        assert names(record) == ["a"]


def test_a_disk_that_can_only_be_read_refuses_what_is_written(faults: DatabaseFaults, tmp_path: Path) -> None:
    with watched(faults, tmp_path) as record:
        faults.make_read_only(10)
        with pytest.raises(ArenaError) as error:
            record.write(put, "a")
        assert error.value.code == "read_only"
        assert names(record) == []


def test_on_a_full_disk_an_answer_takes_the_room_that_was_held_for_it(
    faults: DatabaseFaults, tmp_path: Path
) -> None:
    with watched(faults, tmp_path) as record, faults.in_rooms():
        record.hold_room(1)
        faults.fill(10)
        with pytest.raises(ArenaError):
            record.write(put, "a")
        record.write_answer(put, "b")
        assert names(record) == ["b"]


def test_the_dead_write_nothing(faults: DatabaseFaults, tmp_path: Path) -> None:
    with watched(faults, tmp_path) as record:
        faults.loop.dead.add("one")
        with pytest.raises(Dead):
            record.write(put, "a")


def test_a_writer_waits_for_one_that_stands_still_before_its_commit(
    faults: DatabaseFaults, tmp_path: Path
) -> None:
    loop = faults.loop
    file = str(tmp_path / "arena.db")
    new_record(file)
    done = []

    async def write(name: str, after: float) -> None:
        PROCESS.set(name)
        await asyncio.sleep(after)
        with closing(OpenedRecord.join(file)) as record:
            record.engine.dispose()
            faults.watch(record.engine)
            record.write(put, name)
            done.append((name, round(loop.moment)))

    async def both() -> None:
        faults.pauses.append(ArmedPause("commit", "put", 20))
        await asyncio.gather(write("one", 1), write("two", 5))

    with patch.object(OpenedRecord, "write", faults.noting(OpenedRecord.write)):
        loop.run_until_complete(both())

    assert done == [("one", 21), ("two", 21)]


def test_who_waits_too_long_for_another_is_told_that_the_record_is_locked(
    faults: DatabaseFaults, tmp_path: Path
) -> None:
    loop = faults.loop
    file = str(tmp_path / "arena.db")
    new_record(file)

    async def write(name: str, after: float) -> None:
        PROCESS.set(name)
        await asyncio.sleep(after)
        with closing(OpenedRecord.join(file)) as record:
            record.engine.dispose()
            faults.watch(record.engine)
            record.write(put, name)

    async def both() -> None:
        faults.pauses.append(ArmedPause("commit", "put", 60))
        results = await asyncio.gather(write("one", 1), write("two", 5), return_exceptions=True)
        assert results[0] is None
        assert isinstance(results[1], ArenaError)
        assert results[1].code == "locked"

    with patch.object(OpenedRecord, "write", faults.noting(OpenedRecord.write)):
        loop.run_until_complete(both())
