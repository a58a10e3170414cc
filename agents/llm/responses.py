"""OpenAI's Responses form, in which alone some models answer: one question, and its answer as a stream."""

import json
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import httpx

from agents.llm.addresses import model_name
from agents.llm.answer import NO_END, StreamBroken, WireAnswer
from agents.llm.patience import patience
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
    """A server's own words for why there is no answer, its status and its headers."""

    def __init__(self, message: str, status_code: int, response: httpx.Response | None = None):
        super().__init__(message)
        self.status_code = status_code
        self.response = response


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def response_body(prompt: Prompt, settings: ModelSettings, rung: Rung) -> dict[str, Any]:
    """What is sent. What isn't set isn't sent; a seed can't be."""
    extra = dict(settings.extra)
    inner = extra.pop("extra_body", None)
    body: dict[str, Any] = {"store": False}
    if (search := extra.pop("web_search_options", None)) is not None:
        body["tools"] = [{"type": "web_search", **(search if isinstance(search, dict) else {})}]
    if settings.reasoning is not None:
        body["reasoning"] = {"effort": settings.reasoning}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if rung == "schema":
        schema = answer_schema(prompt.bets)
        body["text"] = {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}}
    elif rung == "json":
        body["text"] = {"format": {"type": "json_object"}}
    body |= extra | (inner if isinstance(inner, dict) else {})
    if prompt.tools:
        forms = [{"name": x.name, "description": x.about, "parameters": x.parameters} for x in prompt.tools]
        body["tools"] = [{"type": "function", "strict": False, **form} for form in forms]
        body["tool_choice"] = "none" if prompt.must_answer else "auto"
    most = prompt.max_tokens or settings.max_tokens
    return body | {
        "model": model_name(settings),
        "input": [item for message in prompt.messages for item in _items(message)],
        settings.max_tokens_key or "max_output_tokens": max(most, LEAST_TOKENS),
        "stream": True,
    }


def _items(message: Message) -> list[dict[str, Any]]:
    """A message in the Responses form, which has an item of its own for each use of a tool."""
    if (step := step_message(message)) is None:
        return [{"role": message.role, "content": message.content}]
    if message.role == "tool":
        said = {"call_id": step["tool_call_id"], "output": step["content"]}
        return [{"type": "function_call_output", **said}]
    words = [{"role": "assistant", "content": step["content"]}] if step["content"] else []
    uses = step["tool_calls"]
    return [*words, *({"type": "function_call", "call_id": each["id"], **each["function"]} for each in uses)]


async def ask_response(
    url: str, key: str | None, body: Mapping[str, Any], longest: float, idle: float, prompt: Prompt
) -> WireAnswer:
    """The answer to a question. What breaks off after its beginning is StreamBroken."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    said: dict[str, list[str]] = {"text": [], "thinking": []}
    try:
        async with (
            patience(longest, idle) as heard,
            httpx.AsyncClient(timeout=httpx.Timeout(None, connect=30.0), verify=_tls()) as client,
            client.stream("POST", url, headers=headers, json=dict(body)) as response,
        ):
            if response.status_code != 200:
                await response.aread()
                raise ResponseRefused(_error_words(response.text), response.status_code, response)
            async for event in _events(response, heard):
                if (whole := _heard(event, said)) is not None:
                    return response_answer(whole, prompt, "".join(said["thinking"]))
        raise ResponseRefused(NO_END, 200)
    except (httpx.HTTPError, TimeoutError, ResponseRefused) as error:
        if not any(said.values()):
            raise
        partial = WireAnswer("".join(said["text"]), finish="cut", thinking="".join(said["thinking"]))
        raise StreamBroken(error, partial) from error


async def _events(response: httpx.Response, heard: Callable[[], None]) -> AsyncIterator[dict[str, Any]]:
    """The events of a stream; a server that doesn't stream sends the whole, which is as good as the last."""
    if "event-stream" not in response.headers.get("content-type", ""):
        whole = json.loads(await response.aread())
        yield {"type": "response.completed", "response": whole}
        return
    async for line in response.aiter_lines():
        heard()
        if line.startswith("data:") and line[5:].strip() not in ("", "[DONE]"):
            event = json.loads(line[5:])
            if isinstance(event, dict):
                yield event


def _heard(event: Mapping[str, Any], said: dict[str, list[str]]) -> Mapping[str, Any] | None:
    """What an event adds; with the last one the whole response."""
    kind, delta = str(event.get("type")), event.get("delta")
    if isinstance(delta, str):
        if kind == "response.output_text.delta":
            said["text"].append(delta)
        elif kind.startswith("response.reasoning"):
            said["thinking"].append(delta)
    if kind in ("response.failed", "error"):
        error = (event.get("response") or {}).get("error") or event.get("error") or event
        code = as_text(error.get("code")) or "server_error"
        raise ResponseRefused(f"{code}: {error.get('message')}", _STATUS.get(code, 400))
    if kind in ("response.completed", "response.incomplete"):
        whole = event.get("response")
        return whole if isinstance(whole, Mapping) else {}
    return None


def response_answer(whole: Mapping[str, Any], prompt: Prompt, thinking: str = "") -> WireAnswer:
    """A whole response, read: its last message is the answer, or the tools that it asks for."""
    uses = list[SimpleNamespace]()
    reply, refusals, sources, searches = "", list[str](), list[str](), 0
    for item in _mappings(whole.get("output")):
        kind = item.get("type")
        searches += kind == "web_search_call"
        if kind == "function_call" and prompt.tools:
            use = SimpleNamespace(name=as_text(item.get("name")), arguments=as_text(item.get("arguments")))
            uses.append(SimpleNamespace(id="", function=use))
        elif kind == "function_call":
            reply = "\n".join(filter(None, (reply, as_text(item.get("arguments")))))
        elif kind == "reasoning" and not thinking:
            thinking = "\n".join(as_text(part.get("text")) for part in _mappings(item.get("summary")))
        elif kind == "message":
            parts = list(_mappings(item.get("content")))
            reply = "".join(as_text(part.get("text")) for part in parts)
            refusals += [as_text(part.get("refusal")) for part in parts if part.get("type") == "refusal"]
            notes = (note for part in parts for note in _mappings(part.get("annotations")))
            sources += [as_text(note.get("url")) for note in notes if note.get("type") == "url_citation"]
    if uses:
        reply = request_text(SimpleNamespace(content=reply, tool_calls=uses), prompt)
    told = SimpleNamespace(usage=_usage(whole, searches), service_tier=whole.get("service_tier"))
    reason = as_text((whole.get("incomplete_details") or {}).get("reason"))
    return WireAnswer(
        reply,
        "".join(refusals) if refusals else None,
        _CUT.get(reason, reason or "stop") if whole.get("output") or reason else "none",
        as_text(whole.get("model")),
        thinking=thinking,
        citations=tuple(dict.fromkeys(filter(None, sources))),
        usage=read_usage(told),
    )


def _usage(whole: Mapping[str, Any], searches: int) -> dict[str, Any]:
    """The count of tokens by the names that a chat has for them."""
    usage = whole.get("usage")
    told = whole_usage(usage)
    named = {
        "prompt_tokens": told.get("input_tokens"),
        "completion_tokens": told.get("output_tokens"),
        "prompt_tokens_details": told.get("input_tokens_details"),
        "completion_tokens_details": told.get("output_tokens_details"),
        "num_search_queries": searches,
    }
    return {**told, **named}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _error_words(text: str) -> str:
    """What an error's body says, without its frame where that is known."""
    try:
        error = json.loads(text)["error"]
        told = error["message"] if isinstance(error, dict) else error
        return f"{told} ({error['code']})" if isinstance(error, dict) and error.get("code") else str(told)
    except (ValueError, KeyError, TypeError):
        return text
