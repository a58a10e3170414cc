"""Limits on this process's concurrent calls, in total and by provider, and the order of calls."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from random import Random

FIRST_LOOK = 0.1
LONGEST_LOOK = 1.0
"""Seconds before the next look whether other processes have left room, at least and at most."""
BATCH_SIZE = 10
BATCH_INTERVAL = 0.04
"""So many calls start together, and the next so many seconds later: sent all at once, they would all be
answered at once, and no answer could be worked on while others are waited for."""


@dataclass
class ProviderLimit:
    """How many calls this process has at one provider, and how many it may have as far as it knows.

    Each reservation tells how many other processes have there. `pauses` counts the pauses that go on.
    `looking` says whether the next look for room is set, and `longest_wait` bounds the seconds before it.
    """

    most: int
    allowed: int
    running: int = 0
    pauses: int = 0
    longest_wait: float = FIRST_LOOK
    looking: bool = False

    @property
    def open(self) -> bool:
        """Tell whether one more call may be made there now."""
        return not self.pauses and self.running < self.allowed


@dataclass
class CallBatch:
    """Calls that start together: when they do, by the event loop's timer, and how many have joined."""

    most: int = BATCH_SIZE
    start: float = 0.0
    size: int = 0

    async def join(self) -> None:
        """Wait for the start of the newest batch, or of the next one if that is full or long gone."""
        now = asyncio.get_running_loop().time()
        next_start = self.start + BATCH_INTERVAL
        if self.size == self.most or now >= next_start:
            self.start = max(now, next_start)
            self.size = 0

        self.size += 1
        if self.start > now:
            await asyncio.sleep(self.start - now)


WaitingCalls = deque[tuple[ProviderLimit, "asyncio.Future[None]"]]
"""The calls of one agent that wait for one provider, all with its limit."""


@dataclass
class RateLimiter:
    """Lets calls start in turn: every agent that waits for a provider gets one before any gets its next.

    `waiting` has the calls by agent and provider, in the order of their turns. On a pretended clock the
    pauses that providers ask for take no time: the limiter is not `timed`.
    """

    at_once: int = 50
    per_provider: int = 20
    random: Random = field(default_factory=lambda: Random("gate"))
    timed: bool = True
    running: int = 0
    batch: CallBatch = field(default_factory=CallBatch)
    providers: dict[str, ProviderLimit] = field(default_factory=dict)
    waiting: OrderedDict[tuple[str, str], WaitingCalls] = field(default_factory=OrderedDict)

    @asynccontextmanager
    async def slot(self, name: str, agent: str, again: bool = False) -> AsyncIterator[ProviderLimit]:
        """Wait for room at the provider of that name, and hold it for as long as the block lasts.

        A call that waits `again` goes before all others.
        """
        provider = self.providers.setdefault(name, ProviderLimit(self.per_provider, self.per_provider))
        may_start = asyncio.get_running_loop().create_future()
        queue_key = agent, name
        queue = self.waiting.setdefault(queue_key, deque())
        if again:
            queue.appendleft((provider, may_start))
            self.waiting.move_to_end(queue_key, last=False)
        else:
            queue.append((provider, may_start))
        self._start_waiting()

        try:
            await may_start
        except asyncio.CancelledError:
            if not may_start.cancelled():  # its turn had come in that very moment
                self._release_place(provider)
            raise

        try:
            await self.batch.join()
            yield provider
        finally:
            self._release_place(provider)

    def note_room(self, provider: ProviderLimit, free: int) -> None:
        """Note for how many more calls the provider has room, after a reservation there."""
        provider.allowed = min(provider.most, provider.running + free)
        provider.longest_wait = FIRST_LOOK
        self._start_waiting()

    def note_busy(self, provider: ProviderLimit, pause: float | None) -> None:
        """Note that the provider has no room for a call, and look again soon, or after a pause."""
        # This call is among those that run, and there was no room for it.
        provider.allowed = provider.running - 1
        if pause is not None:
            self.pause(provider, pause)
            return

        if not provider.looking:
            provider.looking = True
            provider.longest_wait = min(LONGEST_LOOK, 2 * provider.longest_wait)
            wait = self.random.uniform(FIRST_LOOK, provider.longest_wait)
            asyncio.get_running_loop().call_later(wait, self._look_again, provider)

    def pause(self, provider: ProviderLimit, seconds: float) -> None:
        """Pause calls to a provider for some seconds."""
        provider.pauses += 1
        asyncio.get_running_loop().call_later(seconds if self.timed else 0, self._end_pause, provider)

    def _end_pause(self, provider: ProviderLimit) -> None:
        """End one of the pauses of a provider."""
        provider.pauses -= 1
        self._try_one_more(provider)

    def _look_again(self, provider: ProviderLimit) -> None:
        """Try whether a provider has room, by allowing one more call."""
        provider.looking = False
        self._try_one_more(provider)

    def _try_one_more(self, provider: ProviderLimit) -> None:
        """Allow at least one call more than there are at a provider."""
        provider.allowed = max(provider.allowed, min(provider.most, provider.running + 1))
        self._start_waiting()

    def _release_place(self, provider: ProviderLimit) -> None:
        """Release the place of a call that has ended."""
        provider.running -= 1
        self.running -= 1
        self._start_waiting()

    def _start_waiting(self) -> None:
        """Start as many waiting calls as there is room for, moving each agent served behind the others."""
        while self.running < self.at_once:
            # Every queue has a call in it, and all calls of a queue are for the same provider.
            startable = (queue_key for queue_key, queue in self.waiting.items() if queue[0][0].open)
            queue_key = next(startable, None)
            if queue_key is None:
                break

            queue = self.waiting.pop(queue_key)
            provider, may_start = queue.popleft()
            if queue:  # put back at the end, behind the other agents
                self.waiting[queue_key] = queue

            if not may_start.cancelled():
                provider.running += 1
                self.running += 1
                may_start.set_result(None)


@dataclass
class RunningCalls:
    """How many calls are being made, and how many answers are in but not yet stored: they are `unkept`.

    Once it is `closed`, new calls wait until they are cancelled. They wait too while it is `draining`.
    `quiet` is set once it is closed and no call is being made.
    """

    running: int = 0
    closed: bool = False
    draining: int = 0
    unkept: int = 0
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def close(self) -> None:
        """Let no more calls be made; those under way are finished."""
        self.closed = True
        self._signal_change()

    async def wait_while_closed(self) -> None:
        """Wait until calls may be made."""
        while self.closed or self.draining:
            await self._wait_for_change()

    async def drain(self) -> None:
        """Hold new calls back until those under way have ended and their answers are stored, or can't be."""
        self.draining += 1

        try:
            while self.running or self.unkept:
                await self._wait_for_change()
        finally:
            self.draining -= 1
            self.changed.set()

    @contextmanager
    def running_call(self) -> Iterator[None]:
        """Count a call for as long as the block lasts."""
        self.running += 1

        try:
            yield
        finally:
            self.running -= 1
            self._signal_change()

    @contextmanager
    def storing(self) -> Iterator[None]:
        """Count an answer that is in but not yet stored for as long as the block lasts."""
        self.unkept += 1
        try:
            yield
        finally:
            self.unkept -= 1
            self.changed.set()

    async def _wait_for_change(self) -> None:
        """Wait for the next change."""
        self.changed.clear()
        await self.changed.wait()

    def _signal_change(self) -> None:
        """Tell those that wait that something has changed, and that it is quiet if so."""
        self.changed.set()
        if self.closed and not self.running:
            self.quiet.set()
