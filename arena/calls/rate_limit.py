"""How many calls of this process are under way at once, in all and at each provider, and whose turn it is.

The calls to models that are under way, and an end to new ones when the arena is to stop.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from random import Random

FIRST_LOOK, LONGEST_LOOK = 0.1, 1.0
"""Seconds until it is looked again whether other processes have left room, at least and at most."""
BUNCH, APART = 10, 0.04
"""So many calls start together, and the next so many seconds later: sent all at once, they would all be
answered at once, and no answer could be worked on while others are waited for."""


@dataclass
class ProviderLimit:
    """One provider: how many calls this process has there, and may have as far as it knows.

    What other processes have is learnt with each reservation; `misses` counts looks in vain.
    """

    most: int
    limit: int
    running: int = 0
    pauses: int = 0
    misses: int = 0
    looking: bool = False

    @property
    def open(self) -> bool:
        """Whether one more call may go there now."""
        return not self.pauses and self.running < self.limit


@dataclass
class CallBatch:
    """The calls that start together: when, by the event loop's timer, and how many have joined."""

    most: int = BUNCH
    start: float = 0.0
    size: int = 0

    async def join(self) -> None:
        """Wait for the start of the newest bunch, or of the next if that is full or long gone."""
        now = asyncio.get_running_loop().time()
        if self.size == self.most or now >= self.start + APART:
            self.start, self.size = max(now, self.start + APART), 0
        self.size += 1
        if self.start > now:
            await asyncio.sleep(self.start - now)


WaitingCalls = deque[tuple[ProviderLimit, "asyncio.Future[None]"]]


@dataclass
class RateLimiter:
    """Lets calls through in turn: every agent that waits gets one before any gets its next."""

    at_once: int = 50
    per_provider: int = 20
    chance: Random = field(default_factory=lambda: Random("gate"))
    running: int = 0
    bunch: CallBatch = field(default_factory=CallBatch)
    lanes: dict[str, ProviderLimit] = field(default_factory=dict)
    waiting: OrderedDict[str, WaitingCalls] = field(default_factory=OrderedDict)

    def lane(self, provider: str) -> ProviderLimit:
        """The lane of a provider."""
        return self.lanes.setdefault(provider, ProviderLimit(self.per_provider, self.per_provider))

    @asynccontextmanager
    async def through(self, provider: str, agent: str, again: bool = False) -> AsyncIterator[ProviderLimit]:
        """Wait for room, and take it for as long as the block lasts; `again` goes before all others."""
        lane, turn = self.lane(provider), asyncio.get_running_loop().create_future()
        self._line_up(agent, lane, turn, again)
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # its turn had come in that very moment
                self._leave(lane)
            raise
        try:
            await self.bunch.join()
            yield lane
        finally:
            self._leave(lane)

    def found(self, lane: ProviderLimit, free: int) -> None:
        """Learn for how many more the provider has room, now that one has taken its place there."""
        lane.limit, lane.misses = min(lane.most, lane.running + free), 0
        self._let_in()

    def full(self, lane: ProviderLimit, pause: float | None) -> None:
        """Learn that there is no room for the one who asks; it looks again soon, or after a pause."""
        lane.limit = lane.running - 1
        if pause is not None:
            self.shut(lane, pause)
        elif not lane.looking:
            longest = min(LONGEST_LOOK, FIRST_LOOK * 2 ** (1 + lane.misses))
            lane.looking, lane.misses = True, lane.misses + 1
            asyncio.get_running_loop().call_later(self.chance.uniform(FIRST_LOOK, longest), self._look, lane)

    def shut(self, lane: ProviderLimit, pause: float) -> None:
        """Leave a provider alone for some seconds."""
        lane.pauses += 1
        asyncio.get_running_loop().call_later(pause, self._reopen, lane)

    def _reopen(self, lane: ProviderLimit) -> None:
        lane.pauses -= 1
        self._try_one_more(lane)

    def _look(self, lane: ProviderLimit) -> None:
        lane.looking = False
        self._try_one_more(lane)

    def _try_one_more(self, lane: ProviderLimit) -> None:
        lane.limit = max(lane.limit, min(lane.most, lane.running + 1))
        self._let_in()

    def _line_up(self, agent: str, lane: ProviderLimit, turn: "asyncio.Future[None]", again: bool) -> None:
        line = self.waiting.setdefault(agent, deque())
        if again:
            line.appendleft((lane, turn))
            self.waiting.move_to_end(agent, last=False)
        else:
            line.append((lane, turn))

    def _leave(self, lane: ProviderLimit) -> None:
        lane.running -= 1
        self.running -= 1
        self._let_in()

    def _let_in(self) -> None:
        """As many of those who wait as there is room for; an agent that got in goes behind the others."""
        while self.running < self.at_once and (agent := self._next()) is not None:
            line = self.waiting.pop(agent)
            lane, turn = line.popleft()
            if line:
                self.waiting[agent] = line
            if not turn.cancelled():
                lane.running += 1
                self.running += 1
                turn.set_result(None)

    def _next(self) -> str | None:
        return next((agent for agent, line in self.waiting.items() if line[0][0].open), None)


@dataclass
class RunningCalls:
    """How many calls are being made. Once it is `closed`, who wants another one waits until broken off."""

    running: int = 0
    closed: bool = False
    quiet: asyncio.Event = field(default_factory=asyncio.Event)

    def close(self) -> None:
        """Let no more calls be made; those under way go on."""
        self.closed = True
        self._look()

    async def let_in(self) -> None:
        """Go on where calls are still made; else wait until broken off."""
        if self.closed:
            await asyncio.get_running_loop().create_future()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a call for as long as it takes."""
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._look()

    def _look(self) -> None:
        if self.closed and not self.running:
            self.quiet.set()
