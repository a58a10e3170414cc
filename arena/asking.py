"""Asking with a memory: every attempt is kept before its answer is used, and no answer is bought twice."""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from agents.model import Ask, Call, Prompt

WAITS = (1.0, 4.0)
"""Seconds before the second and the third attempt at a question that failed for a passing reason."""


class NotKept(BaseException):  # no agent's `except Exception` may hide it
    """An answer could not be put in the record: nothing more must be asked."""

    def __init__(self, fault: Exception):
        super().__init__(str(fault))
        self.fault = fault


@contextmanager
def no_fault_hidden() -> Iterator[None]:
    """Whatever goes wrong within is raised past the agent that asked."""
    try:
        yield
    except Exception as error:
        raise NotKept(error) from error


def recorded(ask: Ask, stored: Sequence[Call], keep: Callable[[int, Call], None]) -> Ask:
    """`ask`, but a question with a stored answer gets it, and every new attempt is kept by its number."""
    answers: dict[Prompt, deque[Call]] = defaultdict(deque)
    attempts: Counter[tuple[str, int]] = Counter()
    for call in stored:
        attempts[call.prompt.stage, call.prompt.sample] += 1
        if call.error is None:
            answers[call.prompt].append(call)

    async def attempt(prompt: Prompt) -> Call:
        call = await ask(prompt)
        attempts[prompt.stage, prompt.sample] += 1
        with no_fault_hidden():
            keep(attempts[prompt.stage, prompt.sample], call)
        return call

    async def asked(prompt: Prompt) -> Call:
        if answers[prompt]:
            return answers[prompt].popleft()
        call = await attempt(prompt)
        for wait in WAITS:
            if call.error is None or not call.error.retry:
                break
            await asyncio.sleep(wait)
            call = await attempt(prompt)
        return call

    return asked
