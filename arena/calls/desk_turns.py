"""Turns that agents from outside take at the desk, which may be another process: they meet in the record."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import timedelta

from agents.model import Ask, Call, CallError, Message, Prompt
from arena.calls.recorded_ask import UNAVAILABLE_CODES, raise_past_agent
from arena.errors import ArenaError
from arena.record.model.reservation import Payer
from arena.record.record import Record
from arena.record.write.desk import open_desk_turn, read_ended_turns
from portfolio.quotes import duration_text

FIRST_LOOK, LONGEST_LOOK = 0.05, 2.0
"""Seconds between two looks whether an answer is in: at first, and once nothing comes."""


@dataclass
class DeskTurns:
    """Turns that are open, by entrant; one look at the record serves all that wait."""

    waiting: dict[int, "asyncio.Future[str | None]"] = field(default_factory=dict)
    watching: "asyncio.Task[None] | None" = None

    def ask(self, payer: Payer, wait: float, record: Record) -> Ask:
        """Opens an entrant's turn and waits for the answer, at most so many seconds from when it opened."""

        async def asked(prompt: Prompt) -> Call:
            [message] = prompt.messages
            began = asyncio.get_running_loop().time()
            with raise_past_agent():
                shown = record.write_unfenced(
                    open_desk_turn, payer.entrant_id, payer.round_id, message.content, wait
                )
                answer = await self._answer(payer.entrant_id, record)
            kept = replace(prompt, messages=(Message("user", shown),))
            if answer is None:
                words = f"no answer within {duration_text(timedelta(seconds=wait))}"
                return Call(kept, None, cost=0, error=CallError("timeout", words, retry=False))
            took = round(1_000 * (asyncio.get_running_loop().time() - began))
            return Call(kept, answer, finish="stop", cost=0, latency_ms=took)

        return asked

    async def _answer(self, entrant: int, record: Record) -> str | None:
        self.waiting[entrant] = asyncio.get_running_loop().create_future()
        if self.watching is None or self.watching.done():
            self.watching = asyncio.create_task(self._watch(record))
        try:
            return await self.waiting[entrant]
        finally:
            del self.waiting[entrant]

    async def _watch(self, record: Record) -> None:
        """Look again and again, less often while nothing comes, until nobody waits."""
        pause = FIRST_LOOK
        while self.waiting:
            ended = dict[int, str | None]()
            try:
                ended = _ended_turns([*self.waiting], record)
            except Exception as error:  # noqa: BLE001 - whatever it is, whoever waits must hear of it
                if not (isinstance(error, ArenaError) and error.code in UNAVAILABLE_CODES):
                    for future in self.waiting.values():
                        if not future.done():
                            future.set_exception(error)
                    return
            for entrant, answer in ended.items():
                if not self.waiting[entrant].done():
                    self.waiting[entrant].set_result(answer)
            pause = FIRST_LOOK if ended else min(1.5 * pause, LONGEST_LOOK)
            await asyncio.sleep(pause)


def _ended_turns(entrants: Collection[int], record: Record) -> dict[int, str | None]:
    """The turns that are over, by entrant. An answer that came at the last moment counts."""
    ended = record.read(read_ended_turns, entrants)
    return record.write_unfenced(read_ended_turns, ended, True) if None in ended.values() else ended
