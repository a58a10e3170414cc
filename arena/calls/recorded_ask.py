"""Asking a model: every attempt is stored before its answer is used, and no answer is bought twice."""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from agents.model import Ask, Call, CallError, Prompt
from arena.calls.faults import NotKept, is_unavailable
from arena.calls.rate_limit import ProviderLimit
from arena.calls.reservations import CallReservations
from arena.record.model.incident import usage_not_believed
from arena.record.model.reservation import (
    LONGEST_PAUSE,
    LONGEST_WAIT,
    CallRefused,
    ModelPaused,
    Payer,
    ProviderBusy,
    Reservation,
    ReservationRequest,
    final_error,
    pause_after,
)
from arena.record.record import Record
from arena.record.write.calls import add_call

RETRY_WAITS = (1.0, 4.0)
"""Seconds before the second and the third attempt at a question that failed for a passing reason."""
DATABASE_WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, *([10.0] * 30))
"""Seconds between attempts to store an answer while the database is away: it was paid for."""
PATIENCE = LONGEST_PAUSE
MOST_ATTEMPTS = 100
"""For how many seconds in all, and how often, a question that meets a rate limit is asked. Then its turn has
failed, and a later pass plays it."""
LONGEST_BACKOFF = 60.0
LOOK_AGAIN = 60.0
"""Seconds after which a call looks again whether its model is still to be left alone."""
INTERRUPTED = CallError("other", "the call was cancelled before its answer", retry=True)

Sleep = Callable[[float], Awaitable[None]]
"""Waits for so many seconds, real or pretended."""


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """An attempt that has ended, and its reservation if it had one."""

    call: Call
    reservation: Reservation | None = None


class CallInterrupted(asyncio.CancelledError):
    """An agent was cancelled during a call, which may have to be paid for all the same."""

    def __init__(self, ended: EndedAttempt):
        super().__init__()
        self.ended = ended


@dataclass(frozen=True, slots=True)
class AskingTurn:
    """The turn that calls are made for: who pays, which process plays it, when its round was due."""

    payer: Payer
    record: Record
    holder: str
    now: Callable[[], datetime]
    due: datetime | None = None


@dataclass
class Asker:
    """Asks the model of one agent, within the limits of its provider and within the budgets.

    A question with one of the `stored` answers gets it; each is used once. Attempts at questions of one stage
    and sample are numbered. Without a `turn` nothing is reserved or stored.
    """

    model_ask: Ask
    worst_case: Callable[[Prompt], int | None]
    provider: str
    agent: str
    reservations: CallReservations
    model: str = ""
    turn: AskingTurn | None = None
    stored: Sequence[Call] = ()
    sleep: Sleep = asyncio.sleep
    answers: dict[Prompt, deque[Call]] = field(init=False)
    attempts: Counter[tuple[str, int]] = field(init=False)

    def __post_init__(self) -> None:
        """Sort what is stored: answers by their question, and how many attempts there were."""
        self.answers = defaultdict(deque)
        self.attempts = Counter()

        for call in self.stored:
            self.attempts[call.prompt.stage, call.prompt.sample] += 1
            if call.error is None or call.error.code == "declined":  # a refusal is an answer too
                self.answers[call.prompt].append(call)

    async def ask(self, prompt: Prompt) -> Call:
        """Return the stored answer to a question, else ask the model, again where that may help.

        Raise `NotKept` if an answer can't be stored.
        """
        answers = self.answers[prompt]
        if answers:
            return answers.popleft()

        retries = RetryWaits()
        while True:
            try:
                ended = await self.attempt(prompt)
            except CallInterrupted as interrupted:
                # The agent must not wait any more, so there is one try to store what may have been paid for.
                await self.keep(interrupted.ended, ())
                raise asyncio.CancelledError from interrupted

            with self.reservations.calls.storing():
                await self.keep(ended, DATABASE_WAITS)

            error = ended.call.error
            if error is None:
                return ended.call
            wait = retries.before_next(error)
            if wait is None:
                return ended.call

            self.reservations.waits.note(self.model or self.provider, wait, error.code)
            await self.sleep(wait)

    async def ask_once(self, prompt: Prompt) -> Call:
        """Return the answer of the model to one attempt, whatever it is, without storing it."""
        ended = await self.attempt(prompt)
        return ended.call

    async def attempt(self, prompt: Prompt) -> EndedAttempt:
        """Call the model once there is room and money for it.

        Where that would break a limit no call is made, and the attempt ends with an error.
        """
        if not self.provider:  # an agent without a model: it costs nothing and goes nowhere
            return EndedAttempt(await self.model_ask(prompt))

        worst_cost = self.worst_case(prompt)
        refusal = self.reservations.budget.refusal_by_cost(worst_cost)
        if refusal is not None:
            return _refused(prompt, refusal)

        turn = self.turn
        waits_again = False
        while True:
            async with self.reservations.limiter.slot(self.provider, self.agent, waits_again) as limit:
                await self.reservations.calls.wait_while_closed()
                answer = None
                if turn is not None:
                    request = ReservationRequest(
                        turn.payer, self.provider, worst_cost, turn.holder, turn.now(), self.model
                    )
                    answer = await self.reservations.reserve(request, limit)
                if isinstance(answer, CallRefused):
                    return _refused(prompt, answer.why)
                if not isinstance(answer, ProviderBusy | ModelPaused):
                    return await self._call(prompt, worst_cost, answer, limit)

            # A call that waits for its model takes no room meanwhile: other models of the provider are asked.
            waits_again = True
            if isinstance(answer, ModelPaused):
                await asyncio.sleep(min(answer.seconds, LOOK_AGAIN))

    async def keep(self, ended: EndedAttempt, waits: Sequence[float]) -> None:
        """Store an attempt; while the database is away, try again after each of the waits.

        Raise `NotKept` if it can't be stored.
        """
        call = ended.call
        question = call.prompt.stage, call.prompt.sample
        self.attempts[question] += 1
        number = self.attempts[question]
        turn = self.turn
        if turn is None:
            return

        cancellation = None
        waits_left = deque(waits)
        while True:
            at = turn.now()
            incident = None
            if call.usage_doubt:
                incident = usage_not_believed(self.agent, self.model, call.usage_doubt, turn.due or at, at)

            ids = turn.payer.round_id, turn.payer.entrant_id
            try:
                turn.record.write_answer(add_call, *ids, number, call, at, ended.reservation, incident)
                break
            except Exception as error:
                if not waits_left or not is_unavailable(error):
                    raise NotKept(error) from error

            try:
                await asyncio.sleep(waits_left.popleft())
            except asyncio.CancelledError as error:
                # There is no later: the answer is stored now, or never.
                waits_left.clear()
                cancellation = error

        if cancellation is not None:
            raise cancellation

    async def _call(
        self, prompt: Prompt, worst_cost: int | None, reservation: Reservation | None, limit: ProviderLimit
    ) -> EndedAttempt:
        """Call the model, and leave its provider alone after an error that asks for it."""
        with self.reservations.renewed(reservation), self.reservations.calls.running_call():
            try:
                call = replace(await self.model_ask(prompt), worst=worst_cost)
            except asyncio.CancelledError as error:
                call = Call(prompt, None, worst=worst_cost, error=INTERRUPTED)
                raise CallInterrupted(EndedAttempt(call, reservation)) from error
            if call.error is not None:
                call = replace(call, error=final_error(call.error))

        is_limited = reservation is not None and reservation.limited
        pause = pause_after(call.error, is_limited)
        if pause is not None and pause.whole_provider:
            self.reservations.limiter.pause(limit, pause.seconds)
        return EndedAttempt(call, reservation)


def _refused(prompt: Prompt, why: str) -> EndedAttempt:
    """Return the attempt at a call that is not made because of a budget."""
    return EndedAttempt(Call(prompt, None, cost=0, error=CallError("budget", why, retry=False)))


@dataclass
class RetryWaits:
    """How long to wait before a question is asked again, as its attempts end.

    A rate limit is waited out as the provider asks, or longer each time if it doesn't say for how long. Any
    other error that may pass takes one of the waits that are `left`.
    """

    left: list[float] = field(default_factory=lambda: list(RETRY_WAITS))
    waited: float = 0.0
    limited: int = 0

    def before_next(self, error: CallError) -> float | None:
        """Return the seconds before the next attempt after an error; None to give up."""
        # A server that refuses a form of the question has not asked its model yet.
        if error.code == "format":
            return 0.0
        if not error.retry:
            return None

        # If the provider names no wait, each is twice as long as the one before.
        if error.code == "rate_limit":
            wait = error.wait or min(2.0**self.limited, LONGEST_BACKOFF)
            self.waited += wait
            self.limited += 1
            if self.waited > PATIENCE or self.limited >= MOST_ATTEMPTS:
                return None
            return wait

        requested_wait = error.wait or 0.0
        if not self.left or requested_wait > LONGEST_WAIT:
            return None
        return max(self.left.pop(0), requested_wait)
