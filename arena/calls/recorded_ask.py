"""Asking with a memory: every attempt is kept before its answer is used, and no answer is bought twice."""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from agents.model import Ask, Call, CallError, Prompt
from arena.errors import ArenaError
from arena.record.model.reservation import LONGEST_PAUSE, LONGEST_WAIT, Reservation

RETRY_WAITS = (1.0, 4.0)
"""Seconds before the second and the third attempt at a question that failed for a passing reason."""
DATABASE_WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
"""Seconds between attempts to keep an answer while the database is away: it was paid for."""
UNAVAILABLE_CODES = frozenset({"unreachable", "locked", "disk_full", "disk_error"})
PATIENCE = LONGEST_PAUSE
MOST_ATTEMPTS = 100
"""For how many seconds in all, and how often, a question that meets a rate limit is put again. Then its turn
has failed, and a later pass plays it."""
LONGEST_BACKOFF = 60.0


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """One attempt that has ended, and its reservation; `kept` hears when it is in the record, or can't be."""

    call: Call
    reservation: Reservation | None = None
    kept: Callable[[], None] = lambda: None


Attempt = Callable[[Prompt], Awaitable[EndedAttempt]]


class NotKept(BaseException):  # no agent's `except Exception` may hide it
    """An answer could not be put in the record: nothing more must be asked."""

    def __init__(self, fault: Exception):
        super().__init__(str(fault))
        self.fault = fault


INTERRUPTED = CallError("other", "the call was cancelled before its answer", retry=True)


class CallInterrupted(asyncio.CancelledError):
    """Whoever asked has gone while the call was under way: it may have to be paid for all the same."""

    def __init__(self, ended: EndedAttempt):
        super().__init__()
        self.ended = ended


@contextmanager
def raise_past_agent() -> Iterator[None]:
    """Whatever goes wrong within is raised past the agent that asked."""
    try:
        yield
    except Exception as error:
        raise NotKept(error) from error


Sleep = Callable[[float], Awaitable[None]]
"""Waits for so many seconds, real or pretended."""
OnWait = Callable[[CallError, float], None]
"""Learns that a question is put again in so many seconds, after this error."""


def ignore_wait(_error: CallError, _seconds: float) -> None:
    """Tell nobody of a wait."""


def recorded_ask(
    attempt: Attempt,
    stored: Sequence[Call],
    keep: Callable[[int, EndedAttempt], None],
    sleep: Sleep = asyncio.sleep,
    on_wait: OnWait = ignore_wait,
) -> Ask:
    """Ask, but a question with a stored answer gets it, and every new attempt is kept by its number.

    Between two attempts at a question it sleeps.
    """
    answers, attempts = _memory(stored)

    def keep_attempt(prompt: Prompt, ended: EndedAttempt) -> None:
        with raise_past_agent():
            keep(attempts[prompt.stage, prompt.sample], ended)

    async def try_once(prompt: Prompt) -> Call:
        try:
            ended = await attempt(prompt)
        except CallInterrupted as broken:
            attempts[prompt.stage, prompt.sample] += 1
            keep_attempt(prompt, broken.ended)
            raise asyncio.CancelledError from broken
        attempts[prompt.stage, prompt.sample] += 1
        try:
            await _keep_when_available(lambda: keep_attempt(prompt, ended))
        finally:
            ended.kept()
        return ended.call

    async def asked(prompt: Prompt) -> Call:
        if answers[prompt]:
            return answers[prompt].popleft()
        call, waits = await try_once(prompt), RetryWaits()
        while call.error is not None and (wait := waits.before_next(call.error)) is not None:
            on_wait(call.error, wait)
            await sleep(wait)
            call = await try_once(prompt)
        return call

    return asked


async def _keep_when_available(keep: Callable[[], None]) -> None:
    """Keep something; while the database is away, again and again for some time, and when broken off."""
    for pause in DATABASE_WAITS:
        try:
            keep()
        except NotKept as fault:
            # Whether the database can't be reached or written to just now, which may pass.
            if not (isinstance(fault.fault, ArenaError) and fault.fault.code in UNAVAILABLE_CODES):
                raise
            await _pause_or_keep_now(pause, keep)
        else:
            return
    keep()


async def _pause_or_keep_now(pause: float, keep: Callable[[], None]) -> None:
    """A pause. Who may not wait until it is over keeps what it has at once: there is no later."""
    try:
        await asyncio.sleep(pause)
    except asyncio.CancelledError:
        keep()
        raise


def _memory(stored: Sequence[Call]) -> tuple[dict[Prompt, deque[Call]], Counter[tuple[str, int]]]:
    """The stored answers by question, and how many attempts each stage and sample has had."""
    answers: dict[Prompt, deque[Call]] = defaultdict(deque)
    for call in stored:
        if call.error is None or call.error.code == "declined":  # a refusal is an answer too
            answers[call.prompt].append(call)
    return answers, Counter((call.prompt.stage, call.prompt.sample) for call in stored)


@dataclass
class RetryWaits:
    """How long to wait before a question is put again, as its attempts end.

    A rate limit is waited out as the provider asks, or longer each time where it doesn't say; what else may
    pass has an attempt for each of `left`.
    """

    left: list[float] = field(default_factory=lambda: list(RETRY_WAITS))
    waited: float = 0.0
    limited: int = 0

    def before_next(self, error: CallError) -> float | None:
        """Seconds before the next attempt after one that ended so; None to give up.

        Another form of the same question is no second attempt: the model hasn't been asked yet.
        """
        if error.code == "format":
            return 0.0
        if not error.retry:
            return None
        if error.code == "rate_limit":
            wait = error.wait or min(2.0**self.limited, LONGEST_BACKOFF)
            self.waited, self.limited = self.waited + wait, self.limited + 1
            return wait if self.waited <= PATIENCE and self.limited < MOST_ATTEMPTS else None
        if not self.left or (error.wait or 0.0) > LONGEST_WAIT:
            return None
        return max(self.left.pop(0), error.wait or 0.0)
