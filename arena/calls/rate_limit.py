"""How many calls of this process are under way at once, in all and at each provider, and whose turn it is."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from random import Random

FIRST_LOOK, LONGEST_LOOK = 0.1, 1.0
"""Seconds until it is looked again whether other processes have left room, at least and at most."""
BATCH_SIZE, BATCH_INTERVAL = 10, 0.04
"""So many calls start together, and the next so many seconds later: sent all at once, they would all be
answered at once, and no answer could be worked on while others are waited for."""


@dataclass
class ProviderLimit:
    """One provider: how many calls this process has there, and is allowed as far as it knows.

    What other processes have is learnt with each reservation; `misses` counts looks in vain.
    """

    most: int
    allowed: int
    running: int = 0
    pauses: int = 0
    misses: int = 0
    looking: bool = False

    @property
    def open(self) -> bool:
        """Whether one more call may go there now."""
        return not self.pauses and self.running < self.allowed


@dataclass
class CallBatch:
    """The calls that start together: when, by the event loop's timer, and how many have joined."""

    most: int = BATCH_SIZE
    start: float = 0.0
    size: int = 0

    async def join(self) -> None:
        """Wait for the start of the newest batch, or of the next if that is full or long gone."""
        now = asyncio.get_running_loop().time()
        if self.size == self.most or now >= self.start + BATCH_INTERVAL:
            self.start, self.size = max(now, self.start + BATCH_INTERVAL), 0
        self.size += 1
        if self.start > now:
            await asyncio.sleep(self.start - now)


WaitingCalls = deque[tuple[ProviderLimit, "asyncio.Future[None]"]]
"""The calls of one agent that wait for one provider, all with its limit."""


@dataclass
class RateLimiter:
    """Lets calls start in turn: every agent that waits for a provider gets one before any gets its next.

    On a pretended clock the pauses that providers ask for take no time: it is not `timed`.
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
        """Wait for room at the provider of that name, and take it for as long as the block lasts.

        `again` goes before all others.
        """
        provider = self.providers.setdefault(name, ProviderLimit(self.per_provider, self.per_provider))
        turn = asyncio.get_running_loop().create_future()
        line = agent, name
        queue = self.waiting.setdefault(line, deque())
        if again:
            queue.appendleft((provider, turn))
            self.waiting.move_to_end(line, last=False)
        else:
            queue.append((provider, turn))
        self._start_waiting()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # its turn had come in that very moment
                self._leave(provider)
            raise
        try:
            await self.batch.join()
            yield provider
        finally:
            self._leave(provider)

    def note_room(self, provider: ProviderLimit, free: int) -> None:
        """Learn for how many more the provider has room, now that one has taken its place there."""
        provider.allowed, provider.misses = min(provider.most, provider.running + free), 0
        self._start_waiting()

    def note_busy(self, provider: ProviderLimit, pause: float | None) -> None:
        """Learn that there is no room for the one who asks; it looks again soon, or after a pause."""
        provider.allowed = provider.running - 1
        if pause is not None:
            self.pause(provider, pause)
        elif not provider.looking:
            longest = min(LONGEST_LOOK, FIRST_LOOK * 2 ** (1 + provider.misses))
            provider.looking, provider.misses = True, provider.misses + 1
            wait = self.random.uniform(FIRST_LOOK, longest)
            asyncio.get_running_loop().call_later(wait, self._look_again, provider)

    def pause(self, provider: ProviderLimit, seconds: float) -> None:
        """Leave a provider alone for some seconds."""
        provider.pauses += 1
        asyncio.get_running_loop().call_later(seconds if self.timed else 0, self._end_pause, provider)

    def _end_pause(self, provider: ProviderLimit) -> None:
        provider.pauses -= 1
        self._try_one_more(provider)

    def _look_again(self, provider: ProviderLimit) -> None:
        provider.looking = False
        self._try_one_more(provider)

    def _try_one_more(self, provider: ProviderLimit) -> None:
        provider.allowed = max(provider.allowed, min(provider.most, provider.running + 1))
        self._start_waiting()

    def _leave(self, provider: ProviderLimit) -> None:
        provider.running -= 1
        self.running -= 1
        self._start_waiting()

    def _start_waiting(self) -> None:
        """As many of those who wait as there is room for; an agent that got in goes behind the others."""
        while self.running < self.at_once:
            line = next((line for line, queue in self.waiting.items() if queue[0][0].open), None)
            if line is None:
                break
            queue = self.waiting.pop(line)
            provider, turn = queue.popleft()
            if queue:
                self.waiting[line] = queue
            if not turn.cancelled():
                provider.running += 1
                self.running += 1
                turn.set_result(None)


@dataclass
class RunningCalls:
    """How many calls are being made. Once it is `closed`, who wants another one waits until broken off.

    They wait too while it is `draining`. Answers that are in and not yet in the record are `unkept`.
    """

    running: int = 0
    closed: bool = False
    draining: int = 0
    unkept: int = 0
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def close(self) -> None:
        """Let no more calls be made; those under way go on."""
        self.closed = True
        self._note_quiet()

    async def wait_while_closed(self) -> None:
        """Go on where calls are still made; else wait until they are, or until broken off."""
        while self.closed or self.draining:
            await self._change()

    async def drain(self) -> None:
        """Begin no call until those under way have ended and are kept, or can't be."""
        self.draining += 1
        try:
            while self.running or self.unkept:
                await self._change()
        finally:
            self.draining -= 1
            self.changed.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a call for as long as it takes."""
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._note_quiet()

    def ended(self) -> Callable[[], None]:
        """Note that an answer is in; what is returned is called once it is kept, or can't be."""
        self.unkept += 1

        def kept() -> None:
            self.unkept -= 1
            self.changed.set()

        return kept

    async def _change(self) -> None:
        self.changed.clear()
        await self.changed.wait()

    def _note_quiet(self) -> None:
        self.changed.set()
        if self.closed and not self.running:
            self.quiet.set()
