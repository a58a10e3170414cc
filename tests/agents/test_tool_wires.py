"""A model that looks things up, over every provider's own wire: what it asks for, and what it is told."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import JsonValue

from agents.llm import close, make_ask
from agents.model import Call, Message, ModelSettings, Prompt, Toolbox, ToolForm
from agents.steps import ask_with_tools, without_steps
from arena.clock import timer
from tests.provider.model_answer import ModelAnswer
from tests.provider.wire_server import MODELS, WireRequest, WireServer, wires

PROMPT = Prompt((Message("system", "Answer as JSON."), Message("user", "Rain?")), seed=5)
WORDS: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
}
FORMS = (
    ToolForm("search", "Searches the news.", WORDS),
    ToolForm("notes", "Tells notes.", {"type": "object"}),
)
RAIN, SNOW = json.dumps({"query": "rain"}), json.dumps({"query": "snow"})
TWO = ModelAnswer(text="I look it up.", uses=(("search", RAIN), ("notes", "{}")))
WIRES = list(MODELS)
NO_TEXT_ARGUMENTS = ("gemini", "ollama")
"""Wires on which arguments are objects, and can't be anything but JSON."""


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with wires() as running:
        yield running


def conversation(
    server: WireServer, wire: str, *says: ModelAnswer, steps: int = 9, **settings: Any
) -> tuple[Call, list[tuple[str, str]], list[WireRequest]]:
    """The last call of a question, what tools were used for, and what was sent."""
    mode, used, before = f"tools-{wire}-{len(server.log)}", list[tuple[str, str]](), len(server.log)
    server.script(mode, *says)
    found = server.settings(wire, mode, api_key_env="KEY") | settings

    async def use(name: str, arguments: str) -> str:
        used.append((name, arguments))
        return f"{name} tells {len(used)}"

    async def go() -> Call:
        ask = make_ask(ModelSettings(**found), timer, {"KEY": "sk-a-canary-of-sixteen"})
        try:
            return await ask_with_tools(ask, Toolbox(FORMS, use), steps, None, 100_000)(PROMPT)
        finally:
            await close()

    return asyncio.run(go()), used, server.log[before:]


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_uses_several_tools_at_once_then_another_and_answers(server: WireServer, wire: str) -> None:
    third = ModelAnswer(text="", uses=(("search", SNOW),))
    last, used, log = conversation(server, wire, TWO, third, ModelAnswer("{}"))
    assert (last.error, last.reply) == (None, "{}")
    plain = [(name, json.loads(given)) for name, given in used]
    assert plain == [("search", {"query": "rain"}), ("notes", {}), ("search", {"query": "snow"})]
    assert [asked.status for asked in log] == [200, 200, 200]
    sent = json.dumps(log[-1].body)
    assert all(f"{name} tells {n}" in sent for n, (name, _) in enumerate(used, 1))
    assert "I look it up." in sent
    assert "Searches the news." in sent
    assert [message.role for message in last.prompt.messages] == [
        "system", "user", "assistant", "tool", "tool", "assistant", "tool",
    ]  # fmt: skip
    assert [x.prompt.messages for x in without_steps([last])] == [PROMPT.messages]


@pytest.mark.parametrize("wire", ["anthropic", "gemini", "responses"])
def test_what_it_thought_before_a_tool_goes_back_as_it_was_signed(server: WireServer, wire: str) -> None:
    thinks = ModelAnswer(
        text="", thinking="Let me see.", thought=50, uses=(("search", RAIN), ("search", SNOW))
    )
    last, used, log = conversation(server, wire, thinks, ModelAnswer("{}"), reasoning="high")
    assert (last.error, last.reply, len(used), len(log)) == (None, "{}", 2, 2)


@pytest.mark.parametrize("wire", WIRES)
def test_a_tool_that_there_is_not_is_for_the_toolbox_to_refuse(server: WireServer, wire: str) -> None:
    last, used, _ = conversation(
        server, wire, ModelAnswer(text="", uses=(("browse", "{}"),)), ModelAnswer("{}")
    )
    assert (last.error, [name for name, _ in used]) == (None, ["browse"])


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire not in NO_TEXT_ARGUMENTS])
def test_arguments_that_are_no_json_are_handed_on_and_answered(server: WireServer, wire: str) -> None:
    odd = ('{"query": "rai', "[" * 100_000, "5")
    torn = ModelAnswer(text="", uses=tuple(("search", each) for each in odd))
    last, used, log = conversation(server, wire, torn, ModelAnswer("{}"))
    assert (last.error, last.reply, len(log)) == (None, "{}", 2)
    assert used == [("search", each) for each in odd]
    assert "not_json" in json.dumps(log[-1].body), "some providers know objects only"


@pytest.mark.parametrize("wire", WIRES)
def test_after_its_last_step_it_must_answer(server: WireServer, wire: str) -> None:
    last, used, log = conversation(server, wire, TWO, TWO, steps=1)
    assert last.error is not None
    assert (last.error.message, len(used), len(log)) == (
        "the model asked for tools once it had to answer",
        2,
        2,
    )
    closed: dict[str, dict[str, Any]] = {
        "anthropic": {"tool_choice": {"type": "none"}},
        "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
        "ollama": {},
    }
    assert log[-1].body.items() >= closed.get(wire, {"tool_choice": "none"}).items()
