"""Tool use before an answer: each step is a call like any other, with the results of the tools so far.

A request for tools is kept as the message that it is, in the form that OpenAI has for it and litellm for
every provider; so is what a tool says. What is asked therefore says all that was known, and an answer that is
in the record is never paid for again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.model import Ask, Call, CallError, Message, Prompt, Stage, Toolbox
from agents.text import break_role_tokens, tokens_of
from markets.hashes import canonical
from markets.millionths import ONE

Key = tuple[Stage, int, tuple[Message, ...]]
"""A conversation: its stage, its sample, and what was said."""
TOGETHER = 8
"""The most tools used in one step; further requests are refused."""
NOT_ANSWERED = CallError("other", "the model asked for tools once it had to answer", retry=False)
TOO_MANY = f"not used: at most {TOGETHER} tools at once"


def ask_with_tools(ask: Ask, box: Toolbox, steps: int, dollars: float | None, tokens: int) -> Ask:
    """Return `ask` with tools, for this many steps, within a limit of cost and of length.

    Then it must answer. A question that goes on from an earlier one knows its steps.
    """
    asked_before: dict[Key, tuple[Message, ...]] = {}

    async def asked(prompt: Prompt) -> Call:
        messages = _with_steps(prompt, asked_before)
        spent = 0
        step = 0

        while True:
            dear = dollars is not None and spent >= dollars * ONE
            last = step == steps or dear or tokens_of(messages) >= tokens
            question = replace(prompt, messages=messages, tools=box.forms, must_answer=last)
            call = await ask(question)
            requests = tool_requests(call.reply or "") if call.error is None else ()
            if last and requests:
                return replace(call, error=NOT_ANSWERED)
            if not requests:
                asked_before[_key(prompt, prompt.messages)] = messages
                return call

            step += 1
            cost = call.cost
            if cost is None:
                cost = call.worst or 0
            spent += cost
            told = [await _told(request, number, box) for number, request in enumerate(requests)]
            messages = (*messages, Message("assistant", call.reply or ""), *told)

    return asked


def _key(prompt: Prompt, messages: tuple[Message, ...]) -> Key:
    return prompt.stage, prompt.sample, messages


def _with_steps(prompt: Prompt, known: Mapping[Key, tuple[Message, ...]]) -> tuple[Message, ...]:
    """Return the messages of a question, with the steps taken before it was put again."""
    for end in range(len(prompt.messages), 0, -1):
        before = known.get(_key(prompt, prompt.messages[:end]))
        if before is not None:
            return before + prompt.messages[end:]
    return prompt.messages


async def _told(request: Mapping[str, Any], number: int, box: Toolbox) -> Message:
    """Return a tool's result of a request."""
    use = request["function"]
    text = TOO_MANY if number >= TOGETHER else await box.use(use["name"], use["arguments"])
    return Message("tool", canonical({"tool_call_id": request["id"], "content": text}))


def tool_requests(reply: str) -> tuple[Mapping[str, Any], ...]:
    """Return the tools that a reply requests; an empty result if it is an answer."""
    if '"tool_calls"' not in reply:
        return ()

    try:
        asked = tuple(json.loads(reply)["tool_calls"])
        are_requests = all(map(_is_request, asked))
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()

    if not are_requests:
        return ()
    return asked


def _is_request(value: Any) -> bool:
    use = value["function"]
    return set(map(type, (value["id"], use["name"], use["arguments"]))) == {str}


def step_message(message: Message) -> dict[str, Any] | None:
    """Return a message of a step in the provider's form; None for an ordinary message.

    Several providers, and litellm for them, know arguments as objects only: what is none goes inside one.
    """
    if message.role == "tool":
        told = json.loads(message.content)
        return {"role": "tool", **told, "content": break_role_tokens(told["content"])}

    requests = tool_requests(message.content) if message.role == "assistant" else ()
    if not requests:
        return None

    calls = []
    for request in requests:
        use = request["function"]
        calls.append({**request, "function": {**use, "arguments": _as_object(use["arguments"])}})
    return {"role": "assistant", **json.loads(message.content), "tool_calls": calls}


def _as_object(arguments: str) -> str:
    """Return arguments as a JSON object."""
    try:
        is_object = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        is_object = False

    if not is_object:
        return canonical({"not_json": arguments})
    return arguments


def request_text(message: Any, prompt: Prompt) -> str:
    """Return a model's request for tools as a message in text form, with neutral ids.

    Nine letters and figures suit every provider. Gemini has signatures in its ids, which it wants back.
    """
    begun = sum(sent.role == "tool" for sent in prompt.messages)
    calls = [
        {
            "id": call.id if "__thought__" in call.id else f"call{begun + number:05}",
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments or "{}"},
        }
        for number, call in enumerate(message.tool_calls, 1)
    ]
    content: dict[str, Any] = {"content": message.content or "", "tool_calls": calls}
    thought = getattr(message, "thinking_blocks", None)
    if thought:
        content["thinking_blocks"] = list(map(dict, thought))

    return canonical(content)


def without_steps(calls: Sequence[Call]) -> list[Call]:
    """Return the calls without tool use: only answers, each to its question as first asked."""
    going_on = set[tuple[Message, ...]]()
    for messages in {call.prompt.messages for call in calls}:
        going_on.update(messages[:end] for end, message in enumerate(messages) if message.role == "tool")

    answers = []
    for call in calls:
        asked = tuple(message for message in call.prompt.messages if step_message(message) is None)
        plain = replace(call, prompt=replace(call.prompt, messages=asked))
        if call.error is not None or not tool_requests(call.reply or ""):
            answers.append(plain)
        elif (*call.prompt.messages, Message("assistant", call.reply or "")) not in going_on:
            answers.append(replace(plain, error=NOT_ANSWERED))

    return answers
