"""A provider of models that answers after a while, and remembers who asked what."""

import asyncio
import json
from dataclasses import dataclass, field
from random import Random

from agents.demo.models import answer
from agents.llm import patience as waiting
from agents.model import Ask, Call, ModelSettings, Prompt
from tests.chaos.loop import PROCESS

TIMEOUT = 30.0
LATENCY = 12.0
"""Seconds that a process waits for an answer, and that an answer takes at most."""


@dataclass
class Provider:
    """Answers after a while, and remembers who asked what. An answer waits until its process reads it."""

    chance: Random
    asked: list[tuple[str, str]] = field(default_factory=list)
    """The process and the question of each call."""

    def ask_of(self, settings: ModelSettings) -> Ask:
        """Return what asks a model, as `make_ask` does over HTTP."""

        async def ask(prompt: Prompt) -> Call:
            loop = asyncio.get_running_loop()
            self.asked.append((PROCESS.get(), name_of(prompt)))

            arrived: asyncio.Future[str] = loop.create_future()
            reply = answer(settings.model.partition("/")[2], prompt.messages, prompt.seed or 0)
            loop.call_later(self.chance.uniform(0.1, LATENCY), arrived.set_result, reply)

            async with waiting.patience(TIMEOUT):
                return Call(prompt, await arrived, finish="stop", cost=100)

        return ask


def name_of(prompt: Prompt) -> str:
    """Return what two calls have in common that ask the same question."""
    contents = [message.content for message in prompt.messages]
    return json.dumps([contents, prompt.seed, prompt.stage, prompt.sample])
