"""Turns that agents from outside take at the desk, which may be another process: they meet in the record."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import timedelta

from agents.model import Call, CallError, Message, Prompt
from arena.calls.faults import is_unavailable, raise_past_agent
from arena.record.model.reservation import Payer
from arena.record.record import Record
from arena.record.write.desk import open_desk_turn, read_ended_turns
from portfolio.quotes import duration_text

FIRST_LOOK = 0.05
LONGEST_LOOK = 2.0
"""Seconds between two looks whether an answer is in: at first, and once nothing comes."""


@dataclass
class DeskTurns:
    """Open turns by entrant. One task looks at the record for all turns that wait for their answer."""

    waiting: dict[int, "asyncio.Future[str | None]"] = field(default_factory=dict)
    watching: "asyncio.Task[None] | None" = None

    async def ask(self, prompt: Prompt, payer: Payer, wait: float, record: Record) -> Call:
        """Open an entrant's turn and return its answer, or an error if none is in within `wait` seconds.

        The seconds count from when the turn was opened first.
        """
        [message] = prompt.messages
        loop = asyncio.get_running_loop()
        began = loop.time()
        with raise_past_agent():
            shown = record.write_unfenced(
                open_desk_turn, payer.entrant_id, payer.round_id, message.content, wait
            )
            answer = await self._answer(payer.entrant_id, record)

        # A turn that was open before shows what it showed then.
        asked = replace(prompt, messages=(Message("user", shown),))
        if answer is None:
            text = f"no answer within {duration_text(timedelta(seconds=wait))}"
            return Call(asked, None, cost=0, error=CallError("timeout", text, retry=False))

        latency = round(1_000 * (loop.time() - began))
        return Call(asked, answer, finish="stop", cost=0, latency_ms=latency)

    async def _answer(self, entrant_id: int, record: Record) -> str | None:
        """Wait for the end of an entrant's turn, and return its answer; None if it has none."""
        self.waiting[entrant_id] = asyncio.get_running_loop().create_future()
        if self.watching is None or self.watching.done():
            self.watching = asyncio.create_task(self._watch(record))

        try:
            return await self.waiting[entrant_id]
        finally:
            del self.waiting[entrant_id]

    async def _watch(self, record: Record) -> None:
        """Look for answers, less often while none comes, until no turn waits."""
        pause = FIRST_LOOK
        while self.waiting:
            ended: dict[int, str | None] = {}
            try:
                ended = _ended_turns([*self.waiting], record)
            except Exception as error:  # noqa: BLE001 - every turn that waits must learn of any error
                if not is_unavailable(error):
                    for future in self.waiting.values():
                        if not future.done():
                            future.set_exception(error)
                    return

            for entrant_id, answer in ended.items():
                future = self.waiting[entrant_id]
                if not future.done():
                    future.set_result(answer)

            pause = FIRST_LOOK if ended else min(1.5 * pause, LONGEST_LOOK)
            await asyncio.sleep(pause)


def _ended_turns(entrant_ids: Collection[int], record: Record) -> dict[int, str | None]:
    """Return the answers of the turns that have ended, by entrant; None for a turn that has none.

    If one has none they are read again, locked: an answer that is just being written counts.
    """
    ended = record.read(read_ended_turns, entrant_ids)
    if None in ended.values():
        return record.write_unfenced(read_ended_turns, ended, True)
    return ended
