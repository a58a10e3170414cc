"""Turns of outside agents at the desk, possibly another process, exchanged through the record."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from agents.model import Call, CallError, Message, Prompt
from arena.calls.faults import is_unavailable, raise_past_agent
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
class WaitingTurn:
    """An awaited turn: its answer, and its deadline by the event loop's clock."""

    answer: "asyncio.Future[str | None]"
    deadline: float


@dataclass
class DeskTurns:
    """Open turns by entrant. One task looks at the record for all turns that wait for their answer."""

    waiting: dict[int, WaitingTurn] = field(default_factory=dict)
    watching: "asyncio.Task[None] | None" = None

    async def ask(self, prompt: Prompt, payer: Payer, wait: float, record: Record) -> Call:
        """Open an entrant's turn and return its answer, or an error if none is in within `wait` seconds.

        The seconds count from when the turn was opened first.
        """
        [message] = prompt.messages
        loop = asyncio.get_running_loop()
        began = loop.time()
        with raise_past_agent():
            shown_text, seconds_left = record.write_unfenced(
                open_desk_turn, payer.entrant_id, payer.round_id, message.content, wait
            )
            answer = await self._answer(payer.entrant_id, began + seconds_left, record)

        # A turn that was open before shows what it showed then.
        shown_prompt = replace(prompt, messages=(Message("user", shown_text),))
        if answer is None:
            text = f"no answer within {duration_text(timedelta(seconds=wait))}"
            return Call(shown_prompt, None, cost=0, error=CallError("timeout", text, retry=False))

        latency = round(1_000 * (loop.time() - began))
        return Call(shown_prompt, answer, finish="stop", cost=0, latency_ms=latency)

    async def _answer(self, entrant_id: int, deadline: float, record: Record) -> str | None:
        """Wait for the end of an entrant's turn, and return its answer; None if it has none."""
        turn = WaitingTurn(asyncio.get_running_loop().create_future(), deadline)
        self.waiting[entrant_id] = turn
        if self.watching is None or self.watching.done():
            self.watching = asyncio.create_task(self._watch(record))

        try:
            return await turn.answer
        finally:
            del self.waiting[entrant_id]

    async def _watch(self, record: Record) -> None:
        """Look for answers, less often while none comes, until no turn waits."""
        loop = asyncio.get_running_loop()
        pause = FIRST_LOOK
        while self.waiting:
            answers: dict[int, str | None] = {}
            seconds_left = {entrant: turn.deadline - loop.time() for entrant, turn in self.waiting.items()}
            try:
                answers = _ended_turns(seconds_left, record)
            except Exception as error:  # noqa: BLE001 - every turn that waits must learn of any error
                if not is_unavailable(error):
                    for turn in self.waiting.values():
                        if not turn.answer.done():
                            turn.answer.set_exception(error)
                    return

            for entrant_id, answer in answers.items():
                future = self.waiting[entrant_id].answer
                if not future.done():
                    future.set_result(answer)

            pause = FIRST_LOOK if answers else min(1.5 * pause, LONGEST_LOOK)
            await asyncio.sleep(pause)


def _ended_turns(seconds_left: Mapping[int, float], record: Record) -> dict[int, str | None]:
    """Return the answers of the turns that have ended, by entrant; None for a turn that has none.

    `seconds_left` is how long each turn still has. If the record's clock was put forward or back, the
    deadlines in the record are set anew by it. If a turn has no answer, the turns are read again, locked: an
    answer that is just being written counts.
    """
    answers = record.read(read_ended_turns, seconds_left)
    seconds_of_moved: dict[int, float] = {}
    for entrant_id, seconds in seconds_left.items():
        # It has ended, without an answer, before its time, or goes on after it: the record's clock was moved.
        is_early = entrant_id in answers and answers[entrant_id] is None and seconds > CLOCK_STEP
        is_late = entrant_id not in answers and seconds < -CLOCK_STEP
        if is_early or is_late:
            seconds_of_moved[entrant_id] = max(seconds, 0.0)

    if seconds_of_moved:
        record.write_unfenced(move_deadlines, seconds_of_moved)

    if seconds_of_moved or None in answers.values():
        return record.write_unfenced(read_ended_turns, seconds_left, locked=True)
    return answers
