"""The clocks of a simulated season: each process has a wall clock, which steps and drifts, and a timer."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from arena.cohorts.schedule import next_time_of_any
from arena.operations.wake import LONGEST_SLEEP
from tests.chaos.loop import PROCESS, ProcessTimer, SeededLoop

BEGINNING = datetime(2026, 3, 4, tzinfo=UTC)
"""When the processes start: long after the season that is played."""
MOST_DRIFT = 0.005
"""By how much of the time that passes a clock is fast, or slow."""


@dataclass
class WallClock:
    """By how many seconds a wall clock is ahead, and how much faster it goes than it should."""

    ahead: float = 0.0
    drift: float = 0.0

    def time_at(self, moment: float) -> datetime:
        """Return what the clock says at a moment of the loop."""
        return BEGINNING + timedelta(seconds=self.ahead + moment * (1 + self.drift))


@dataclass
class MachineClocks:
    """The wall clocks of all processes. Whoever is none of them has one that is right."""

    loop: SeededLoop
    clocks: dict[str, WallClock] = field(default_factory=dict)

    def clock_of(self, name: str) -> WallClock:
        """Return the wall clock of a process."""
        return self.clocks.setdefault(name, WallClock())

    def now(self) -> datetime:
        """Return the time by the wall clock of the process that asks."""
        return self.clock_of(PROCESS.get()).time_at(self.loop.moment)

    def begin(self, name: str, chance: Random) -> None:
        """Give a process a wall clock and a timer that go a little too fast, or too slow."""
        self.clock_of(name).drift = chance.uniform(-MOST_DRIFT, MOST_DRIFT)
        self.loop.timers[name] = ProcessTimer(1 + chance.uniform(-MOST_DRIFT, MOST_DRIFT))

    def step(self, name: str, seconds: float) -> None:
        """Put the wall clock of a process forward, or back."""
        self.clock_of(name).ahead += seconds

    def connect(self, driver: Any) -> None:
        """Let a connection to the database read the clock of its process."""
        driver.create_function("strftime", -1, self.strftime)
        driver.create_function("julianday", 1, self.julianday)

    def strftime(self, _form: str, at: str = "now", shift: str = "0 seconds") -> str:
        """Return a time as SQLite does, in the one form that is asked for."""
        moment = self.now() if at == "now" else datetime.fromisoformat(at)
        moment += timedelta(seconds=float(shift.partition(" ")[0]))
        return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"

    def julianday(self, at: str | None) -> float | None:
        """Return a time in days, nothing for none."""
        if at is None:
            return None
        moment = self.now() if at == "now" else datetime.fromisoformat(at)
        return moment.timestamp() / 86_400

    async def wait(self, schedules: Any, now: datetime, stop: asyncio.Event) -> None:
        """Wait until the next time of a schedule, or for a minute."""
        seconds = LONGEST_SLEEP.total_seconds()
        at = next_time_of_any(schedules, now)
        if at is not None:
            seconds = min(seconds, (at - now).total_seconds())

        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds + 0.01)

    def close(self) -> None:
        """Leave nothing behind."""
