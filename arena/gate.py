"""How many calls are under way at once: in all, at each provider, and whose turn it is when there is room."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agents.model import Ask, Call, CallError, Prompt

FIRST_PAUSE = 1.0
"""Seconds that a provider is left alone for when it had too many calls and doesn't say for how long."""
LONGEST_PAUSE = 120.0


@dataclass
class Lane:
    """One provider: how many calls it may have now, how many it has, and until when it is left alone."""

    most: float
    limit: float
    running: int = 0
    pauses: int = 0

    @property
    def open(self) -> bool:
        """Whether one more call may go there now."""
        return not self.pauses and self.running < int(self.limit)


@dataclass
class Gate:
    """Lets calls through in turn: every agent that waits gets one before any gets its next.

    A provider that says "too many" gets half as many from then on and none for as long as it asks;
    each answer that comes through makes room for a little more again.
    """

    at_once: int = 50
    per_provider: int = 20
    running: int = 0
    lanes: dict[str, Lane] = field(default_factory=dict)
    waiting: dict[str, deque[tuple[Lane, asyncio.Future[None]]]] = field(default_factory=dict)

    def lane(self, provider: str) -> Lane:
        """The lane of a provider."""
        return self.lanes.setdefault(provider, Lane(self.per_provider, self.per_provider))

    @asynccontextmanager
    async def through(self, provider: str, agent: str) -> AsyncIterator[Lane]:
        """Wait for room, and take it for as long as the block lasts."""
        lane, turn = self.lane(provider), asyncio.get_running_loop().create_future()
        self.waiting.setdefault(agent, deque()).append((lane, turn))
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # its turn had come in that very moment
                self._leave(lane)
            raise
        try:
            yield lane
        finally:
            self._leave(lane)

    def told(self, lane: Lane, error: CallError | None) -> None:
        """Learn from how a call ended."""
        if error is None:
            lane.limit = min(lane.most, lane.limit + 1 / lane.limit)
        elif error.code == "rate_limit" or error.wait:
            if not lane.pauses:  # of many calls at once, only the first halves it
                lane.limit = max(1.0, lane.limit / 2)
            lane.pauses += 1
            pause = min(error.wait or FIRST_PAUSE, LONGEST_PAUSE)
            asyncio.get_running_loop().call_later(pause, self._reopen, lane)

    def _reopen(self, lane: Lane) -> None:
        lane.pauses -= 1
        self._let_in()

    def _leave(self, lane: Lane) -> None:
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


def gated(ask: Ask, gate: Gate, provider: str, agent: str) -> Ask:
    """`ask`, but a call waits until there is room for it."""

    async def asked(prompt: Prompt) -> Call:
        async with gate.through(provider, agent) as lane:
            call = await ask(prompt)
            gate.told(lane, call.error)
            return call

    return asked
