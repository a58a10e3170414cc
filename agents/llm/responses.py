"""OpenAI's Responses form, in which alone some models answer: one question, and its answer as a stream."""

import json
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from types import SimpleNamespace
from typing import Any

import httpx

from agents.llm.addresses import model_name
from agents.llm.answer import NO_END, StreamBroken, WireAnswer
from agents.llm.patience import patience
from agents.llm.tape import TapedClient
from agents.model import Message, ModelSettings, Prompt, Rung
from agents.model_table.counts import whole_usage
from agents.model_table.usage import read_usage
from agents.prompts.answer_schema import answer_schema
from agents.steps import request_text, step_message
from agents.text import as_text

LEAST_TOKENS = 16
"""Fewer may not be asked for."""
_CUT = {"max_output_tokens": "length", "content_filter": "content_filter"}
_STATUS = {"rate_limit_exceeded": 429, "server_error": 500, "insufficient_quota": 429}
"""The status of an error that comes in a stream which began well."""


class ResponseRefused(Exception):
    """A server has refused to answer: its own words, its status, and the response with its headers."""

    def __init__(self, message: str, status_code: int, response: httpx.Response | None = None):
        super().__init__(message)
        self.status_code = status_code
        self.response = response


@cache
def _tls() -> ssl.SSLContext:
    """Make the settings of encryption, which takes time, once."""
    return ssl.create_default_context()


def response_body(prompt: Prompt, settings: ModelSettings, rung: Rung) -> dict[str, Any]:
    """Return what is sent. What isn't set isn't sent; a seed can't be."""
    extra = dict(settings.extra)
    extra_body = extra.pop("extra_body", None)
    search = extra.pop("web_search_options", None)
    body: dict[str, Any] = {"store": False}
    if search is not None:
        body["tools"] = [{"type": "web_search", **(search if isinstance(search, dict) else {})}]
    if settings.reasoning is not None:
        body["reasoning"] = {"effort": settings.reasoning}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if rung == "schema":
        schema = answer_schema(prompt.bets, prompt.kinds)
        body["text"] = {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}}
    elif rung == "json":
        body["text"] = {"format": {"type": "json_object"}}
    body.update(extra)
    if isinstance(extra_body, dict):
        body.update(extra_body)

    if prompt.tools:
        body["tools"] = [
            {
                "type": "function",
                "strict": False,
                "name": form.name,
                "description": form.about,
                "parameters": form.parameters,
            }
            for form in prompt.tools
        ]
        body["tool_choice"] = "none" if prompt.must_answer else "auto"

    token_limit = prompt.max_tokens or settings.max_tokens
    return body | {
        "model": model_name(settings),
        "input": list(chain.from_iterable(map(_input_items, prompt.messages))),
        settings.max_tokens_key or "max_output_tokens": max(token_limit, LEAST_TOKENS),
        "stream": True,
    }


def _input_items(message: Message) -> Iterator[dict[str, Any]]:
    """Yield the items of a message in the Responses form, which has one of its own for each use of a tool."""
    step = step_message(message)
    if step is None:
        yield {"role": message.role, "content": message.content}
    elif message.role == "tool":
        yield {
            "type": "function_call_output",
            "call_id": step["tool_call_id"],
            "output": step["content"],
        }
    else:
        if step["content"]:
            yield {"role": "assistant", "content": step["content"]}
        for call in step["tool_calls"]:
            yield {"type": "function_call", "call_id": call["id"], **call["function"]}


@dataclass(slots=True)
class _ResponseStream:
    """What has arrived of an answer: pieces of its text and of its thinking."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)

    def take(self, event: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Take what an event adds; return the whole response with the last one.

        Raise `ResponseRefused` for an error.
        """
        kind = str(event.get("type"))
        delta = event.get("delta")
        if isinstance(delta, str):
            if kind == "response.output_text.delta":
                self.texts.append(delta)
            elif kind.startswith("response.reasoning"):
                self.thoughts.append(delta)

        if kind in ("response.failed", "error"):
            error = (event.get("response") or {}).get("error") or event.get("error") or event
            code = as_text(error.get("code")) or "server_error"
            raise ResponseRefused(f"{code}: {error.get('message')}", _STATUS.get(code, 400))
        if kind in ("response.completed", "response.incomplete"):
            response = event.get("response")
            if isinstance(response, Mapping):
                return response
            return {}
        return None


async def ask_response(
    url: str, key: str | None, body: Mapping[str, Any], longest: float, idle: float, prompt: Prompt
) -> WireAnswer:
    """Ask a question and return the answer; raise `StreamBroken` if it breaks off after its beginning."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    stream = _ResponseStream()
    try:
        async with (
            patience(longest, idle) as note_arrival,
            TapedClient(timeout=httpx.Timeout(None, connect=30.0), verify=_tls()) as client,
            client.stream("POST", url, headers=headers, json=dict(body)) as response,
        ):
            if response.status_code != 200:
                await response.aread()
                raise ResponseRefused(_message_in_error_body(response.text), response.status_code, response)

            async for event in _events(response, note_arrival):
                completed = stream.take(event)
                if completed is not None:
                    return response_answer(completed, prompt, "".join(stream.thoughts))
        raise ResponseRefused(NO_END, 200)
    except (httpx.HTTPError, TimeoutError, ResponseRefused) as error:
        if not stream.texts and not stream.thoughts:
            raise
        partial = WireAnswer("".join(stream.texts), finish="cut", thinking="".join(stream.thoughts))
        raise StreamBroken(error, partial) from error


async def _events(
    response: httpx.Response, note_arrival: Callable[[], None]
) -> AsyncIterator[dict[str, Any]]:
    """Yield the events of a stream; what a server sends that doesn't stream counts as the last event."""
    if "event-stream" not in response.headers.get("content-type", ""):
        body = json.loads(await response.aread())
        yield {"type": "response.completed", "response": body}
        return

    async for line in response.aiter_lines():
        note_arrival()
        if line.startswith("data:") and line[5:].strip() not in ("", "[DONE]"):
            event = json.loads(line[5:])
            if isinstance(event, dict):
                yield event


@dataclass(slots=True)
class _Output:
    """What the output of a response holds, item by item."""

    reply: str = ""
    thinking: str = ""
    refusals: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    searches: int = 0
    tool_calls: list[SimpleNamespace] = field(default_factory=list)

    def take(self, item: Mapping[str, Any], prompt: Prompt) -> None:
        """Take an item: a message, a use of a tool, a search, or thinking."""
        kind = item.get("type")
        if kind == "web_search_call":
            self.searches += 1
        elif kind == "function_call" and prompt.tools:
            function = SimpleNamespace(
                name=as_text(item.get("name")), arguments=as_text(item.get("arguments"))
            )
            self.tool_calls.append(SimpleNamespace(id="", function=function))
        elif kind == "function_call":
            self.reply = "\n".join(filter(None, (self.reply, as_text(item.get("arguments")))))
        elif kind == "reasoning" and not self.thinking:
            self.thinking = "\n".join(as_text(part.get("text")) for part in _mappings(item.get("summary")))
        elif kind == "message":
            self.reply = ""  # the last message is the answer
            for part in _mappings(item.get("content")):
                self._take_part(part)

    def _take_part(self, part: Mapping[str, Any]) -> None:
        """Take a part of a message: its text, the addresses in its notes, or a refusal."""
        self.reply += as_text(part.get("text"))
        if part.get("type") == "refusal":
            self.refusals.append(as_text(part.get("refusal")))
        for note in _mappings(part.get("annotations")):
            if note.get("type") == "url_citation":
                self.sources.append(as_text(note.get("url")))


def response_answer(response: Mapping[str, Any], prompt: Prompt, thinking: str) -> WireAnswer:
    """Return the answer in a whole response: its last message, or the tools that it asks for."""
    output = _Output(thinking=thinking)
    for item in _mappings(response.get("output")):
        output.take(item, prompt)

    reply = output.reply
    if output.tool_calls:
        reply = request_text(SimpleNamespace(content=reply, tool_calls=output.tool_calls), prompt)
    with_usage = SimpleNamespace(
        usage=_usage_by_chat_names(response, output.searches), service_tier=response.get("service_tier")
    )
    reason = as_text((response.get("incomplete_details") or {}).get("reason"))
    finish = "none"
    if response.get("output") or reason:
        finish = _CUT.get(reason, reason or "stop")

    return WireAnswer(
        reply,
        "".join(output.refusals) if output.refusals else None,
        finish,
        as_text(response.get("model")),
        thinking=output.thinking,
        citations=tuple(dict.fromkeys(filter(None, output.sources))),
        usage=read_usage(with_usage),
    )


def _usage_by_chat_names(response: Mapping[str, Any], searches: int) -> dict[str, Any]:
    """Return the counts of tokens by the names that a chat has for them."""
    counts = whole_usage(response.get("usage"))
    return {
        **counts,
        "prompt_tokens": counts.get("input_tokens"),
        "completion_tokens": counts.get("output_tokens"),
        "prompt_tokens_details": counts.get("input_tokens_details"),
        "completion_tokens_details": counts.get("output_tokens_details"),
        "num_search_queries": searches,
    }


def _mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the mappings in a list; none if the value is no list."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def _message_in_error_body(text: str) -> str:
    """Return what the body of an error says, without its frame if that is a known one."""
    try:
        error = json.loads(text)["error"]
        if not isinstance(error, dict):
            return str(error)
        if error.get("code"):
            return f"{error['message']} ({error['code']})"
        return str(error["message"])
    except (ValueError, KeyError, TypeError):
        return text
