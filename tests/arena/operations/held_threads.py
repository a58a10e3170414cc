"""Threads in which work begins only when a test says so: what is begun at once can be counted."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class HeldThreads(ThreadPoolExecutor):
    """Keeps what is begun in a thread, until it is told to do it."""

    def __init__(self) -> None:
        super().__init__(1)
        self.begun: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, work: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Keep what is to be done, and return what is to come of it."""
        future = Future[Any]()
        self.begun.append((future, lambda: work(*args, **named)))
        return future

    def end_all(self) -> None:
        """Do what was begun."""
        while self.begun:
            future, work = self.begun.pop(0)
            future.set_result(work())


async def begun_at_once(*requests: Coroutine[Any, Any, object]) -> list[int]:
    """Make requests at once; return how many of them were in a thread each time that none could go on."""
    threads = HeldThreads()
    asyncio.get_running_loop().set_default_executor(threads)
    tasks = [asyncio.create_task(request) for request in requests]
    counts = list[int]()
    while True:
        # Nothing but a thread can hold a request up: after some rounds of the loop each is in one, or waits.
        for _ in range(20):
            await asyncio.sleep(0)
        if all(task.done() for task in tasks):
            break

        assert threads.begun, "a request waits for something else than a thread"
        counts.append(len(threads.begun))
        threads.end_all()

    await asyncio.gather(*tasks)
    return counts
