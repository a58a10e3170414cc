"""A server on this machine that speaks OpenAI chat and Responses, Anthropic, Gemini, Ollama and OpenRouter.

    with wires() as server:
        settings = server.settings("anthropic", "refusal")       # a block of config: model and base_url
        call = asyncio.run(make_ask(ModelSettings(**settings), timer, {})(prompt))
        server.log[-1].body                                      # what was sent, as it came
        server.charged("anthropic", input_price=4, output_price=20)  # dollars that such a provider asks for

A mode says what a question gets; it is the first element of the address, so that agents in one config may
each have their own. `MODES` has those with a name; `server.script("mine", …)` makes one of a `ModelAnswer`,
of a `Refused`, of a function of the request, or of several: the next questions get one each, and the last
for ever. Every request is checked as its provider checks it (`tests/provider/wires.py`): an unknown
parameter is a 400. What is asked for as a stream comes as one; `Manner` says how slowly, and where it breaks.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from arena.clock import timer
from tests.provider.model_answer import Body, ModelAnswer, Refused
from tests.provider.wires import WIRES, Ollama, Wire
from tests.serving import Reply, Request, Server, serving

MODELS = {
    "openai": ("openai/gpt-5.6", "/v1"),
    "responses": ("openai/gpt-5.5-pro", "/v1"),
    "xai": ("xai/grok-4.20-multi-agent", "/v1"),
    "anthropic": ("anthropic/claude-opus-5-5", ""),
    "gemini": ("gemini/gemini-3.8-flash", "/v1beta"),
    "ollama": ("ollama_chat/llama3.1", ""),
    "openrouter": ("openrouter/anthropic/claude-opus-5-5", "/api/v1"),
}
"""By each wire a model of it, and what its address ends in."""


@dataclass(frozen=True)
class Manner:
    """How an answer comes: after so many seconds, with pauses between parts of a stream, or broken off.

    Of a stream only the first `parts` are sent, and then it ends like a whole one. Each count of tokens is
    written by `count`, in which the number stands for `{}`.
    """

    answer: ModelAnswer
    after: float = 0.0
    pause: float = 0.0
    broken: bool = False
    parts: int | None = None
    count: str = "{}"


@dataclass(frozen=True)
class WireRequest:
    """A question as it came: by which wire, in which mode, and what its answer charges for."""

    wire: str
    mode: str
    target: str
    body: Body
    headers: Mapping[str, str]
    at: float
    answer: ModelAnswer | None = None
    status: int = 200


Given = ModelAnswer | Refused | Manner
Script = Given | Callable[[WireRequest], Given]
THOUGHT = ModelAnswer(thinking="Rain is likely.", thought=8_000)


def _without_form(request: WireRequest) -> Given:
    """Refuse a request for as long as a form is asked for."""
    refused = Refused("response_format is not supported here")
    return ModelAnswer() if form_of_body(request.body) == "prompt" else refused


def _without_seed(request: WireRequest) -> Given:
    """Refuse a request for as long as a seed is sent, wherever in the body."""
    refused = Refused("Unknown parameter: 'seed'.")
    return refused if '"seed"' in json.dumps(request.body) else ModelAnswer()


def form_of_body(body: Body) -> str:
    """Return which form of answer a question asks for, on any wire: schema, json or prompt."""
    names = "response_format text output_config output_format format generationConfig tools"
    text = json.dumps({name: body.get(name) for name in names.split()})
    if "probability" in text:
        return "schema"
    return "json" if '"json_object"' in text or '"json"' in text or "application/json" in text else "prompt"


MODES: Mapping[str, Script] = {
    "good": ModelAnswer(),
    # turned down
    "no-form": _without_form,
    "no-seed": _without_seed,
    "rate-limit": Refused("Rate limit reached", 429, "rate_limit_exceeded", {"Retry-After": "2"}),
    "no-credit": Refused("Insufficient credits. Add more to continue.", 402, "payment_required"),
    "no-quota": Refused("You exceeded your current quota, please check it.", 429, "insufficient_quota"),
    "low-balance": Refused("Your credit balance is too low to access the API. Please go to Plans & Billing."),
    "bad-key": Refused("invalid x-api-key", 401, "authentication_error"),
    "forbidden": Refused("Your key has no permission to use this model", 403, "permission_error"),
    "moderated": Refused("Your input was flagged by moderation", 403, "moderation"),
    "policy": Refused("The prompt was filtered by the content management policy", 400, "content_filter"),
    "too-long": Refused("prompt is too long: 300000 tokens > 200000 maximum"),
    # answered in part, or not at all
    "refusal": ModelAnswer(text="I can't help with betting.", finish="refusal"),
    "silent-refusal": ModelAnswer(text="", finish="silent_refusal"),
    "filtered": ModelAnswer(text="", finish="filter"),
    "blocked": ModelAnswer(text="", finish="blocked"),
    "pause": ModelAnswer(text="Let me look further.", finish="pause"),
    # counted in other ways
    "thinking": THOUGHT,
    "cached": ModelAnswer(cached=800),
    "cited": ModelAnswer(citations=("https://a.example/1", "https://b.example/2")),
    "told-cost": ModelAnswer(cost=0.0123, host="Anthropic"),
    # in its own time
    "broken": Manner(replace(THOUGHT, text='{"forecasts": []}'), broken=True),
    "early": Manner(replace(THOUGHT, text='{"forecasts": []}'), parts=4),
    "no-part": Manner(THOUGHT, parts=0),
}
"""What a question gets, by name."""


class WireServer(Server):
    """Answers by the mode in the address, and remembers every question."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[WireRequest] = []
        self._scripts: dict[str, list[Script]] = {}

    def settings(self, wire: str, mode: str = "good", **more: Any) -> dict[str, Any]:
        """Return the keys of an agent's block that lead to a wire and a mode."""
        model, ending = MODELS[wire]
        return {"model": model, "base_url": f"{self.url}/{mode}{ending}"} | more

    def script(self, mode: str, *behaviours: Script) -> None:
        """Set what the next questions in a mode get."""
        with self.lock:
            self._scripts[mode] = list(behaviours)

    def charged(self, wire: str, input_price: float, output_price: float) -> float:
        """Return dollars for every answer on a wire, at prices in dollars per million tokens."""
        answers = [asked.answer for asked in self.log if asked.wire == wire and asked.answer is not None]
        return sum(each.sent * input_price + each.got * output_price for each in answers) / 1_000_000

    def respond(self, request: Request) -> Reply:
        mode, _, path = request.target.lstrip("/").partition("/")
        path = f"/{path}".partition("?")[0]
        wire = next((each for each in WIRES.values() if path.endswith(each.paths)), None)
        if wire is None or "/v1/v1" in path:
            return Reply(json.dumps({"error": {"message": f"nothing is at {path}"}}).encode(), 404)
        if path.startswith("/api/v1/"):
            wire = WIRES["openrouter"]
        body = json.loads(request.body)
        asked = WireRequest(wire.name, mode, request.target, body, dict(request.headers), timer())
        try:
            wire.check(body)
            given = self._given(asked)
            if isinstance(given, Refused):
                raise given
        except Refused as refused:
            self._remember(replace(asked, status=refused.status))
            return Reply(json.dumps(wire.error(refused)).encode(), refused.status, refused.headers)
        manner = given if isinstance(given, Manner) else Manner(given)
        answer = manner.answer
        if isinstance(wire, Ollama):
            answer = replace(answer, sent=wire.read_tokens(body))
        self._remember(replace(asked, answer=answer))
        return _reply(wire, replace(manner, answer=answer), asked)

    def _given(self, asked: WireRequest) -> Given:
        with self.lock:
            script = self._scripts.get(asked.mode)
            chosen = MODES.get(asked.mode) if not script else script.pop(0) if len(script) > 1 else script[0]
        if chosen is None:
            return Refused(f"there is no mode {asked.mode}", 404)
        return chosen(asked) if callable(chosen) else chosen

    def _remember(self, asked: WireRequest) -> None:
        with self.lock:
            self.log.append(asked)


def _reply(wire: Wire, manner: Manner, asked: WireRequest) -> Reply:
    how: Any = "cut" if manner.broken else "whole"
    tier = manner.answer.tier
    told_tier = tier and wire.name == "gemini"
    wire_headers = {"x-gemini-service-tier": tier.replace("default", "standard")} if told_tier else {}
    if not (asked.body.get("stream") or ":stream" in asked.target):
        whole = _with_counts(json.dumps(wire.whole(manner.answer, asked.body)).encode(), manner.count)
        return Reply(whole, 200, wire_headers, how, manner.after)
    events = tuple(wire.events(manner.answer, asked.body))[: manner.parts]
    pieces = tuple(_with_counts(event, manner.count) for event in events)
    kind = "application/x-ndjson" if isinstance(wire, Ollama) else "text/event-stream"
    head = {"Content-Type": kind, **wire_headers}
    return Reply(b"".join(pieces), 200, head, how, manner.after, pieces, manner.pause)


_COUNT = re.compile(r'"(\w*(?:_tokens|TokenCount|eval_count|_requests))": ([0-9]+)')


def _with_counts(text: bytes, count: str) -> bytes:
    """Return an answer with its counts of tokens written in another way."""
    return _COUNT.sub(lambda found: f'"{found[1]}": {count.format(found[2])}', text.decode()).encode()


@contextmanager
def wires() -> Iterator[WireServer]:
    """Yield the server for as long as the block lasts."""
    with serving(WireServer()) as server:
        yield server
