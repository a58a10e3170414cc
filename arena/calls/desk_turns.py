"""Turns that agents from outside take at the desk, which may be another process: they meet in the record."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from agents.model import Ask, Call, CallError, Message, Prompt
from arena.calls.recorded_ask import UNAVAILABLE_CODES, raise_past_agent
from arena.errors import ArenaError
from arena.record.model.reservation import Payer
from arena.record.record import Record
from arena.record.write.desk import move_deadlines, open_desk_turn, read_ended_turns
from portfolio.quotes import duration_text

FIRST_LOOK = 0.05
"""Seconds between the first two looks whether an answer is in."""
LONGEST_LOOK = 2.0
"""Seconds between two looks, once nothing comes."""
CLOCK_STEP = 1.0
"""Seconds by which the record's clock may differ from those that are counted here."""


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that is waited for: its answer, and when it ends by the clock of the event loop."""

    answer: "asyncio.Future[str | None]"
    deadline: float


@dataclass
class DeskTurns:
    """Turns that are open, by entrant; one look at the record serves all that wait."""

    waiting: dict[int, OpenTurn] = field(default_factory=dict)
    watching: "asyncio.Task[None] | None" = None

    def ask(self, payer: Payer, wait: float, record: Record) -> Ask:
        """Return what opens an entrant's turn and waits for its answer, at most so many seconds."""

        async def asked(prompt: Prompt) -> Call:
            [message] = prompt.messages
            began = asyncio.get_running_loop().time()
            with raise_past_agent():
                shown, left = record.write_unfenced(
                    open_desk_turn, payer.entrant_id, payer.round_id, message.content, wait
                )
                answer = await self._answer(payer.entrant_id, began + left, record)
            kept = replace(prompt, messages=(Message("user", shown),))
            if answer is None:
                words = f"no answer within {duration_text(timedelta(seconds=wait))}"
                return Call(kept, None, cost=0, error=CallError("timeout", words, retry=False))
            took = round(1_000 * (asyncio.get_running_loop().time() - began))
            return Call(kept, answer, finish="stop", cost=0, latency_ms=took)

        return asked

    async def _answer(self, entrant: int, deadline: float, record: Record) -> str | None:
        loop = asyncio.get_running_loop()
        turn = OpenTurn(loop.create_future(), deadline)
        self.waiting[entrant] = turn
        if self.watching is None or self.watching.done():
            self.watching = asyncio.create_task(self._watch(record))
        try:
            return await turn.answer
        finally:
            del self.waiting[entrant]

    async def _watch(self, record: Record) -> None:
        """Look again and again, less often while nothing comes, until nobody waits."""
        loop = asyncio.get_running_loop()
        pause = FIRST_LOOK
        while self.waiting:
            ended = dict[int, str | None]()
            left = {entrant: turn.deadline - loop.time() for entrant, turn in self.waiting.items()}
            try:
                ended = _ended_turns(left, record)
            except Exception as error:  # noqa: BLE001 - whatever it is, whoever waits must hear of it
                if not (isinstance(error, ArenaError) and error.code in UNAVAILABLE_CODES):
                    for turn in self.waiting.values():
                        if not turn.answer.done():
                            turn.answer.set_exception(error)
                    return
            for entrant, answer in ended.items():
                if not self.waiting[entrant].answer.done():
                    self.waiting[entrant].answer.set_result(answer)
            pause = FIRST_LOOK if ended else min(1.5 * pause, LONGEST_LOOK)
            await asyncio.sleep(pause)


def _ended_turns(left: Mapping[int, float], record: Record) -> dict[int, str | None]:
    """Return the answers of the turns that are over, by entrant; an answer at the last moment counts.

    `left` is how many seconds each of them has. Where the record's clock was put forward or back, the
    deadline in the record is set anew by these.
    """
    ended = record.read(read_ended_turns, left)
    moved = dict[int, float]()
    for entrant, seconds in left.items():
        is_early = entrant in ended and ended[entrant] is None and seconds > CLOCK_STEP
        is_late = entrant not in ended and seconds < -CLOCK_STEP
        if is_early or is_late:
            moved[entrant] = max(seconds, 0.0)
    if moved:
        record.write_unfenced(move_deadlines, moved)
    if moved or None in ended.values():
        ended = record.write_unfenced(read_ended_turns, left, True)
    return ended
