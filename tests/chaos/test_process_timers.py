"""The timers of simulated processes: they drift, and stand still while a machine sleeps."""

import asyncio
from collections.abc import Coroutine
from random import Random
from typing import Any

import pytest

from tests.chaos.loop import PROCESS, ProcessTimer, SeededLoop


def play(processes: dict[str, Coroutine[Any, Any, None]], loop: SeededLoop) -> None:
    """Play some processes to their end."""

    async def living(name: str, work: Coroutine[Any, Any, None]) -> None:
        PROCESS.set(name)
        await asyncio.sleep(0)  # the next step is one of the process
        await work

    async def all_of_them() -> None:
        await asyncio.gather(*[living(name, work) for name, work in processes.items()])

    loop.run_until_complete(all_of_them())
    loop.close()


def new_loop() -> SeededLoop:
    """Return a loop in which nothing goes wrong."""
    return SeededLoop(Random(1), lambda: None)


def test_a_timer_that_drifts_wakes_its_process_by_its_own_time() -> None:
    loop = new_loop()
    loop.timers["fast"] = ProcessTimer(2.0)
    woken = {}

    async def wait(name: str) -> None:
        begin = loop.time()
        await asyncio.sleep(10)
        woken[name] = loop.moment, loop.time() - begin

    play({"right": wait("right"), "fast": wait("fast")}, loop)

    assert woken["right"] == pytest.approx((10, 10), abs=0.1)
    assert woken["fast"] == pytest.approx((5, 10), abs=0.1)


def test_the_timer_stands_still_while_the_machine_sleeps_and_not_while_the_process_is_suspended() -> None:
    loop = new_loop()
    ends = {}

    async def wait(name: str) -> None:
        begin = loop.time()
        await asyncio.sleep(10)
        ends[name] = loop.moment, loop.time() - begin

    async def disturb() -> None:
        await asyncio.sleep(4)
        loop.sleep_machine("asleep", 100)
        loop.suspend("stopped", 100)

    play({"asleep": wait("asleep"), "stopped": wait("stopped"), "other": disturb()}, loop)

    assert ends["asleep"] == pytest.approx((110, 10), abs=0.1)
    assert ends["stopped"] == pytest.approx((104, 104), abs=0.1)


def test_a_sleep_within_a_sleep_counts_once() -> None:
    timer = ProcessTimer(1.5)
    timer.sleep(10, 20)
    timer.sleep(15, 30)
    timer.sleep(20, 5)

    assert timer.time_at(45) == pytest.approx(15)
    assert timer.moment_of(timer.time_at(50)) == pytest.approx(50)


def test_a_process_stands_still_in_the_middle_of_a_step_and_others_go_on() -> None:
    loop = new_loop()
    order = []

    async def stand() -> None:
        task = asyncio.current_task()
        order.append("stands")
        loop.stand_still(30)
        assert asyncio.current_task() is task
        order.append(f"goes on as {PROCESS.get()}")
        await asyncio.sleep(1)

    async def work() -> None:
        await asyncio.sleep(20)
        order.append("works")

    play({"one": stand(), "two": work()}, loop)

    assert order == ["stands", "works", "goes on as one"]
    assert loop.moment == pytest.approx(31, abs=0.1)


def test_a_thread_may_run_a_loop_of_its_own() -> None:
    loop = new_loop()
    returned = []

    async def work() -> None:
        returned.append(await asyncio.to_thread(asyncio.run, asyncio.sleep(0, "done")))

    play({"one": work()}, loop)

    assert returned == ["done"]
