"""Answers of providers as calls: their own name for the model, their own count, the thinking they show."""

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

MOST_SOURCES = 200
LONGEST_SOURCE = 2_000
"""The most addresses kept of an answer, and the most characters of each."""
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
    """What came back, on whichever wire; `refusal` is the text with which a model refuses to answer."""

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
    """A stream ended before its answer was whole: the error, and what had arrived by then."""

    def __init__(self, fault: Exception, partial: WireAnswer):
        super().__init__(str(fault))
        self.fault = fault
        self.partial = partial


def chat_answer(answer: Any, provider: str, prompt: Prompt) -> WireAnswer:
    """Return what litellm hands on of an answer.

    If the model had tools to use, its call of a tool is the reply: a request for what the tool tells.
    """
    usage = read_usage(answer)
    if provider == "anthropic":
        usage = replace(usage, reasoning=0)  # the library has guessed it

    without_reply = WireAnswer(
        model=as_text(answer.model),
        fingerprint=as_text(getattr(answer, "system_fingerprint", None)),
        host=as_text(getattr(answer, "provider", None)),
        citations=tuple(dict.fromkeys(_sources(answer))),
        usage=usage,
    )
    if not answer.choices:
        return without_reply

    message = answer.choices[0].message
    finish = answer.choices[0].finish_reason or ""
    reply = _reply(message, prompt)
    refusal = _refusal(message)
    if provider == "anthropic" and finish == "content_filter":  # its own word for it is refusal
        refusal = reply
        reply = ""

    thinking = as_text(getattr(message, "reasoning_content", None))
    has_no_answer = not reply and refusal is None and finish == "stop"
    if has_no_answer and is_whole_answer(thinking):
        # A server that separates thinking from answers by a mark takes all for thinking if no mark came.
        reply = thinking
        thinking = ""

    return replace(without_reply, reply=reply, refusal=refusal, finish=finish, thinking=thinking)


def _reply(message: Any, prompt: Prompt) -> str:
    """Return the reply in a message, also that of a model that took the form of the answer for a tool."""
    calls = getattr(message, "tool_calls", None) or ()
    if prompt.tools and calls:
        return request_text(message, prompt)

    arguments = [as_text(call.function.arguments) for call in calls]
    return "\n".join(filter(None, [message.content, *arguments]))


def is_whole_answer(text: str) -> bool:
    """Return whether a text is one JSON object with forecasts or orders, and nothing else."""
    content = text.strip()
    fence = _FENCE.fullmatch(content)
    if fence is not None:
        content = fence[1]
    try:
        answer = bare_object(content)
    except NotOneObject:
        return False

    return any(isinstance(answer.get(name), list) for name in ("forecasts", "bets", "sales"))


def _refusal(message: Any) -> str | None:
    """Return the text with which a model refuses to answer; None if it doesn't refuse."""
    # litellm 1.106 keeps it beside the message's own fields, 1.110 in the message itself.
    in_message = as_text(getattr(message, "refusal", None))
    beside_fields = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")

    return in_message or as_text(beside_fields) or None


def answered_call(
    prompt: Prompt,
    settings: ModelSettings,
    rung: Rung,
    answer: WireAnswer,
    latency: int,
    secrets: Sequence[str],
) -> Call:
    """Return the call as the provider tells it; a usage that can't be true is booked at the worst case."""

    def clean(text: str, limit: int = MOST_TEXT) -> str:
        return remove_secrets(printable(text[:limit]), secrets)

    reply = answer.reply
    finish = "length" if len(reply) > MOST_TEXT else answer.finish
    error = None if reply else _NOTHING.get(finish)
    if answer.refusal is not None and not reply:
        reply = answer.refusal
        message = f"{DECLINED}: {clean(reply)}" if reply else DECLINED
        error = CallError("declined", one_line(message), retry=False)
    elif finish == PAUSED:
        message = f"the provider paused a long search before the answer ({PAUSED}): let it search less"
        error = CallError("other", message, retry=False)

    usage = answer.usage
    cost = usage_cost(settings, usage, replied=bool(reply))
    largest_cost = worst_case(prompt, settings)
    doubt = usage_doubt(usage, cost, largest_cost, prompt, settings)
    if doubt:
        usage = TokenUsage()
        cost = largest_cost

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
    """Yield the addresses that an answer names as sources, wherever its provider puts them."""
    message = answer.choices[0].message if answer.choices else None
    own_fields = getattr(message, "provider_specific_fields", None) or {}

    yield from _addresses(getattr(message, "annotations", None))
    yield from _addresses(own_fields.get("citations"))
    yield from _addresses(getattr(answer, "citations", None))
    yield from _addresses(getattr(answer, "vertex_ai_grounding_metadata", None))


def _addresses(value: Any, levels_left: int = 6) -> Iterator[str]:
    """Yield every address in what a provider says of its sources, at most so deep."""
    if isinstance(value, str) and value.startswith(("https://", "http://")):
        yield value
    elif isinstance(value, Mapping) and levels_left:
        for name in ("url", "uri", "url_citation", "web", "groundingChunks"):
            yield from _addresses(value.get(name), levels_left - 1)
    elif isinstance(value, list | tuple) and levels_left:
        for item in value:
            yield from _addresses(item, levels_left - 1)
