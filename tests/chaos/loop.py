"""An event loop for several processes at once: a seed says who runs next, and time is made up.

What a process has begun carries its name in the context. Within one all goes in its order, as in any loop.
Each has a timer of its own. A process can be suspended between two steps, and in the middle of one.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from contextlib import suppress
from contextvars import Context, ContextVar
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar, TypeVarTuple

from greenlet import getcurrent, greenlet

T = TypeVar("T")
Parts = TypeVarTuple("Parts")
PROCESS: ContextVar[str] = ContextVar("process", default="")
ENDED = "ended"
"""The name of a process, dead from the start, as which all others are ended."""
STEP = 0.002
"""Seconds that a step takes at most."""


@dataclass
class ProcessTimer:
    """The timer of a process: its rate by the loop's time, and for how long its machine has slept."""

    rate: float = 1.0
    slept: float = 0.0
    sleeps_until: float = 0.0

    def time_at(self, moment: float) -> float:
        """Return what the timer says at a moment of the loop."""
        return (moment - self.slept) * self.rate

    def moment_of(self, time: float) -> float:
        """Return the moment of the loop at which the timer will say so, if the machine sleeps no more."""
        return time / self.rate + self.slept

    def sleep(self, moment: float, seconds: float) -> float:
        """Let the machine sleep from a moment on; return for how many seconds the timer stands still.

        Nobody reads the timer before the machine is awake.
        """
        begin = max(moment, self.sleeps_until)
        end = max(begin, moment + seconds)
        self.sleeps_until = end
        self.slept += end - begin
        return end - begin


class SeededLoop(asyncio.BaseEventLoop):
    """Runs one step at a time; before each `meanwhile` is asked what goes wrong.

    A process in `standing` was suspended in the middle of a step, and goes on there.
    """

    _ready: deque[Any]
    _scheduled: list[Any]

    def __init__(self, chance: Random, meanwhile: Callable[[], None]) -> None:
        super().__init__()
        self.chance = chance
        self.meanwhile = meanwhile
        self.moment = 0.0
        self.steps = 0
        self.suspended: dict[str, float] = {}
        self.standing: dict[str, greenlet] = {}
        self.timers: dict[str, ProcessTimer] = {}
        self.dead: set[str] = set()
        self.buried: list[object] = []
        """Tasks and steps of dead processes, kept or Python would run their `finally` blocks."""
        self.set_exception_handler(lambda *_: None)

    # ---- time

    def timer_of(self, name: str) -> ProcessTimer:
        """Return the timer of a process."""
        return self.timers.setdefault(name, ProcessTimer())

    def time(self) -> float:
        """Return the time by the timer of the process that asks."""
        return self.timer_of(PROCESS.get()).time_at(self.moment)

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Parts], object],
        *args: *Parts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call a function after so many seconds by the timer of its process."""
        timer = self.timer_of(_process_of(context))
        return self.call_at(timer.time_at(self.moment) + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Parts], object], *args: *Parts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call a function at a time by the timer of its process."""
        moment = self.timer_of(_process_of(context)).moment_of(when)
        return super().call_at(moment, callback, *args, context=context)

    def suspend(self, name: str, seconds: float) -> None:
        """Let a process stand still for a while; its clocks go on."""
        self.suspended[name] = max(self.suspended.get(name, 0.0), self.moment + seconds)

    def sleep_machine(self, name: str, seconds: float) -> None:
        """Let the machine of a process sleep: the process stands still, and its timer with it."""
        self.suspend(name, seconds)
        longer = self.timer_of(name).sleep(self.moment, seconds)
        for handle in self._scheduled:
            if handle._when > self.moment and self._process(handle) == name:
                handle._when += longer
        heapq.heapify(self._scheduled)

    # ---- steps

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Parts], T], *args: *Parts
    ) -> "asyncio.Future[T]":
        """Let a thread be a step of its own. No loop runs in it, so it may run one."""
        future: asyncio.Future[T] = self.create_future()

        def work() -> None:
            asyncio._set_running_loop(None)
            try:
                result = func(*args)
            except BaseException as error:  # noqa: BLE001 - as a thread hands it over
                future.set_exception(error)
            else:
                future.set_result(result)
            finally:
                asyncio._set_running_loop(self)

        self.call_soon(work)
        return future

    def stand_still(self, seconds: float) -> None:
        """Suspend the process that is in the middle of a step, and return once it goes on."""
        self.suspend(PROCESS.get(), seconds)
        running = asyncio._get_running_loop()
        task = asyncio.current_task(self)

        # Other processes take their steps meanwhile, as if this one took none.
        asyncio._set_running_loop(self)
        if task is not None:
            asyncio.tasks._leave_task(self, task)
        stepping = getcurrent()
        assert stepping.parent is not None, "only a process can be suspended in the middle of a step"
        stepping.parent.switch()

        if task is not None:
            asyncio.tasks._enter_task(self, task)
        asyncio._set_running_loop(running)

    def end_processes(self) -> None:
        """Run the `finally` blocks that processes are still in, and close the loop.

        Otherwise Python would run them whenever it collects garbage. They count as a dead process's, which
        can write nothing to the record.
        """
        self.dead.add(ENDED)
        token = PROCESS.set(ENDED)
        try:
            for stepping in self.standing.values():
                while not stepping.dead:
                    stepping.throw()

            asyncio._set_running_loop(self)
            self._close_tasks()
        finally:
            asyncio._set_running_loop(None)
            PROCESS.reset(token)
            self.close()

    def _close_tasks(self) -> None:
        """Close the coroutines of all tasks, and of those that are created on the way out."""
        closed: set[asyncio.Task[Any]] = set()
        while tasks := asyncio.all_tasks(self) - closed:
            for task in tasks:
                coroutine = task.get_coro()
                assert isinstance(coroutine, Coroutine)
                close_coroutine(coroutine)
            closed |= tasks

    def _write_to_self(self) -> None:
        """Do nothing, as nobody calls from another thread."""

    def _process_events(self, event_list: object) -> None:
        """Do nothing, as nothing comes from outside."""

    def _run_once(self) -> None:
        """Take one step of one process, or go on to when something is to be done."""
        while self._scheduled and (self._scheduled[0]._cancelled or self._scheduled[0]._when <= self.moment):
            handle = heapq.heappop(self._scheduled)
            handle._scheduled = False
            if not handle._cancelled:
                self._ready.append(handle)

        runs = {name: place for place, name in reversed([*enumerate(map(self._process, self._ready))])}
        able = runs.keys() | self.standing.keys() - self.dead
        awake = sorted(name for name in able if self.suspended.get(name, 0.0) <= self.moment)
        if not awake:
            later = [until for until in self.suspended.values() if until > self.moment]
            self.moment = min([*later, *(handle._when for handle in self._scheduled[:1])])
            return

        self.meanwhile()
        name = self.chance.choice(awake)
        self.moment += self.chance.random() * STEP
        self.steps += 1
        self._take_step(name, runs)

    def _take_step(self, name: str, runs: dict[str, int]) -> None:
        """Take the next step of a process, or go on with the one in the middle of which it stands."""
        stepping = None if name in self.dead else self.standing.pop(name, None)
        if stepping is None:
            if name not in runs:  # it was killed a moment ago, in the middle of a step
                return
            handle = self._ready[runs[name]]
            del self._ready[runs[name]]
            if name in self.dead:
                self.buried.append(handle)
                return
            if handle._cancelled:
                return
            if not name:
                handle._run()
                return
            stepping = greenlet(handle._run)

        stepping.switch()
        if not stepping.dead:
            self.standing[name] = stepping

    @staticmethod
    def _process(handle: Any) -> str:
        return str(handle._context.get(PROCESS, ""))


def close_coroutine(coroutine: Coroutine[Any, Any, object]) -> None:
    """Close a coroutine, or what closes a generator, even if one of its `finally` blocks awaits something."""
    with suppress(BaseException):  # what a dead process raises concerns nobody
        while True:
            coroutine.throw(GeneratorExit)


def _process_of(context: Context | None) -> str:
    """Return the process that a context belongs to, or the present one."""
    return PROCESS.get() if context is None else str(context.get(PROCESS, ""))
