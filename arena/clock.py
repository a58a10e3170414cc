"""The only place where the clock is read; everywhere else time is an argument."""

import asyncio
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, Self

from arena.errors import ArenaError


def now() -> datetime:
    """Return this instant, in UTC."""
    return datetime.now(UTC)


def timer() -> float:
    """Return the seconds since some fixed moment, never going back: the difference of two is a duration."""
    return time.perf_counter()


class Clock(Protocol):
    """What `arena run` reads the time from."""

    def now(self) -> datetime:
        """Return the instant that it is taken to be, in UTC."""
        ...


class SystemClock:
    """This machine's clock."""

    def now(self) -> datetime:
        """Return this instant, in UTC."""
        return now()


async def sleep_unless_stopped(length: timedelta, stop: asyncio.Event) -> None:
    """Wait for so long by the machine, whatever time it is taken to be; less when told to stop."""
    if length > timedelta():
        try:
            await asyncio.wait_for(stop.wait(), length.total_seconds())
        except TimeoutError:
            return


@dataclass
class PretendedClock:
    """A time that is only pretended, kept in a file: who sleeps until then is there at once.

    While anything is done no time passes. A start goes on from what the file says.
    """

    file: Path
    at: datetime

    @classmethod
    def read(cls, file: Path) -> Self:
        """Return the clock at the time in a file's first line; raise `ArenaError` if there is none."""
        hint = "write the start time of the rehearsal in its first line, such as 2026-01-04T00:00Z"
        try:
            at = datetime.fromisoformat(file.read_text("utf-8").partition("\n")[0].strip())
        except OSError as error:
            raise ArenaError("no_clock", f"{file} is not a clock: {error.strerror}", hint) from error
        except ValueError as error:  # neither text nor a time
            raise ArenaError("no_clock", f"{file} is not a clock: it must begin with a time", hint) from error

        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        return cls(file, at.astimezone(UTC))

    def now(self) -> datetime:
        """Return the time that the file has."""
        return self.at

    async def sleep_until(self, at: datetime, stop: asyncio.Event) -> None:
        """Wait until a time, which has come at once: the file has it before anyone acts on it."""
        await asyncio.sleep(0)  # others get their turn, as they would in any sleep
        if at > self.at and not stop.is_set():
            fresh = self.file.with_name(f"{self.file.name}.{os.getpid()}")
            fresh.write_text(f"{at.isoformat()}\n", "utf-8")
            fresh.replace(self.file)
            self.at = at
