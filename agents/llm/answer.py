"""What a provider answered, as a call: its own name for the model, its own count, the thinking it shows."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.answers.json_text import MOST_TEXT, NotOneObject, bare_object
from agents.llm.library import PAUSED
from agents.model import Call, CallError, ModelSettings, Prompt, Rung
from agents.model_table.belief import usage_doubt
from agents.model_table.cost import usage_cost, worst_case
from agents.model_table.usage import TokenUsage, read_usage
from agents.secrets import remove_secrets
from agents.steps import request_text
from agents.text import as_text, one_line, printable

MOST_SOURCES, LONGEST_SOURCE = 200, 2_000
"""So many addresses of so many characters are kept of an answer."""
DECLINED = "the model declined to answer"
NO_END = "the stream ended without its answer: invalid response"
_FENCE = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)
_NOTHING = {
    "content_filter": CallError("declined", "the provider's content filter blocked the answer", retry=False),
    "none": CallError("other", "the provider sent an empty answer", retry=True),
}
"""Why a call has no reply, by how it finished."""


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """What came back, on whichever wire; `refusal` is what a model says in place of an answer."""

    reply: str = ""
    refusal: str | None = None
    finish: str = "none"
    model: str = ""
    fingerprint: str = ""
    host: str = ""
    thinking: str = ""
    citations: tuple[str, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)


class StreamBroken(Exception):
    """A stream that ended before its answer was whole: the error, and what had come by then."""

    def __init__(self, fault: Exception, partial: WireAnswer):
        super().__init__(str(fault))
        self.fault = fault
        self.partial = partial


def chat_answer(answer: Any, provider: str, prompt: Prompt) -> WireAnswer:
    """An answer as litellm hands it on: one for the form that answers have, also where it calls a tool.

    Where it had tools to use, a call of one is a request for it.
    """
    reply, refusal, finish, thinking = "", None, "none", ""
    usage = read_usage(answer)
    if answer.choices:
        message, finish = answer.choices[0].message, answer.choices[0].finish_reason or ""
        if prompt.tools and getattr(message, "tool_calls", None):
            reply = request_text(message, prompt)
        else:
            uses = getattr(message, "tool_calls", None) or ()  # of a model that took its form for a tool
            said = (message.content, *(as_text(use.function.arguments) for use in uses))
            reply = "\n".join(filter(None, said))
        refusal = _refusal(message)
        if provider == "anthropic" and finish == "content_filter":  # its own word for it is refusal
            reply, refusal = "", reply
        thinking = as_text(getattr(message, "reasoning_content", None))
        if not reply and refusal is None and finish == "stop" and is_whole_answer(thinking):
            # A server that parts thinking from answers by a mark takes all for thinking where none came.
            reply = thinking
            thinking = ""
    return WireAnswer(
        reply,
        refusal,
        finish,
        as_text(answer.model),
        as_text(getattr(answer, "system_fingerprint", None)),
        as_text(getattr(answer, "provider", None)),
        thinking,
        tuple(dict.fromkeys(_sources(answer))),
        replace(usage, reasoning=0) if provider == "anthropic" else usage,  # a guess of the library's
    )


def is_whole_answer(text: str) -> bool:
    """Return whether a text is one JSON object with forecasts or orders, and nothing else."""
    fence = _FENCE.fullmatch(text.strip())
    try:
        whole = bare_object(text.strip() if fence is None else fence[1])
    except NotOneObject:
        return False
    return any(isinstance(whole.get(name), list) for name in ("forecasts", "bets", "sales"))


def _refusal(message: Any) -> str | None:
    """Return what a model says in place of an answer, None where it says nothing of the kind."""
    # litellm 1.106 keeps it beside the message's own fields, 1.110 in the message itself.
    own = as_text(getattr(message, "refusal", None))
    kept_apart = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")

    return own or as_text(kept_apart) or None


def answered_call(
    prompt: Prompt,
    settings: ModelSettings,
    rung: Rung,
    answer: WireAnswer,
    latency: int,
    secrets: Sequence[str],
) -> Call:
    """Return the call as the provider tells it; a usage that can't be true is booked at the worst case."""

    def clean(text: str, most: int = MOST_TEXT) -> str:
        return remove_secrets(printable(text[:most]), secrets)

    reply, finish, usage = answer.reply, answer.finish, answer.usage
    if len(reply) > MOST_TEXT:
        finish = "length"
    error = None if reply else _NOTHING.get(finish)
    if answer.refusal is not None and not reply:
        reply = answer.refusal
        words = f"{DECLINED}: {clean(reply)}" if reply else DECLINED
        error = CallError("declined", one_line(words), retry=False)
    elif finish == PAUSED:
        words = f"the provider paused a long search before the answer ({PAUSED}): let it search less"
        error = CallError("other", words, retry=False)
    cost = usage_cost(settings, usage, replied=bool(reply))
    worst = worst_case(prompt, settings)
    doubt = usage_doubt(usage, cost, worst, prompt, settings)
    if doubt:
        usage = TokenUsage()
        cost = worst

    return Call(
        prompt,
        clean(reply),
        finish=clean(finish),
        model=clean(answer.model),
        fingerprint=clean(answer.fingerprint),
        rung=rung,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost=cost,
        latency_ms=latency,
        error=error,
        thinking=clean(answer.thinking),
        citations=tuple(clean(url, LONGEST_SOURCE) for url in answer.citations[:MOST_SOURCES]),
        host=clean(answer.host),
        tokens_reasoning=usage.reasoning,
        tokens_cached=usage.cached,
        tokens_cache_write=usage.cache_write,
        status=200,
        usage_doubt=doubt,
    )


def _sources(answer: Any) -> Iterator[str]:
    """The addresses that an answer names as sources, wherever its provider puts them."""
    message = answer.choices[0].message if answer.choices else None
    own = (getattr(message, "provider_specific_fields", None) or {}).get("citations")
    grounding = getattr(answer, "vertex_ai_grounding_metadata", None)
    places = (getattr(message, "annotations", None), own, getattr(answer, "citations", None), grounding)
    for place in places:
        yield from _addresses(place)


def _addresses(value: Any, depth: int = 6) -> Iterator[str]:
    """Every address in what a provider says of its sources."""
    if isinstance(value, str) and value.startswith(("https://", "http://")):
        yield value
    elif isinstance(value, Mapping) and depth:
        for name in ("url", "uri", "url_citation", "web", "groundingChunks"):
            yield from _addresses(value.get(name), depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for each in value:
            yield from _addresses(each, depth - 1)
