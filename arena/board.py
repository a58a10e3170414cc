"""What `arena run` tells while it runs, how it stands, and how it is told to stop."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from arena.wording import counted

MOST_ERRORS = 5


@dataclass(frozen=True, slots=True)
class Event:
    """Something that `arena run` did or met with: when, of what kind, in words, and as data."""

    at: datetime
    kind: str
    words: str
    data: Mapping[str, Any] = field(default_factory=dict)


Tell = Callable[[Event], None]


@dataclass
class Stop:
    """Whether to stop: `asked` in good order, and `hurry` without waiting for anything."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hurry: asyncio.Event = field(default_factory=asyncio.Event)

    def signal(self) -> None:
        """Told once, it stops in good order; told again, at once."""
        if self.asked.is_set():
            self.hurry.set()
        self.asked.set()


@dataclass
class Board:
    """How a run stands, for those who watch: what it does now, what was and will be, what went wrong.

    It is `alone` while it plays turns that were to be left to workers, for none is there.
    """

    now: datetime | None = None
    doing: str = ""
    alone: bool = False
    last_round: str = ""
    next_round: datetime | None = None
    next_job: tuple[str, datetime] | None = None
    errors: list[str] = field(default_factory=list)
    rounds: int = 0
    turns: int = 0
    jobs: int = 0
    failed: int = 0

    def trouble(self, words: str) -> None:
        """Something went wrong; the last few are shown."""
        self.errors = [*self.errors, words][-MOST_ERRORS:]
        self.failed += 1

    def summary(self) -> str:
        """What was done, in a line."""
        counts = (("round", self.rounds), ("turn", self.turns), ("job", self.jobs))
        done = ", ".join(counted(count, name) for name, count in counts)
        return f"{done} done" + (f"; {self.failed:,} went wrong" if self.failed else "")
