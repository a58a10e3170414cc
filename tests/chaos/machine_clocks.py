"""The clocks of a simulated season: one time for all, and a wall clock for each process."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.cohorts.schedule import next_of
from arena.operations.wake import LONGEST_SLEEP
from tests.chaos.loop import PROCESS, SeededLoop

BEGINNING = datetime(2026, 3, 4, tzinfo=UTC)
"""When the processes start: long after the season that is played."""


@dataclass
class MachineClocks:
    """The time of the loop, and by how many seconds the wall clock of each process is ahead of it."""

    loop: SeededLoop
    ahead: dict[str, float] = field(default_factory=dict)

    def now(self) -> datetime:
        """Return the time by the clock of all."""
        return BEGINNING + timedelta(seconds=self.loop.time())

    def wall_time(self) -> datetime:
        """Return the time by the wall clock of the process that asks."""
        return self.now() + timedelta(seconds=self.ahead.get(PROCESS.get(), 0.0))

    def step(self, name: str, seconds: float) -> None:
        """Put the wall clock of a process forward, or back."""
        self.ahead[name] = self.ahead.get(name, 0.0) + seconds

    def connect(self, driver: Any) -> None:
        """Let a connection to the database read the clock of its process."""
        driver.create_function("strftime", -1, self.strftime)
        driver.create_function("julianday", 1, self.julianday)

    def strftime(self, _form: str, at: str = "now", shift: str = "0 seconds") -> str:
        """Return a time as SQLite does, in the one form that is asked for."""
        moment = self.wall_time() if at == "now" else datetime.fromisoformat(at)
        moment += timedelta(seconds=float(shift.partition(" ")[0]))
        return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"

    def julianday(self, at: str) -> float:
        """Return a time in days."""
        moment = self.wall_time() if at == "now" else datetime.fromisoformat(at)
        return moment.timestamp() / 86_400

    async def wait(self, schedules: Any, now: datetime, stop: asyncio.Event) -> None:
        """Wait until the next time of a schedule, or for a minute."""
        seconds = LONGEST_SLEEP.total_seconds()
        at = next_of(schedules, now)
        if at is not None:
            seconds = min(seconds, (at - now).total_seconds())

        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds + 0.01)

    def close(self) -> None:
        """Leave nothing behind."""
