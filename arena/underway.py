"""The calls to models that are under way, and an end to new ones when the arena is to stop."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class UnderWay:
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
