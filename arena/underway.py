"""The calls to models that are under way, and an end to new ones when the arena is to stop."""

import asyncio
from dataclasses import dataclass, field

from agents.model import Ask, Call, Prompt


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

    def counted(self, ask: Ask) -> Ask:
        """`ask`, but a call is counted for as long as it takes, and none is made once it is closed."""

        async def asked(prompt: Prompt) -> Call:
            if self.closed:
                await asyncio.get_running_loop().create_future()
            self.running += 1
            try:
                return await ask(prompt)
            finally:
                self.running -= 1
                self._look()

        return asked

    def _look(self) -> None:
        if self.closed and not self.running:
            self.quiet.set()
