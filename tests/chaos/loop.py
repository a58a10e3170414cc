"""An event loop for several processes at once: a seed says who runs next, and time is made up.

What a process has begun carries its name in the context. Within one all goes in its order, as in any loop.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from random import Random
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Parts = TypeVarTuple("Parts")
PROCESS: ContextVar[str] = ContextVar("process", default="")
STEP = 0.002
"""Seconds that a step takes at most."""


class SeededLoop(asyncio.BaseEventLoop):
    """Runs one step at a time; before each `meanwhile` is asked what goes wrong."""

    _ready: deque[Any]
    _scheduled: list[Any]

    def __init__(self, chance: Random, meanwhile: Callable[[], None]) -> None:
        super().__init__()
        self.chance, self.meanwhile = chance, meanwhile
        self.moment = 0.0
        self.steps = 0
        self.suspended: dict[str, float] = {}
        self.dead: set[str] = set()
        self.set_exception_handler(lambda *_: None)

    def time(self) -> float:
        """Seconds since the beginning, as the processes have it."""
        return self.moment

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Parts], T], *args: *Parts
    ) -> "asyncio.Future[T]":
        """A thread is a step of its own: a real one, since what is done there may have a loop of its own."""
        future: asyncio.Future[T] = self.create_future()

        def work() -> None:
            try:
                with ThreadPoolExecutor(1) as thread:
                    result = thread.submit(copy_context().run, func, *args).result()
            except BaseException as error:  # noqa: BLE001 - as a thread hands it over
                future.set_exception(error)
            else:
                future.set_result(result)

        self.call_soon(work)
        return future

    def _write_to_self(self) -> None:
        """Nobody calls from another thread."""

    def _process_events(self, event_list: object) -> None:
        """Nothing comes from outside."""

    def _run_once(self) -> None:
        """One step of one process, or on to when something is to be done."""
        while self._scheduled and (self._scheduled[0]._cancelled or self._scheduled[0]._when <= self.moment):
            handle = heapq.heappop(self._scheduled)
            handle._scheduled = False
            if not handle._cancelled:
                self._ready.append(handle)
        runs = {name: place for place, name in reversed([*enumerate(map(self._process, self._ready))])}
        awake = sorted(name for name in runs if self.suspended.get(name, 0.0) <= self.moment)
        if not awake:
            later = [until for until in self.suspended.values() if until > self.moment]
            self.moment = min([*later, *(handle._when for handle in self._scheduled[:1])])
            return
        self.meanwhile()
        place = runs[self.chance.choice(awake)]
        handle = self._ready[place]
        del self._ready[place]
        self.moment += self.chance.random() * STEP
        self.steps += 1
        if not handle._cancelled and self._process(handle) not in self.dead:
            handle._run()

    @staticmethod
    def _process(handle: Any) -> str:
        return str(handle._context.get(PROCESS, ""))
