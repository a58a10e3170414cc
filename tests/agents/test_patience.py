"""How long an answer is waited for: one that has arrived is read, whatever the timer says."""

import asyncio
import time

import pytest

from agents.llm.patience import patience


async def answer(after: float, held_up: float, longest: float, steps: int = 5) -> str:
    """Return an answer after this many seconds and some steps of reading, while something blocks the loop."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[str] = loop.create_future()
    loop.call_later(after, arrived.set_result, "yes")
    async with patience(longest):
        time.sleep(held_up)  # noqa: ASYNC251 - as if the whole process stood still
        text = await arrived
        for _ in range(steps):
            await asyncio.sleep(0)
        return text


def test_an_answer_that_came_in_time_is_read_by_a_process_that_stood_still() -> None:
    """It was suspended, say: as it wakes, the answer is there and the timer is over."""
    assert asyncio.run(answer(after=0.01, held_up=0.04, longest=0.02)) == "yes"


def test_an_answer_that_does_not_come_is_not_waited_for() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(answer(after=60.0, held_up=0.0, longest=0.01))
