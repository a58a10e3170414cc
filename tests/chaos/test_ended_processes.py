"""The end of a simulated loop: it leaves nothing of its processes to the garbage collector."""

import asyncio
import gc
import sys
from collections.abc import AsyncGenerator, Coroutine
from random import Random
from typing import Any

import pytest

from tests.chaos.loop import PROCESS, SeededLoop


async def waits_as_it_is_closed() -> None:
    """Wait in a block whose `finally` awaits something."""
    try:
        await asyncio.sleep(1_000)
    finally:
        await asyncio.sleep(1)


async def starts_a_task_as_it_is_closed() -> None:
    """Wait in a block whose `finally` starts a task."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SeededLoop)
    try:
        await asyncio.sleep(1_000)
    finally:
        loop.buried.append(loop.create_task(waits_as_it_is_closed()))


async def starts_another() -> None:
    """Start a task that has not taken a step when the process dies."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SeededLoop)
    loop.buried.append(loop.create_task(waits_as_it_is_closed()))
    loop.dead.add(PROCESS.get())


async def stands_within_a_step() -> None:
    """Be suspended in the middle of a step."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SeededLoop)
    loop.stand_still(1_000)


async def ticks() -> AsyncGenerator[int, None]:
    """Yield a number, in a block whose `finally` awaits something."""
    try:
        yield 1
    finally:
        await asyncio.sleep(1_000)


async def closes_a_generator() -> None:
    """Wait while a generator that was not used up is closed."""
    numbers = ticks()
    await anext(numbers)
    closing = asyncio.create_task(numbers.aclose())  # as asyncio does with one that is collected
    await closing


@pytest.mark.parametrize(
    "process",
    [
        waits_as_it_is_closed,
        starts_a_task_as_it_is_closed,
        starts_another,
        stands_within_a_step,
        closes_a_generator,
    ],
)
def test_nothing_is_left_to_run_when_garbage_is_collected(
    process: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)

    play_and_drop(process())
    gc.collect()

    assert complaints == []


def play_and_drop(work: Coroutine[Any, Any, None]) -> None:
    """Play a process for a while, end its loop, and keep nothing of it."""
    loop = SeededLoop(Random(1), lambda: None)

    async def living() -> None:
        PROCESS.set("one")
        await asyncio.sleep(0)  # the next step is one of the process
        await work

    async def a_while() -> None:
        loop.buried.append(asyncio.create_task(living()))
        await asyncio.sleep(10)

    loop.run_until_complete(a_while())
    loop.end_processes()
