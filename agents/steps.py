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
    messages_by_conversation: dict[Key, tuple[Message, ...]] = {}

    async def ask_in_steps(prompt: Prompt) -> Call:
        messages = _with_earlier_steps(prompt, messages_by_conversation)
        spent = 0
        step = 0

        while True:
            is_too_expensive = dollars is not None and spent >= dollars * ONE
            must_answer = step == steps or is_too_expensive or tokens_of(messages) >= tokens
            question = replace(prompt, messages=messages, tools=box.forms, must_answer=must_answer)
            call = await ask(question)
            requests = tool_requests(call.reply or "") if call.error is None else ()
            if must_answer and requests:
                return replace(call, error=NOT_ANSWERED)
            if not requests:
                messages_by_conversation[_conversation_key(prompt, prompt.messages)] = messages
                return call

            step += 1
            cost = call.cost
            if cost is None:
                cost = call.worst or 0
            spent += cost

            results = [await _tool_message(request, number, box) for number, request in enumerate(requests)]
            messages = (*messages, Message("assistant", call.reply or ""), *results)

    return ask_in_steps


def _conversation_key(prompt: Prompt, messages: tuple[Message, ...]) -> Key:
    return prompt.stage, prompt.sample, messages


def _with_earlier_steps(
    prompt: Prompt, messages_by_conversation: Mapping[Key, tuple[Message, ...]]
) -> tuple[Message, ...]:
    """Return the messages of a question, with the steps taken before it was put again."""
    for end in range(len(prompt.messages), 0, -1):
        earlier_messages = messages_by_conversation.get(_conversation_key(prompt, prompt.messages[:end]))
        if earlier_messages is not None:
            return earlier_messages + prompt.messages[end:]
    return prompt.messages


async def _tool_message(request: Mapping[str, Any], index: int, box: Toolbox) -> Message:
    """Return a tool's result of a request."""
    function = request["function"]
    text = TOO_MANY if index >= TOGETHER else await box.use(function["name"], function["arguments"])
    return Message("tool", canonical({"tool_call_id": request["id"], "content": text}))


def tool_requests(reply: str) -> tuple[Mapping[str, Any], ...]:
    """Return the tools that a reply requests; an empty result if it is an answer."""
    if '"tool_calls"' not in reply:
        return ()

    try:
        requests = tuple(json.loads(reply)["tool_calls"])
        are_requests = all(map(_is_request, requests))
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()

    if not are_requests:
        return ()
    return requests


def _is_request(value: Any) -> bool:
    function = value["function"]
    return set(map(type, (value["id"], function["name"], function["arguments"]))) == {str}


def step_message(message: Message) -> dict[str, Any] | None:
    """Return a message of a step in the provider's form; None for an ordinary message.

    Several providers, and litellm for them, know arguments as objects only: what is none goes inside one.
    """
    if message.role == "tool":
        result = json.loads(message.content)
        return {"role": "tool", **result, "content": break_role_tokens(result["content"])}

    requests = tool_requests(message.content) if message.role == "assistant" else ()
    if not requests:
        return None

    calls = []
    for request in requests:
        function = request["function"]
        calls.append(
            {**request, "function": {**function, "arguments": _as_json_object(function["arguments"])}}
        )
    return {"role": "assistant", **json.loads(message.content), "tool_calls": calls}


def _as_json_object(arguments: str) -> str:
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
    results_so_far = sum(sent.role == "tool" for sent in prompt.messages)
    calls = [
        {
            "id": call.id if "__thought__" in call.id else f"call{results_so_far + number:05}",
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
    """Return the calls without tool use: only answers, each to its question as first asked.

    A request for tools after which nothing was asked counts as an answer that failed.
    """
    continued = set[tuple[Message, ...]]()  # conversations that went on with a tool's result
    for messages in {call.prompt.messages for call in calls}:
        for end, message in enumerate(messages):
            if message.role == "tool":
                continued.add(messages[:end])

    answers = []
    for call in calls:
        reply = call.reply or ""
        question = tuple(message for message in call.prompt.messages if step_message(message) is None)
        as_asked = replace(call, prompt=replace(call.prompt, messages=question))
        if call.error is not None or not tool_requests(reply):
            answers.append(as_asked)
        elif (*call.prompt.messages, Message("assistant", reply)) not in continued:
            answers.append(replace(as_asked, error=NOT_ANSWERED))

    return answers
