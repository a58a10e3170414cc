"""Pings go out after good steps alone; what does not answer them is told once, and stops nothing."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from arena.errors import ArenaError
from arena.operations import webhook
from arena.operations.webhook import keep_pinging, ping_of
from arena.record.record import Record
from arena.record.write.operations import read_recent_incidents
from tests.arena.operations.test_webhook import CANARY, OK, Receiver
from tests.builders import NOW
from tests.serving import Reply, serving

BAD = Reply(b"", 500)
SOON = timedelta(milliseconds=10)


def pings(record: Record, receiver: Receiver, done: Callable[[], bool], good: bool = True) -> list[str]:
    """What is said while steps are good, until something is done."""

    async def play() -> list[str]:
        step, stop, said = asyncio.Event(), asyncio.Event(), list[str]()
        address = ping_of({"ARENA_PING": f"{receiver.url}/{CANARY}"})
        pinging = asyncio.create_task(keep_pinging(record, address, step, lambda: NOW, stop, said.append))
        for _ in range(400):
            if done():
                break
            if good:
                step.set()
            await asyncio.sleep(0.01)
        stop.set()
        await pinging
        return said

    return asyncio.run(play())


def incidents(record: Record) -> list[tuple[str, bool]]:
    return [(x.incident.kind, x.ended_at is None) for x in record.read(read_recent_incidents, 9)]


def test_what_does_not_answer_is_tried_again_told_once_and_over_when_it_does(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "PING_EVERY", SOON)
    monkeypatch.setattr(webhook, "PING_PAUSES", (SOON, SOON))
    with serving(Receiver(*[BAD] * 7, OK)) as receiver:
        (said,) = pings(record, receiver, lambda: len(receiver.got) > 5)
        assert "was not pinged: it has an internal error" in said
        assert "canary" not in said
        assert incidents(record) == [("ping_failed", True)]
        assert pings(record, receiver, lambda: ("ping_failed", False) in incidents(record)) == []
    assert not any(request.body for request in receiver.got)


def test_without_a_good_step_nothing_is_sent(record: Record) -> None:
    with serving(Receiver()) as receiver:
        assert pings(record, receiver, lambda: False, good=False) == []
    assert receiver.got == []


def test_a_variable_without_an_address_is_named() -> None:
    assert ping_of({}) is None
    with pytest.raises(ArenaError, match="ARENA_PING should hold the address"):
        ping_of({"ARENA_PING": CANARY})
