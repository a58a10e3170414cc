"""One is on duty, the others stand by; who was replaced writes nothing more and learns of it."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from arena.clock import rest
from arena.duty import DUTY, on_duty, stand_by
from arena.model import JobState
from arena.store.leases import Superseded
from arena.store.record import Record
from tests.builders import NOW

LONG = timedelta(minutes=5)


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    opened = Record.open(str(tmp_path / "arena.db"))
    yield opened
    opened.close()


def take(record: Record, holder: str = "host/1/one", gone: bool = False) -> int:
    token = record.take_lease(DUTY, holder, LONG, lambda _: gone)
    assert token is not None
    return token


def note(record: Record, name: str) -> None:
    record.keep_job(JobState(name, NOW, NOW))


def test_who_has_worked_to_the_end_lets_go_of_the_duty(record: Record) -> None:
    async def work(fenced: Record) -> None:
        note(fenced, "marks")

    assert asyncio.run(on_duty(record, take(record), work))
    assert list(record.jobs()) == ["marks"]
    assert take(record, "host/2/two") == 2


def test_who_was_replaced_writes_nothing_more_and_is_told(record: Record) -> None:
    async def work(fenced: Record) -> None:
        note(fenced, "before")
        take(record, "host/2/two", gone=True)
        note(fenced, "after")
        raise AssertionError("it was replaced, and went on")

    assert not asyncio.run(on_duty(record, take(record), work))
    assert list(record.jobs()) == ["before"]
    assert record.renew_lease(DUTY, 2, LONG), "the second has its duty still"


def test_an_error_of_the_work_is_raised_and_the_duty_is_free(record: Record) -> None:
    async def work(fenced: Record) -> None:
        raise ZeroDivisionError("no such luck")

    with pytest.raises(ZeroDivisionError):
        asyncio.run(on_duty(record, take(record), work))
    assert take(record, "host/2/two") == 2


def test_a_second_one_waits_says_so_once_and_ends_when_told_to(record: Record) -> None:
    first = take(record, "elsewhere/1/one")

    async def waits() -> tuple[int | None, int]:
        stop, words = asyncio.Event(), list[str]()
        waiting = asyncio.create_task(stand_by(record, "host/2/two", stop, lambda: words.append("waits")))
        while not words:
            await rest(timedelta(milliseconds=5), asyncio.Event())
        stop.set()
        return await waiting, len(words)

    assert asyncio.run(waits()) == (None, 1)
    record.release_lease(DUTY, first)
    assert asyncio.run(stand_by(record, "host/2/two", asyncio.Event(), lambda: None)) == 2


def test_a_fenced_note_says_who_is_on_duty(record: Record) -> None:
    late = record.fenced(DUTY, take(record))
    take(record, "host/2/two", gone=True)
    with pytest.raises(Superseded, match="scheduler"):
        note(late, "marks")
