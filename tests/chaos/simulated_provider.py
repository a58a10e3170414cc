"""A provider of models behind the program's own client: it answers after a while, and not always well.

Everything above the network is real: forms, errors, retries and timers are those of `agents.llm`. What an
answer may be and how a call may fail is what `tests/provider/replies.py` serves over HTTP.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass, field, replace
from http.client import HTTPMessage
from random import Random
from typing import Any
from unittest.mock import patch

import httpx

from agents.demo.models import answer
from agents.llm.ask import _ACCEPTED, make_ask
from agents.llm.bodies import response_with_whole_counts
from agents.llm.library import litellm
from agents.model import Ask, Call, Message, ModelSettings, Prompt
from tests.chaos.loop import PROCESS, SeededLoop
from tests.chaos.question_history import ANSWER_CODES, QuestionHistory
from tests.provider.replies import BEHAVIOURS, Asked, fails, for_all_markets, says
from tests.serving import Reply

ADDRESS = "http://models.test/v1"
LATENCY = 12.0
LONG_LATENCY = 200.0
TOO_LATE = 1_000.0
"""Seconds that an answer takes at most, that a slow one takes at most, and after which nobody waits."""
OK = 200
OF_PATIENCE = 0.95
"""The share of the time that its asker waits which a slow answer takes at most."""
SLOW = 0.08
PASSING_SHARE = 0.05
"""How likely an answer is slow, and how likely a call meets a passing fault."""
LASTING_SHARE = 0.12
"""The share of questions that always get the same odd answer."""
DRIP_PAUSE = 0.4
DRIP_PIECES = 8

PASSING = (
    *("429", "busy", "busy-until", "busy-odd", "500", "502", "503", "529", "408"),
    *("hang", "drop", "reset", "truncated", "elsewhere", "refused-connection", "too-late"),
    *("broken-json", "choiceless", "messageless", "list", "queued", "nested", "digits", "html", "empty"),
    "not-utf-8",
)
"""Faults after which the same question may be asked again: the next answer is a good one."""
LASTING = (
    *("prose", "fenced", "thinking", "only-thinking", "two-objects", "duplicate-keys", "nan", "1e999"),
    *("booleans", "text-numbers", "percentage", "two-percentages", "unknown-ids", "10000-bets", "blank"),
    *("plays", "good", "cut", "cut-off", "half-filtered", "no-thanks", "filtered", "silent", "tools"),
    *("odd-names", "surrogate", "echo", "huge", "10-mb", "wrong-market", "drip"),
    *("uncounted", "usage-null", "usage-empty", "usage-text", "usage-negative", "usage-half"),
    *("usage-fraction", "usage-echo"),
)
"""What some questions always get as their answer, whoever asks."""
RARE = {"10-mb": 0.1, "huge": 0.2, "10000-bets": 0.3}
"""How likely an answer that costs much to read is given where it was drawn, so that a season stays quick."""
LEFT_OUT = {
    "401": "a wrong key ends the season until a person puts it right",
    "402": "as 401",
    "403": "as 401",
    "400": "a question that is always refused ends the season until a person looks",
    "404": "as 400",
    "413": "as 400",
    "422": "as 400",
    "long": "as 400",
    "policy": "as 400",
    "formless": "a server that takes no form: `FORMS` draws it for a whole season",
    "schemaless": "as formless",
    "usage-huge": "a cost that is not believed makes an incident, and no other answer",
    "echo-everywhere": "it names the key as the model, which `echo` does in the answer",
}
"""The faults of the provider's own suite that no season meets, and why."""
ORDERS_ALONE = 'with "forecasts" empty'
"""What a second question says whose forecasts all suffice."""
FORMS = ("", "", "schemaless", "formless")
"""What a provider refuses for a whole season: nothing, a schema, or any form of an answer."""

CALL: ContextVar["ProviderCall"] = ContextVar("provider_call")


@dataclass
class ProviderCall:
    """A call: which process asked what, and how it ended: "" while it is under way, `answer`, or a code."""

    process: str
    question: str
    patience: float
    """For how many seconds the answer is waited for."""
    fixed_form: bool = False
    """Whether its agent's settings leave no other form of an answer to be asked for."""
    optional: bool = False
    """Whether its agent may go on without it: it is one of several samples, or about refused orders alone."""
    outcome: str = ""


@dataclass
class Provider:
    """Answers after a while, and remembers who asked what. An answer waits until its process reads it.

    `number` is the config's: lasting faults and refused forms are drawn by it. Passing ones meet nobody
    unless it is `troubled`.
    """

    loop: SeededLoop
    chance: Random
    history: QuestionHistory
    number: int = 0
    troubled: bool = False
    calls: list[ProviderCall] = field(default_factory=list)
    away_until: float = 0.0
    away_with: str = "503"
    once_troubled: set[str] = field(default_factory=set)
    """The optional questions that have met a fault."""

    def __post_init__(self) -> None:
        self.refuses = Random(f"forms {self.number}").choice(FORMS)

    def make_ask(self, settings: ModelSettings, _timer: object, _environ: Mapping[str, str]) -> Ask:
        """Return what asks a model, as `make_ask` does, by the loop's own time."""
        model_ask = make_ask(settings, self.loop.time, {})

        async def ask(prompt: Prompt) -> Call:
            fixed = settings.form is not None
            optional = prompt.shared or ORDERS_ALONE in prompt.messages[-1].content
            call = ProviderCall(PROCESS.get(), name_of(prompt), settings.timeout, fixed, optional)
            self.calls.append(call)
            CALL.set(call)

            number = self.history.asked(call.question)
            answered = await model_ask(prompt)
            code = None if answered.error is None else answered.error.code
            call.outcome = code or "answer"
            self.history.ended(number, "answer" if code in ANSWER_CODES else "error")
            return answered

        return ask

    # ---- what the network brings

    async def handle(self, request: httpx.Request) -> httpx.Response:
        """Answer a request, as a transport does."""
        call = CALL.get()
        asked_headers = HTTPMessage()
        for name, value in request.headers.items():
            asked_headers[name] = value
        reply, seconds = self.reply_to(call, Asked(json.loads(request.content), asked_headers, 0.0, 1))
        await self.arrival(seconds)

        if reply.how in ("drop", "cut"):
            raise httpx.RemoteProtocolError(
                "Server disconnected without sending a response.", request=request
            )
        if reply.how == "reset":
            raise httpx.ReadError("Connection reset by peer", request=request)
        if reply.status == 0:
            raise httpx.ConnectError("All connection attempts failed", request=request)

        headers = {"Content-Type": "application/json", **reply.headers}
        pieces = self.pieces(reply)
        response = httpx.Response(reply.status, headers=headers, content=pieces, request=request)
        return await response_with_whole_counts(response)

    def reply_to(self, call: ProviderCall, asked: Asked) -> tuple[Reply, float]:
        """Return what a call gets, and after how many seconds."""
        seconds = self.chance.uniform(0.1, LATENCY)
        if self.chance.random() < SLOW:
            seconds = self.chance.uniform(seconds, min(LONG_LATENCY, OF_PATIENCE * call.patience))

        fault = self.passing_fault(call)
        if fault == "too-late":
            return self.good_reply(asked), TOO_LATE
        if fault == "refused-connection":
            return Reply(b"", 0), 0.1
        if fault:
            reply = reply_of(fault, asked)
            return reply, TOO_LATE if reply.how == "hang" else seconds
        return self.lasting_reply(call, asked), seconds

    def lasting_reply(self, call: ProviderCall, asked: Asked) -> Reply:
        """Return what a question gets from a provider without trouble, the same each time."""
        refused = BEHAVIOURS.get(self.refuses)
        if callable(refused) and refused(asked).status != OK and not call.fixed_form:
            return refused(asked)

        lasting = self.lasting_fault(call.question)
        if lasting == "wrong-market":
            return says('{"forecasts": [{"market": "m99", "probability": 0.4}]}')
        if lasting == "drip":
            return replace(self.good_reply(asked), how="drip")
        if lasting:
            return reply_of(lasting, asked)
        return self.good_reply(asked)

    def passing_fault(self, call: ProviderCall) -> str:
        """Draw the name of a passing fault; empty for none.

        An optional question meets one at most. If all attempts at it failed, its agent would decide without
        it: then the season ends in another state, as it should.
        """
        if not self.troubled or call.question in self.once_troubled:
            return ""

        fault = ""
        if self.loop.moment < self.away_until:
            fault = self.away_with
        elif self.chance.random() < PASSING_SHARE:
            fault = self.chance.choice(PASSING)
        if fault and call.optional:
            self.once_troubled.add(call.question)
        return fault

    def lasting_fault(self, question: str) -> str:
        """Return the name of the odd answer that a question always gets; empty for none."""
        chance = Random(f"{self.number} {question}")
        if chance.random() >= LASTING_SHARE:
            return ""
        name = chance.choice(LASTING)
        return name if chance.random() < RARE.get(name, 1.0) else ""

    def good_reply(self, asked: Asked) -> Reply:
        """Return what the demo's model of that name answers."""
        messages = [Message(item["role"], text_of(item)) for item in asked.body["messages"]]
        seed = int(asked.body.get("seed") or 0)
        return says(answer(asked.model, messages, seed), model=asked.model)

    async def arrival(self, seconds: float) -> None:
        """Wait until an answer arrives; it does so whether its process is awake or not."""
        arrived: asyncio.Future[None] = self.loop.create_future()
        self.loop.call_later(seconds, finish, arrived, context=Context())
        await arrived

    async def pieces(self, reply: Reply) -> Any:
        """Yield the body, in one piece or slowly in several."""
        if reply.how != "drip":
            yield reply.body
            return

        size = -(-len(reply.body) // DRIP_PIECES)
        for start in range(0, len(reply.body), size):
            await self.arrival(DRIP_PAUSE)
            yield reply.body[start : start + size]

    @contextmanager
    def behind_client(self) -> Iterator[None]:
        """Let every model of the demo be asked through the program's own client, which sends to this."""
        litellm()
        from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER
        from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

        async def handle(_transport: object, request: httpx.Request) -> httpx.Response:
            return await self.handle(request)

        def note_nothing(async_coroutine: Any) -> None:
            """Leave out what the library would log by itself, in tasks that belong to no process."""
            async_coroutine.close()

        async def stay_open() -> None:
            """Leave the library's clients open, which all processes of a season share."""

        _ACCEPTED.clear()
        litellm().in_memory_llm_clients_cache.flush_cache()
        with (
            patch.object(LiteLLMAiohttpTransport, "handle_async_request", handle),
            patch.object(GLOBAL_LOGGING_WORKER, "ensure_initialized_and_enqueue", note_nothing),
            patch.dict("os.environ", {"ARENA_DEMO_PROVIDER": ADDRESS}),
            patch("arena.rounds.adapters.make_ask", self.make_ask),
            patch("arena.rounds.open_world.close", stay_open),
        ):
            yield


def reply_of(name: str, asked: Asked) -> Reply:
    """Return what the provider's own suite serves under a name."""
    behaviour = BEHAVIOURS.get(name) or fails(404, f"there is no {name}")
    reply = behaviour if isinstance(behaviour, Reply) else behaviour(asked)
    return for_all_markets(reply, asked)


def finish(arrived: "asyncio.Future[None]") -> None:
    """Let who waits go on, if somebody still does."""
    if not arrived.done():
        arrived.set_result(None)


def text_of(item: Mapping[str, Any]) -> str:
    """Return the text of a message."""
    return str(item["content"])


def name_of(prompt: Prompt) -> str:
    """Return what two calls have in common that ask the same question."""
    contents = [message.content for message in prompt.messages]
    return json.dumps([contents, prompt.seed, prompt.stage, prompt.sample])
